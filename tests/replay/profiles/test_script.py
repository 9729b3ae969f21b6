"""Profiles from and to scripts of tc and sleep."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab import netem
from pathscope.replay.profiles import script
from pathscope.replay.profiles.profile import Profile, parse
from pathscope.replay.profiles.schedule import Step, schedule

S = 10**9

SCRIPT = """\
#!/bin/sh
set -e
sudo tc qdisc add dev eth0 root handle 1: netem delay 10ms 2ms 25% distribution normal \\
    corrupt 1% rate 1mbit
sleep 2.5   # a while
/sbin/tc qdisc change dev eth0 root netem delay 20ms loss gemodel 1% 20%
sleep 1m; tc qdisc del dev eth0 root
ip link set dev eth0 mtu 1400
tc qdisc add dev eth1 root tbf rate 1mbit
tc class add dev eth0 parent 1: classid 1:1 htb
"""


def test_a_script_is_a_profile() -> None:
    document, warnings = script.read(SCRIPT, "to_server")
    table = document["paths"]["eth0"]
    assert table["to_server"] == {
        "delay_ms": 10,
        "jitter_ms": 2,
        "distribution": "normal",
        "corrupt_percent": 1,
        "rate_kbit": 1000,
    }
    changed, removed = table["steps"]
    assert (changed["at_s"], removed["at_s"]) == (2.5, 62.5)
    # The kernel keeps rate and corruption that a change does not name.
    assert changed.keys() == {
        "at_s",
        "direction",
        "delay_ms",
        "jitter_ms",
        "distribution",
        "loss_percent",
        "loss_burst_packets",
    }
    assert changed["loss_percent"] == pytest.approx(100 / 21)
    assert changed["loss_burst_packets"] == 5
    assert removed == {"at_s": 62.5, "direction": "to_server", "reset": True}
    assert warnings == [
        "line 3: delay's correlation of 25% is left out",
        "line 7: 'ip link set dev eth0 mtu 1400' is left out",
        "line 8: a qdisc other than netem is left out",
        "line 9: only netem at a device's root is read",
    ]
    parse(document)


def test_an_endless_loop_starts_over() -> None:
    text = "while true; do\ntc qdisc replace dev a root netem delay 5ms\nsleep 1\n"
    text += "tc qdisc replace dev a root netem delay 9ms\nsleep 0.5 0.5\ndone\necho never\n"
    document, warnings = script.read(text, "both")
    assert not warnings
    assert document["repeat_s"] == 2
    assert document["paths"]["a"] == {
        "both": {"delay_ms": 5},
        "steps": [{"at_s": 1, "delay_ms": 9}],
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("tc qdisc add dev a root netem dealy 5ms", "line 1: netem has no argument 'dealy'"),
        ("tc qdisc add dev a root netem delay", "line 1: delay: its value is missing"),
        ("tc qdisc add dev a root netem delay 5", "line 1: delay: expected a time such as 10ms"),
        ("tc qdisc add dev a root netem loss 5", "line 1: loss: expected a share such as 1%"),
        ("tc qdisc add dev a root netem limit x", "line 1: limit: expected a whole number"),
        ("tc qdisc add dev a root netem loss state 1%", "line 1: loss: the model of four states"),
        ("\nsleep soon", "line 2: expected sleep and a number of seconds, found 'soon'"),
        ("tc qdisc add dev 'a root netem", "line 1: No closing quotation"),
        ("tc qdisc add root netem dev", "line 1: dev: its name is missing"),
    ],
)
def test_mistakes(line: str, expected: str) -> None:
    with pytest.raises(script.ScriptError) as told:
        script.read(line, "to_server")
    assert str(told.value).startswith(expected)


def same(one: list[Step], other: list[Step], direction: str) -> bool:
    def told(steps: list[Step]) -> list[tuple[int, str, tuple[str, ...]]]:
        return [
            (step.at_ns, step.path, netem.arguments(step.impairment))
            for step in steps
            if step.direction == direction
        ]

    return told(one) == told(other)


CHANGING: dict[str, Any] = {
    "repeat_s": 9,
    "paths": {
        "wlan": {
            "both": {"delay_ms": 20, "rate_kbit": 5000, "corrupt_percent": 0.5},
            "steps": [
                {"at_s": 1, "reset": True, "loss_percent": 100},
                {"at_s": 2.25, "loss_percent": 2, "loss_burst_packets": 4, "keep_order": True},
                {"at_s": 3, "slot_min_ms": 2, "slot_max_ms": 3, "slot_packets": 9},
                {"at_s": 4, "delay_ms": 9, "reorder_percent": 5, "reorder_gap": 3},
            ],
            "ramps": [
                {
                    "key": "duplicate_percent",
                    "from_s": 5,
                    "to_s": 7,
                    "start": 0,
                    "end": 5,
                    "every_ms": 300,
                }
            ],
        },
        "lte": {"both": {"delay_ms": 40, "jitter_ms": 4, "distribution": "normal"}},
    },
}


@pytest.mark.parametrize("repeated", [True, False])
def test_there_and_back(repeated: bool) -> None:
    document = CHANGING if repeated else {"paths": CHANGING["paths"]}
    profile, paths = parse(document), ["wlan", "lte"]
    text, warnings = script.write(profile, paths, "to_client", 9 * S)
    assert warnings == ["a script impairs what leaves by a device: only to_client is in it"]
    found, warnings = script.read(text, "to_client")
    assert not warnings
    back = parse(found)
    assert back.repeat_ns == profile.repeat_ns
    assert same(schedule(back, paths, 9 * S), schedule(profile, paths, 9 * S), "to_client")


def run(profile: Profile, folder: Path, duration_ns: int) -> list[str]:
    """What a shell makes of the script, with a tc and a sleep that only say what they are told."""
    text, _ = script.write(profile, list(profile.paths), "to_server", duration_ns)
    said = folder / "said"
    for name, then in (("tc", ""), ("sleep", '[ "$1" != infinity ]')):
        tool = folder / name
        tool.write_text(f'#!/bin/sh\necho {name} "$@" >>{said}\n{then}\n')
        tool.chmod(0o755)
    subprocess.run(["sh", "-c", text], env={"PATH": f"{folder}:/bin:/usr/bin"}, check=False)
    return said.read_text().splitlines()


def test_a_shell_runs_it_and_what_it_did_is_removed(tmp_path: Path) -> None:
    table = {"both": {"delay_ms": 20}, "steps": [{"at_s": 1.5, "delay_ms": 30}]}
    said = run(parse({"paths": {"wlan": table}}), tmp_path, 3 * S)
    assert [line.split()[:2] for line in said] == [
        ["tc", "qdisc"],
        ["sleep", "1.5"],
        ["tc", "qdisc"],
        ["sleep", "infinity"],
        ["tc", "qdisc"],
    ]
    assert said[-1] == "tc qdisc del dev wlan root"


def test_a_hostile_name_stays_a_name(tmp_path: Path) -> None:
    name = "x; touch owned"
    said = run(parse({"paths": {name: {"both": {"delay_ms": 20}}}}), tmp_path, S)
    assert said[0].startswith(f"tc qdisc replace dev {name} root netem")
    assert not Path("owned").exists()


def test_what_it_cannot_do_is_said() -> None:
    document = {
        "distributions": {"flat": [-1.732, 1.732]},
        "paths": {
            "wlan": {
                "to_server": {"delay_ms": 9, "jitter_ms": 1, "distribution": "flat"},
                "random": [{"key": "loss_percent", "low": 1, "high": 2, "every_ms": 100}],
            }
        },
    }
    text, warnings = script.write(parse(document), ["wlan"], "to_server", S)
    assert "distribution normal" in text
    assert warnings == [
        "a script impairs what leaves by a device: only to_server is in it",
        "the table flat is not in it: normal stands in",
        "random values are written as they were drawn",
    ]
