"""The kernel's counters and both captures beside the sender's own count.

What the sender does not know of explains a difference: frames of the kernel itself (ARP, IPv6's
neighbours), which a capture shows. A difference that nothing explains is a fault.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .model import Balance

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .model import RouteCounts

Device = tuple[str, str]
"""Host and interface."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where a route's counters are: its first and last interface, and the one with its qdisc."""

    near: Device | None = None
    far: Device | None = None
    port: Device | None = None


@dataclass(frozen=True, slots=True)
class Counters:
    """How far the kernel's counters of a route went during the replay; None where there was none.

    `tx_*` are of its first interface, `rx_*` of its last, `qdisc_*` of the netem between: of that,
    `qdisc_requeued` counts what it sent ahead of others, and `held_packets` are in it at the end.
    """

    tx_packets: int | None = None
    tx_dropped: int | None = None
    rx_packets: int | None = None
    rx_dropped: int | None = None
    qdisc_packets: int | None = None
    qdisc_dropped: int | None = None
    qdisc_overlimits: int | None = None
    qdisc_requeued: int | None = None
    held_packets: int | None = None


def readings(before: Mapping[str, Any], after: Mapping[str, Any], places: Places) -> Counters:
    """Return by how much a route's counters grew between two events "counters".

    Parameters
    ----------
    before, after
        `interfaces`: by host, what `ip -statistics -json link` says; `qdiscs`: by host, what `tc
        -statistics -json qdisc` says.
    places
        Which of them are the route's.
    """

    def grown(device: Device | None, way: str, name: str) -> int | None:
        old, new = (_interface(event, device) for event in (before, after))
        if old is None or new is None:
            return None
        return int(new[way][name]) - int(old[way][name])

    def qdisc(name: str) -> int | None:
        old, new = (_netem(event, places.port) for event in (before, after))
        # It may have been set up after the first reading.
        return None if new is None else int(new[name]) - int((old or {}).get(name, 0))

    left = _netem(after, places.port)
    return Counters(
        grown(places.near, "tx", "packets"),
        grown(places.near, "tx", "dropped"),
        grown(places.far, "rx", "packets"),
        grown(places.far, "rx", "dropped"),
        qdisc("packets"),
        qdisc("drops"),
        qdisc("overlimits"),
        qdisc("requeues"),
        None if left is None else int(left["qlen"]),
    )


def _interface(event: Mapping[str, Any], device: Device | None) -> dict[str, Any] | None:
    if device is None:
        return None
    host, name = device
    entries = event["interfaces"].get(host, ())
    return next((entry["stats64"] for entry in entries if entry.get("ifname") == name), None)


def _netem(event: Mapping[str, Any], device: Device | None) -> dict[str, Any] | None:
    if device is None:
        return None
    host, name = device
    entries = event["qdiscs"].get(host, ())
    return next((one for one in entries if (one.get("dev"), one["kind"]) == (name, "netem")), None)


@dataclass(frozen=True, slots=True)
class Strangers:
    """Frames in the captures of a route's two ends that the sender does not know of.

    None where that end was not recorded. They may have gone either way.
    """

    near: int | None
    far: int | None


def balances(
    counts: RouteCounts, counters: Counters, strangers: Strangers, duplicates: bool, allowed: int
) -> list[Balance]:
    """Hold the counts of one route against each other.

    Parameters
    ----------
    counts, counters, strangers
        Of the route.
    duplicates
        Whether netem was to make copies, which it counts when it drops them, too.
    allowed
        Packets that a difference may have without an explanation.
    """
    found = []
    way = f"{counts.path} {counts.direction}"
    near, far = strangers.near or 0, strangers.far or 0

    def hold(
        one: tuple[str, int | None], other: tuple[str, int | None], most: int, why: str
    ) -> None:
        if one[1] is not None and other[1] is not None:
            found.append(_balance(way, (one[0], one[1]), (other[0], other[1]), most, why, allowed))

    others = "other frames, captured there"
    arrived = counts.arrived + counts.corrupted + counts.copies
    if counters.tx_packets is not None:
        hold(("interface sent", counters.tx_packets), ("handed over", counts.sent), near, others)
        queued = "refused by its queue"
        refused = ("refused", counts.refused)
        hold(refused, ("interface dropped", counters.tx_dropped), counts.refused, queued)
    if counts.recorded:
        hold(("interface received", counters.rx_packets), ("captured", arrived), far, others)
        hold(("netem passed on", counters.qdisc_packets), ("captured", arrived), far, others)
        lost = counts.lost - (counters.held_packets or 0)
        copies = counts.sent if duplicates else 0
        why = "copies that were lost again" if duplicates else others
        hold(("netem dropped", counters.qdisc_dropped), ("lost", lost), near + copies, why)
    return found


def _balance(
    where: str, one: tuple[str, int], other: tuple[str, int], most: int, why: str, allowed: int
) -> Balance:
    """Of two counts the one may be greater by what explains it."""
    explained = min(max(one[1] - other[1], 0), most)
    unexplained = abs(one[1] - other[1] - explained)
    return Balance(
        where,
        *one,
        *other,
        explained,
        why if explained else "",
        "fail" if unexplained > allowed else "pass",
    )
