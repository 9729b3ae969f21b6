"""Impairments as arguments of `tc ... netem` (tc-netem(8)): one definition for lab and replay."""

from __future__ import annotations

from math import ceil
from typing import TYPE_CHECKING, Any

from .impairment import UNIFORM

if TYPE_CHECKING:
    from collections.abc import Mapping

LEAST_QUEUE_PACKETS = 1000
"""Netem's own default, which a fast or long path fills with packets that are only on their way."""

QUEUE_RESERVE = 1.5
"""Packets come in bursts: more of them are on their way at times than their mean rate says."""

PACKET_BYTES = 1514

FAST_LINK_KBIT = 1_000_000
"""What is sent where neither a rate nor the traffic says how much."""

TABLE_DEVIATIONS = 4
"""As far as a table of netem reaches: 16 bits, of which 8192 are a deviation."""

DOWN: tuple[str, ...] = ("loss", "100%")
"""What a link that is down does to every packet. What else was set does not show."""

IN_ORDER: tuple[str, ...] = ("rate", "1tbit")
"""A rate that takes 12 ns for a full packet, for what else netem does where there is one: a packet
is not sent before the one ahead of it."""


def arguments(impairment: Mapping[str, Any], packets_per_s: float | None = None) -> tuple[str, ...]:
    """Return the full set of netem's arguments for an impairment of the scenario schema.

    The full set, zeros too: the kernel keeps what a change does not name of reordering, corruption,
    rate and slots, and a `replace` of netem by netem is a change.

    Parameters
    ----------
    impairment
        With every default filled in.
    packets_per_s
        The most that the traffic sends, where that is known; the queue limit follows from it.
    """
    words: list[str] = ["limit", str(queue_packets(impairment, packets_per_s))]
    words += _delay(impairment) + _loss(impairment)
    if impairment["duplicate_percent"]:
        words += ["duplicate", f"{plain(impairment['duplicate_percent'])}%"]
    words += ["reorder", f"{plain(impairment['reorder_percent'])}%"]
    if impairment["reorder_percent"] and "reorder_gap" in impairment:
        words += ["gap", str(impairment["reorder_gap"])]
    words += ["corrupt", f"{plain(impairment['corrupt_percent'])}%"]
    return (*words, *_rate(impairment), *_slots(impairment))


def queue_packets(impairment: Mapping[str, Any], packets_per_s: float | None = None) -> int:
    """Return netem's limit, in packets: as asked for, else what can be on its way, and a half.

    That is packets a second x the longest delay x 1.5, and netem's own default at least. Packets a
    second are those of the traffic where it is known, else full packets at the rate, else at that
    of a fast link.
    """
    if "queue_packets" in impairment:
        return int(impairment["queue_packets"])
    if packets_per_s is None:
        packets_per_s = impairment.get("rate_kbit", FAST_LINK_KBIT) * 1000 / 8 / PACKET_BYTES
    on_the_way = packets_per_s * longest_delay_ms(impairment) / 1000
    return max(LEAST_QUEUE_PACKETS, ceil(QUEUE_RESERVE * on_the_way))


def longest_delay_ms(impairment: Mapping[str, Any]) -> float:
    """Return the longest that netem holds a packet, apart from its rate."""
    reach = 1 if impairment["distribution"] == UNIFORM else TABLE_DEVIATIONS
    slot = impairment.get("slot_min_ms", 0)
    if slot:
        slot = max(slot, impairment.get("slot_max_ms", 0))
    return float(impairment["delay_ms"] + reach * impairment["jitter_ms"] + slot)


def plain(value: float) -> str:
    """Return a number as tc takes it: down to a millionth, without an exponent."""
    return f"{value:.6f}".rstrip("0").rstrip(".")


def _delay(impairment: Mapping[str, Any]) -> list[str]:
    delay, jitter = impairment["delay_ms"], impairment["jitter_ms"]
    if not (delay or jitter):
        return []
    words = ["delay", f"{plain(delay)}ms"]
    if jitter:
        words.append(f"{plain(jitter)}ms")
        if impairment["distribution"] != UNIFORM:
            words += ["distribution", impairment["distribution"]]
    return words


def _loss(impairment: Mapping[str, Any]) -> list[str]:
    percent = impairment["loss_percent"]
    if not percent:
        return []
    burst = impairment.get("loss_burst_packets")
    if burst is None or percent >= 100:
        return ["loss", f"{plain(percent)}%"]
    # Gilbert: in the bad state all is lost. Its mean stay is the mean burst; the share of time
    # spent there, p / (p + r), is the loss.
    leave = 1 / burst
    enter = leave * percent / (100 - percent)
    return ["loss", "gemodel", f"{plain(100 * enter)}%", f"{plain(100 * leave)}%"]


def _rate(impairment: Mapping[str, Any]) -> tuple[str, ...]:
    if "rate_kbit" in impairment:
        return "rate", f"{round(impairment['rate_kbit'] * 1000)}bit"
    return IN_ORDER if impairment["keep_order"] else ("rate", "0bit")


def _slots(impairment: Mapping[str, Any]) -> list[str]:
    least = impairment.get("slot_min_ms")
    if not least:
        return ["slot", "0ms", "0ms"]
    words = ["slot", f"{plain(least)}ms", f"{plain(impairment.get('slot_max_ms', least))}ms"]
    if "slot_packets" in impairment:
        words += ["packets", str(impairment["slot_packets"])]
    return words
