"""Impairments as arguments of `tc ... netem` (tc-netem(8)): one definition for lab and replay."""

from __future__ import annotations

from math import ceil
from typing import Any

LEAST_QUEUE_PACKETS = 1000
"""Netem's own default, which a fast or long path fills with packets that are only on their way."""

PACKET_BYTES = 1514

DOWN: tuple[str, ...] = ("loss", "100%")
"""What a link that is down does to every packet."""


def arguments(impairment: dict[str, Any]) -> tuple[str, ...]:
    """Return the full set of netem's arguments for an impairment of the scenario schema.

    The full set, because `tc qdisc change` keeps what is not named.
    """
    words: list[str] = ["limit", str(queue_packets(impairment))]
    delay, jitter = impairment["delay_ms"], impairment["jitter_ms"]
    if delay or jitter:
        words += ["delay", f"{delay:g}ms"]
        if jitter:
            words.append(f"{jitter:g}ms")
            if impairment["distribution"] != "uniform":
                words += ["distribution", impairment["distribution"]]
    words += _loss(impairment)
    for name in ("duplicate", "reorder", "corrupt"):
        if impairment[f"{name}_percent"]:
            words += [name, f"{impairment[f'{name}_percent']:g}%"]
    if "rate_kbit" in impairment:
        words += ["rate", f"{round(impairment['rate_kbit'] * 1000)}bit"]
    return tuple(words)


def queue_packets(impairment: dict[str, Any]) -> int:
    """Return netem's limit: as asked for, else twice what rate and delay hold on their way."""
    if "queue_packets" in impairment:
        return int(impairment["queue_packets"])
    seconds = (impairment["delay_ms"] + impairment["jitter_ms"]) / 1000
    # Without a limit of the rate, that of a fast link.
    bits: float = impairment.get("rate_kbit", 1_000_000) * 1000 * seconds
    return max(LEAST_QUEUE_PACKETS, ceil(2 * bits / 8 / PACKET_BYTES))


def _loss(impairment: dict[str, Any]) -> list[str]:
    percent = impairment["loss_percent"]
    if not percent:
        return []
    burst = impairment.get("loss_burst_packets")
    if burst is None or percent >= 100:
        return ["loss", f"{percent:g}%"]
    # Gilbert: in the bad state all is lost. Its mean stay is the mean burst; the share of time
    # spent there, p / (p + r), is the loss.
    leave = 1 / burst
    enter = leave * percent / (100 - percent)
    return ["loss", "gemodel", f"{100 * enter:.6g}%", f"{100 * leave:.6g}%"]
