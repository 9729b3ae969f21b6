"""The net rates of 802.11g, against sums done by hand from the standard's times."""

from __future__ import annotations

import pytest
from pathscope.replay.lab.wlan import BITS_PER_SYMBOL, net_rate_kbit

# In us: DIFS 28, 7.5 slots of 9, preamble and signal 20, symbols of 4, extension 6, SIFS 10, and an
# ACK (134 bits with service and tail): 2 symbols at 24 Mb/s.
AROUND_US = 28 + 67.5 + (20 + 6) + 10 + (20 + 2 * 4 + 6)

# Symbols of 22 + 8 x (1500 + 36) = 12310 bits, and of the answer's 22 + 8 x (60 + 36) = 790 bits.
SYMBOLS = {54: (57, 4), 36: (86, 6), 24: (129, 9)}


@pytest.mark.parametrize("radio_mbit", SYMBOLS)
def test_two_packets_and_their_answer(radio_mbit: int) -> None:
    packet, answer = SYMBOLS[radio_mbit]
    total_us = 2 * (AROUND_US + 4 * packet) + AROUND_US + 4 * answer
    assert net_rate_kbit(radio_mbit) == round(2 * 1500 * 8 / total_us * 1000)


def test_what_the_manual_says() -> None:
    found = [round(net_rate_kbit(rate) / 1000, 1) for rate in (54, 36, 24)]
    assert found == [24.8, 19.9, 15.3]


def test_a_faster_radio_carries_more_but_less_than_it_promises() -> None:
    rates = [net_rate_kbit(rate) for rate in sorted(BITS_PER_SYMBOL)]
    assert rates == sorted(rates)
    assert all(net_rate_kbit(rate) < rate * 1000 for rate in BITS_PER_SYMBOL)
