"""Mappings as users write them."""

from __future__ import annotations

import pytest
from pathscope.replay.packets import mapping
from pathscope.replay.packets.orders import Mapping


def test_what_is_said_is_what_is_ordered() -> None:
    found = mapping.parse(
        ["10.0.1.0/24=10.9.1.0/24", "fd00::1=fd00::2"],
        ["5000=6000"],
        ["02:00:00:00:00:0A=02:00:00:00:00:0b"],
    )
    assert found.to_dict() == {
        "addresses": (("10.0.1.0/24", "10.9.1.0/24"), ("fd00::1", "fd00::2")),
        "ports": ((5000, 6000),),
        "macs": (("02:00:00:00:00:0a", "02:00:00:00:00:0b"),),
    }
    ends = mapping.parse(macs=["to_server=02:00:00:00:00:01,02:00:00:00:00:02"])
    assert ends.to_dict()["macs"] == {"to_server": ("02:00:00:00:00:01", "02:00:00:00:00:02")}
    assert mapping.parse() == Mapping()


@pytest.mark.parametrize(
    ("kind", "text", "told"),
    [
        ("addresses", "10.0.1.1", "expected ADDRESS=ADDRESS"),
        ("addresses", "10.0.1.1=fd00::1", "cannot become IPv6"),
        ("addresses", "10.0.1.0/24=10.9.0.0/16", "different lengths"),
        ("addresses", "10.0.1.1/24=10.9.1.0/24", "host bits"),
        ("addresses", "10.0.1.256=10.0.1.1", "10.0.1.256"),
        ("ports", "5000", "expected PORT=PORT"),
        ("ports", "5000=65536", "'65536' is not a port"),
        ("ports", "-1=2", "'-1' is not a port"),
        ("macs", "02:00=02:01", "'02:00' is not a MAC"),
        ("macs", "to_server=02:00:00:00:00:01", "'' is not a MAC"),
        ("macs", "up=02:00:00:00:00:01,02:00:00:00:00:02", "'up' is not a MAC"),
    ],
)
def test_what_cannot_be_followed(kind: str, text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told) as refusal:
        mapping.parse(**{kind: [text]})
    assert repr(text) in str(refusal.value)


def test_macs_by_one_rule_at_a_time() -> None:
    one, two = "02:00:00:00:00:01", "02:00:00:00:00:02"
    with pytest.raises(ValueError, match="not both"):
        mapping.parse(macs=[f"{one}={two}", f"to_client={one},{two}"])
