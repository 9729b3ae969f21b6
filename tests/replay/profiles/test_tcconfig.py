"""Profiles from and to the JSON of tcconfig."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pathscope.replay.profiles import tcconfig
from pathscope.replay.profiles.profile import parse
from pathscope.replay.profiles.schedule import schedule

S = 10**9

SHOWN = {
    "eth0": {
        "outgoing": {
            "dst-network=192.168.0.10/32, dst-port=8080, protocol=ip": {
                "filter_id": "800::800",
                "delay": "10.0ms",
                "delay-distro": "2.0ms",
                "loss": "0.01%",
                "rate": "250Kbps",
            }
        },
        "incoming": {
            "protocol=ip": {"filter_id": "800::800", "delay": "1.0ms", "rate": "1Mbps"},
            "dst-port=1": {"delay": "2s"},
        },
    }
}
"""As `tcshow` prints it."""


def test_what_tcshow_prints_is_a_profile() -> None:
    document, warnings = tcconfig.read(json.dumps(SHOWN))
    assert document["paths"]["eth0"] == {
        "to_server": {
            "delay_ms": 10,
            "jitter_ms": 2,
            "distribution": "normal",
            "loss_percent": 0.01,
            "rate_kbit": 250,
        },
        "to_client": {"delay_ms": 1, "rate_kbit": 1000},
    }
    rule = "dst-network=192.168.0.10/32, dst-port=8080, protocol=ip"
    assert warnings == [
        f"eth0 outgoing: the rule of {rule!r} is taken for all packets",
        "eth0 incoming: the rule 'dst-port=1' is left out: a path has one",
    ]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("nonsense", "Expecting value"),
        ("[]", "the file: expected an object"),
        ('{"eth0": {"out": {}}}', "eth0: expected outgoing or incoming, found 'out'"),
        ('{"eth0": {"outgoing": {"": {"delay": "5 apples"}}}}', "eth0 outgoing: delay: expected"),
        ('{"eth0": {"outgoing": {"": {"loss": "5"}}}}', "eth0 outgoing: loss: expected a share"),
        ('{"eth0": {"outgoing": {"": {"rate": "fast"}}}}', "eth0 outgoing: rate: expected a numb"),
    ],
)
def test_mistakes(found: str, expected: str) -> None:
    with pytest.raises(tcconfig.TcconfigError, match=expected):
        tcconfig.read(found)


def test_what_it_does_not_know_is_said() -> None:
    rule = {"protocol=ip": {"delay": "1ms", "mtu": 1500}}
    _, warnings = tcconfig.read(json.dumps({"eth0": {"outgoing": rule}}))
    assert warnings == ["eth0 outgoing: mtu = 1500 is left out: no impairment has it"]


def test_there_and_back() -> None:
    table: dict[str, Any] = {
        "both": {
            "delay_ms": 20.5,
            "jitter_ms": 3,
            "distribution": "pareto",
            "loss_percent": 1.25,
            "duplicate_percent": 0.5,
            "reorder_percent": 2,
            "corrupt_percent": 0.1,
            "rate_kbit": 1500,
        },
        "to_client": {"queue_packets": 50},
    }
    profile = parse({"paths": {"wlan": table, "lte": {"both": {"loss_percent": 3}}}})
    text, warnings = tcconfig.write(profile, ["wlan", "lte"])
    assert not warnings
    assert json.loads(text)["wlan"]["outgoing"]["protocol=ip"]["delay-distribution"] == "pareto"
    document, warnings = tcconfig.read(text)
    assert not warnings
    paths = ["wlan", "lte"]
    assert schedule(parse(document), paths, S) == schedule(profile, paths, S)


def test_what_it_cannot_hold_is_said() -> None:
    both = {"delay_ms": 9, "jitter_ms": 1, "loss_percent": 5, "loss_burst_packets": 3}
    _, warnings = tcconfig.write(parse({"paths": {"wlan": {"to_server": both}}}), ["wlan"])
    assert warnings == [
        "wlan to_server: tcset has no distribution uniform, it takes normal",
        "wlan to_server: loss_burst_packets = 3 is left out: tcconfig has no such setting",
    ]
    steps = {"steps": [{"at_s": 1, "loss_percent": 5}]}
    with pytest.raises(tcconfig.TcconfigError, match="wlan changes over time"):
        tcconfig.write(parse({"paths": {"wlan": steps}}), ["wlan"])
