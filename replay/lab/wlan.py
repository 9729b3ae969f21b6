"""What 802.11g carries: from a rate of its radio to the rate of packets, which netem can keep.

IEEE 802.11-2020, clause 18 (ERP-OFDM) with the short slot: one sender of full packets, no
collisions, no lost frames, no RTS, and the answers of the transport, which take the same medium,
one for two packets.
"""

from __future__ import annotations

from math import ceil

BITS_PER_SYMBOL = {6: 24, 9: 36, 12: 48, 18: 72, 24: 96, 36: 144, 48: 192, 54: 216}
"""Data bits of an OFDM symbol, by the radio's rate in Mb/s (table 17-4)."""

SYMBOL_US, PREAMBLE_US, EXTENSION_US = 4.0, 20.0, 6.0

SLOT_US, SIFS_US = 9.0, 10.0
DIFS_US = SIFS_US + 2 * SLOT_US

BACKOFF_US = 15 / 2 * SLOT_US
"""Mean of the first contention window, 0 to 15 slots."""

SERVICE_AND_TAIL_BITS = 16 + 6

HEADERS_BYTES = 24 + 8 + 4
"""MAC header, LLC/SNAP and frame check sequence."""

ACK_BYTES = 14

BASIC_MBIT = (6, 12, 24)
"""A frame is acknowledged at the highest of these rates that is not above its own."""

PACKET_BYTES = 1500

ANSWER_BYTES = 60
"""A SACK or a TCP ACK with timestamps, IP header included."""

PACKETS_PER_ANSWER = 2


def net_rate_kbit(radio_mbit: int) -> int:
    """Return the rate of IP packets, in kbit/s, at a rate of the radio in Mb/s.

    54 gives 24.8, 36 gives 19.9 and 24 gives 15.3 Mb/s.
    """
    packets = PACKETS_PER_ANSWER * _exchange_us(PACKET_BYTES, radio_mbit)
    total_us = packets + _exchange_us(ANSWER_BYTES, radio_mbit)
    return round(PACKETS_PER_ANSWER * PACKET_BYTES * 8 * 1000 / total_us)


def _exchange_us(ip_bytes: int, radio_mbit: int) -> float:
    """A frame from the wait for the medium to the end of its acknowledgement."""
    frame_us = _frame_us(ip_bytes + HEADERS_BYTES, radio_mbit)
    ack_us = _frame_us(ACK_BYTES, max(rate for rate in BASIC_MBIT if rate <= radio_mbit))
    return DIFS_US + BACKOFF_US + frame_us + SIFS_US + ack_us


def _frame_us(frame_bytes: int, radio_mbit: int) -> float:
    bits = SERVICE_AND_TAIL_BITS + 8 * frame_bytes
    return PREAMBLE_US + ceil(bits / BITS_PER_SYMBOL[radio_mbit]) * SYMBOL_US + EXTENSION_US
