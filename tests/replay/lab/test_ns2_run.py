"""Runs of the real ns-2: the run folder, what is refused, and that nothing is left."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from copy import deepcopy
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab import folder
from pathscope.replay.lab import run as lab
from pathscope.replay.lab.ns2 import run as module
from pathscope.replay.lab.ns2.run import Ns2Error, run, versions
from pathscope.replay.lab.ns2.scenario import schema
from pathscope.replay.lab.ns2.tcl import RETRANSMIT_ON, SCTP, TCP
from pathscope.replay.lab.scenario import load, parse
from running import ROOT

MANUAL = ROOT / "docs" / "lab-ns2.md"

SMALL: dict[str, Any] = {
    "engine": "ns2",
    "duration_s": 5,
    "nodes": ["a", "b"],
    "links": [{"from": "a", "to": "b", "rate_kbit": 1000, "delay_ms": 10}],
    "flows": [
        {
            "name": "rate",
            "protocol": "udp",
            "application": "cbr",
            "from": "a",
            "to": "b",
            "packet_bytes": 1250,
            "rate_kbit": 500,
            "stop_s": 4.89,
        }
    ],
}
"""A packet every 20 ms: 245 of them."""

LONG: dict[str, Any] = SMALL | {"duration_s": 86400}
LONG["flows"] = [{key: value for key, value in SMALL["flows"][0].items() if key != "stop_s"}]

MULTIHOMED: dict[str, Any] = {
    "engine": "ns2",
    "duration_s": 20,
    "nodes": ["a", "a-1", "a-2", "b", "b-1", "b-2"],
    "multihomed": {"a": ["a-1", "a-2"], "b": ["b-1", "b-2"]},
    "links": [
        {"from": f"a-{path}", "to": f"b-{path}", "rate_kbit": 1000, "delay_ms": 20}
        for path in (1, 2)
    ],
    "flows": [
        {
            "name": "file",
            "protocol": "sctp",
            "application": "ftp",
            "from": "a",
            "to": "b",
            "primary": "b-1",
            "sctp": {
                "path_max_retrans": 1,
                "change_primary_errors": 1000,
                "rto_max_ms": 1000,
                "hb_interval_ms": 1000,
            },
        }
    ],
}


def traced(document: dict[str, Any], place: Path, **options: Any) -> Path:
    """Run a document in a new folder; the trace's path."""
    (place / "logs").mkdir(parents=True)
    return run(parse(document), place, **options)


def simulated(document: dict[str, Any], place: Path) -> list[list[str]]:
    """Run a document in a folder and return its trace's lines, split."""
    trace = traced(document, place / "run", limit_s=60)
    return [line.split() for line in trace.read_text().splitlines()]


def events(lines: list[list[str]], event: str) -> list[list[str]]:
    return [line for line in lines if line[0] == event]


def with_link(**settings: Any) -> dict[str, Any]:
    document = deepcopy(SMALL)
    document["links"][0] |= settings
    return document


def test_a_run_folder_has_all_that_made_the_run(tmp_path: Path) -> None:
    place = tmp_path / "runs" / "1"
    scenario = parse(SMALL, "small")
    assert lab.choose("auto", scenario["engine"]) == "ns2"
    lab.run(scenario, place, "ns2")
    assert sorted(path.name for path in place.iterdir()) == [
        "events.jsonl",
        "logs",
        "nodes.json",
        "run.json",
        "scenario.json",
        "script.tcl",
        "trace.tr",
    ]
    made = json.loads((place / "scenario.json").read_text())
    assert made == scenario.document()
    assert json.loads((place / "nodes.json").read_text()) == {"a": 0, "b": 1}
    told = json.loads((place / "run.json").read_text())
    assert (told["state"], told["runner"]) == ("complete", "ns2")
    assert told["captures"] == {"trace": "trace.tr"}
    assert told["versions"]["ns2"] == "2.35"
    assert (place / "logs" / "ns2.log").read_text() == ""


def test_a_kernel_cannot_be_asked_for() -> None:
    with pytest.raises(lab.LabError, match=r"--kernel guest: .* needs no kernel"):
        lab.choose("guest", "ns2")


