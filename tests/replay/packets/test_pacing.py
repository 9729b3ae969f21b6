"""Paces as users write them."""

from __future__ import annotations

import pytest
from pathscope.replay.packets import pacing
from pathscope.replay.packets.orders import BitRate, Original, PacketRate, TopSpeed


def test_paces() -> None:
    assert pacing.parse() == Original(1.0)
    assert pacing.parse(speed=2) == Original(2.0)
    assert pacing.parse(speed="0.5") == Original(0.5)
    assert pacing.parse(pps="10k") == PacketRate(10_000)
    assert pacing.parse(rate="2.5M") == BitRate(2_500_000)
    assert pacing.parse(rate="1G") == BitRate(1e9)
    assert pacing.parse(top=True) == TopSpeed()


@pytest.mark.parametrize("text", ["", "0", "-1", "1e3", "10 k", "k", "10K", "nan", "1" + "0" * 400])
def test_no_pace(text: str) -> None:
    with pytest.raises(ValueError, match="expected a number above 0"):
        pacing.number(text)


def test_one_at_a_time() -> None:
    with pytest.raises(ValueError, match="not speed and top speed"):
        pacing.parse(speed=1, top=True)