def test_a_failure_is_that_of_the_run(tmp_path: Path) -> None:
    document = with_link(duplex=False)
    document["flows"][0] |= {"from": "b", "to": "a"}
    with pytest.raises(lab.LabError, match="no target for slot"):
        lab.run(parse(document), tmp_path / "run", "ns2")
    assert folder.state(tmp_path / "run") == "failed"


def test_every_packet_is_in_the_trace(tmp_path: Path) -> None:
    lines = simulated(SMALL, tmp_path)
    assert [len(events(lines, event)) for event in "+-rd"] == [245, 245, 245, 0]
    assert " ".join(lines[0]) == "+ 0 0 1 cbr 1250 ------- 0 0.0 1.0 0 0"
    # 1250 bytes at 1 Mbit/s take 10 ms, and 10 ms more on their way.
    assert float(events(lines, "r")[0][1]) == pytest.approx(0.02)


def test_runs_are_the_same_every_time_and_differ_by_seed(tmp_path: Path) -> None:
    lossy = with_link(loss_percent=10)
    one, other = (simulated(lossy, tmp_path / name) for name in ("1", "2"))
    assert one == other
    seeded = simulated(lossy | {"seed": 7}, tmp_path / "3")
    assert events(seeded, "d") != events(one, "d")
    for lines in (one, seeded):
        assert len(events(lines, "r")) + len(events(lines, "d")) == 245
        assert 10 <= len(events(lines, "d")) <= 40


def test_the_packets_named_are_lost(tmp_path: Path) -> None:
    lines = simulated(with_link(lost_packets=[7, 0, 244]), tmp_path)
    assert [int(line[10]) for line in events(lines, "d")] == [0, 7, 244]


@pytest.mark.parametrize("queue", ["DropTail", "RED", "FQ", "SFQ", "DRR"])
def test_queues(tmp_path: Path, queue: str) -> None:
    """Every queue of the schema is one of ns-2's; one that is too short drops."""
    document = with_link(queue=queue, rate_kbit=250, queue_packets=5)
    document["flows"][0]["flow_id"] = 1
    lines = simulated(document, tmp_path)
    assert events(lines, "d")
    assert {line[7] for line in events(lines, "r")} == {"1"}


def test_a_simplex_link_has_one_direction(tmp_path: Path) -> None:
    document = with_link(duplex=False)
    assert len(events(simulated(document, tmp_path / "1"), "r")) == 245
    document["flows"][0] |= {"from": "b", "to": "a"}
    with pytest.raises(Ns2Error, match=r"failed with exit code 1:\n(.*\n)*.*no target for slot"):
        traced(document, tmp_path / "2")
    assert not (tmp_path / "2" / "trace.tr").exists()
    assert not (tmp_path / "2" / "trace.part").exists()


@pytest.mark.parametrize("variant", TCP)
def test_variants_of_tcp(tmp_path: Path, variant: str) -> None:
    document = deepcopy(SMALL)
    document["flows"][0] = {
        "name": "file",
        "protocol": "tcp",
        "application": "ftp",
        "from": "a",
        "to": "b",
        "tcp": {"variant": variant, "packet_bytes": 960, "window_packets": 4},
    }
    document["trace"] = {"tcp_header": True}
    lines = simulated(document, tmp_path)
    # ns-2's Vegas counts no headers.
    size = "960" if variant == "vegas" else "1000"
    assert len([line for line in events(lines, "r") if line[4:6] == ["tcp", size]]) > 300
    assert {len(line) for line in lines} == {16}, "of the header's columns, and the others"


def test_every_variable_is_one_of_ns2() -> None:
    """An unknown name would be set without a word and change nothing."""
    names = [("Agent/SCTP", variable) for variable in SCTP.values()]
    names += [("Agent/TCP", "packetSize_"), ("Agent/TCP", "window_"), ("Agent/UDP", "packetSize_")]
    names += [("Application/Traffic/CBR", f"{name}_") for name in ("packetSize", "rate", "random")]
    names += [("Agent", "fid_"), ("Trace", "show_sctphdr_"), ("Trace", "show_tcphdr_")]
    asked = "".join(f"puts [{agent} set {name}]\n" for agent, name in names)
    done = subprocess.run(["ns", "-"], input=asked, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_defaults_that_the_manual_names_are_those_of_ns2() -> None:
    definitions = schema()["$defs"]
    told = {
        ("Agent/SCTP", variable): definitions["sctp"]["properties"][name]["x-ns2"]
        for name, variable in SCTP.items()
        if name != "change_primary_errors"
    }
    told["Agent/SCTP", "rtxToAlt_"] = RETRANSMIT_ON[told["Agent/SCTP", "rtxToAlt_"]]
    told["Agent/SCTP", "unordered_"] = not told["Agent/SCTP", "unordered_"]
    tcp, flow = definitions["tcp"]["properties"], definitions["flow"]["properties"]
    told["Agent/TCP", "packetSize_"] = tcp["packet_bytes"]["x-ns2"]
    told["Agent/TCP", "window_"] = tcp["window_packets"]["x-ns2"]
    told["Application/Traffic/CBR", "packetSize_"] = flow["packet_bytes"]["x-ns2"]
    told["Application/Traffic/CBR", "rate_"] = flow["rate_kbit"]["x-ns2"]
    told["Application/Traffic/CBR", "random_"] = flow["random"]["x-ns2"]
    told["Queue", "limit_"] = definitions["link"]["properties"]["queue_packets"]["x-ns2"]
    asked = "".join(f"puts [{agent} set {variable}]\n" for agent, variable in told)
    said = subprocess.run(["ns", "-"], input=asked, text=True, capture_output=True, check=True)
    for (_, variable), known, found in zip(told, told.values(), said.stdout.split(), strict=True):
        in_seconds = variable.endswith(("Rto_", "Interval_", "Delay_"))
        assert float(found.removesuffix("Kb")) * (1000 if in_seconds else 1) == known, variable


def test_a_multihomed_host_leaves_a_path_that_fails(tmp_path: Path) -> None:
    actions = [
        {"at_s": 5, "do": "link-down", "from": "a-1", "to": "b-1"},
        {"at_s": 12.5, "do": "link-up", "from": "b-1", "to": "a-1"},
    ]
    lines = simulated(MULTIHOMED | {"actions": actions}, tmp_path)
    sent, lost = (
        [(float(time), end) for _, time, start, end, *_ in events(lines, event) if start == "1"]
        for event in "+d"
    )
    arrived = [float(line[1]) for line in events(lines, "r") if line[2:4] == ["1", "4"]]
    assert not [time for time in arrived if 5 < time < 12.5]
    # What goes into the dead link is in the trace: sent, and lost.
    assert len([time for time, _ in sent if 5 < time < 12.4]) > 3
    assert {end for _, end in lost} == {"4"}
    data = [line for line in events(lines, "+") if line[2] in "12" and line[6].endswith("D")]
    moves = [(float(b[1]), b[2]) for a, b in pairwise(data) if a[2] != b[2]]
    # The first time-out (RTO: 1 s) retransmits elsewhere, where new data follows only when the
    # second has given the path up; a HEARTBEAT every second or so finds it again.
    assert [path for _, path in moves] == ["2", "1", "2", "1"]
    assert [time for time, _ in moves] == pytest.approx([6.0, 6.4, 7.05, 13.1], abs=0.05)
    assert (tmp_path / "run" / "events.jsonl").read_text().splitlines() == [
        '{"t": 5, "event": "link", "link": "n1-n4", "note": "down", "one_way": false}',
        '{"t": 12.5, "event": "link", "link": "n4-n1", "note": "up", "one_way": false}',
    ]


def test_a_link_fails_one_way_and_returns_with_the_loss_it_had(tmp_path: Path) -> None:
    document = with_link(loss_percent=10)
    document["actions"] = [
        {"at_s": 1, "do": "link-down", "from": "a", "to": "b", "one_way": True},
        {"at_s": 2, "do": "link-up", "from": "a", "to": "b", "one_way": True},
        {"at_s": 3, "do": "link-down", "from": "b", "to": "a", "one_way": True},
    ]
    lost = [float(line[1]) for line in events(simulated(document, tmp_path), "d")]
    assert len([time for time in lost if 1 < time < 2]) == pytest.approx(50, abs=1)
    assert 5 <= len([time for time in lost if time > 2]) <= 30


def test_sctp_takes_every_setting(tmp_path: Path) -> None:
    document = MULTIHOMED | {
        "sctp": {
            "mtu_bytes": 1000,
            "chunk_bytes": 500,
            "streams": 3,
            "receive_window_bytes": 20000,
            "initial_cwnd_mtus": 4,
            "initial_ssthresh_bytes": 10000,
            "rto_initial_ms": 500,
            "rto_min_ms": 200,
            "association_max_retrans": 20,
            "sack_delay_ms": 100,
            "delayed_sacks": False,
            "fast_retransmit_sacks": 4,
            "retransmit_on": "same",
            "ordered": True,
        }
    }
    lines = simulated(document, tmp_path)
    data = [line for line in events(lines, "+") if line[4] == "sctp" and line[6].endswith("D")]
    assert {line[5] for line in data} == {"532"}
    assert {line[13] for line in data} == {"0", "1", "2"}, "streams"


def test_one_end_may_have_one_address_and_a_file_may_stop(tmp_path: Path) -> None:
    document = deepcopy(MULTIHOMED)
    document["nodes"] += ["c"]
    document["links"] += [
        {"from": ["b-1", "b-2"], "to": "c", "rate_kbit": 1000, "delay_ms": 1},
    ]
    del document["flows"][0]["primary"], document["multihomed"]["b"]
    document["flows"][0] |= {"to": "c", "stop_s": 2}
    lines = simulated(document, tmp_path)
    times = [float(line[1]) for line in events(lines, "+") if line[6].endswith("D")]
    assert 1 < max(times) < 5


def test_without_ns2_the_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(lab.LabError, match="ns is not installed: apt-get install ns2"):
        lab.run(parse(SMALL), tmp_path / "run", "ns2")
    assert not (tmp_path / "run" / "trace.tr").exists()


def test_another_program_of_that_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "ns"
    other.write_text("#!/bin/sh\necho usage: ns FILE >&2\nexit 1\n")
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    with pytest.raises(Ns2Error, match="ns is not the simulator ns-2"):
        versions()


@pytest.mark.parametrize(
    ("script", "what"),
    [
        ("foo\n", 'exit code 1:\n(.*\n)*invalid command name "foo"'),
        ("exit 0\n", "ns-2 wrote no trace"),
        ("set t [open trace.part w]\nputs $t {r 1 0 1}\nexit 0\n", "the trace breaks off"),
        ("set t [open trace.part w]\nexit 0\n", "the trace breaks off"),
    ],
)
def test_a_run_that_is_not_complete_has_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, what: str
) -> None:
    monkeypatch.setattr(module, "script", lambda _: script)
    with pytest.raises(Ns2Error, match=what):
        traced(SMALL, tmp_path / "run")
    assert not list(tmp_path.glob("run/trace.*"))


def test_the_time_limit_ends_the_simulator(tmp_path: Path) -> None:
    with pytest.raises(Ns2Error, match=r"did not end within 0\.3 s"):
        traced(LONG, tmp_path / "run", limit_s=0.3)
    assert not list(tmp_path.glob("run/trace.*"))


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_the_simulator_ends_with_the_lab(tmp_path: Path, number: signal.Signals) -> None:
    program = (
        "import json, sys\n"
        "from pathlib import Path\n"
        "from pathscope.replay.lab.ns2.run import run\n"
        "from pathscope.replay.lab.scenario import parse\n"
        "run(parse(json.loads(sys.argv[1])), Path(sys.argv[2]))\n"
    )
    (tmp_path / "run" / "logs").mkdir(parents=True)
    command = [sys.executable, "-c", program, json.dumps(LONG), str(tmp_path / "run")]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as process:
        wait_until((tmp_path / "run" / "trace.part").exists)
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        assert len(children) == 1
        process.send_signal(number)
        process.wait(20)
    wait_until(lambda: ended(children[0]))
    assert not (tmp_path / "run" / "trace.tr").exists()
    shutil.rmtree(tmp_path)


def wait_until(true: Any) -> None:
    deadline = time.monotonic() + 20
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def ended(process: str) -> bool:
    """Whether a process is gone, or waits for its parent to notice that it is."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return True
    return state == "Z"


def test_the_example_of_the_manual_runs(tmp_path: Path) -> None:
    (example,) = re.findall(r"^```toml\n(.*?)^```$", MANUAL.read_text(), re.MULTILINE | re.DOTALL)
    (tmp_path / "example.toml").write_text(example)
    lab.run(load(tmp_path / "example.toml"), tmp_path / "run", "ns2")
    assert (tmp_path / "run" / "trace.tr").stat().st_size > 10_000
