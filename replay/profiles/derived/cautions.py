"""What limits a profile that was derived: sentences, by route."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .model import RouteEvidence

GROWN = 2.0
"""Steps whose delays differ by so much without a rate may be a queue's, or another path's."""

FEW_PACKETS = 30

TOO_UNSURE_MS = 0.5


def cautions(evidence: Iterable[RouteEvidence]) -> list[str]:
    """Say of every route what a reader has to know before using the profile."""
    return [f"{one.path} {one.direction}: {text}" for one in evidence for text in _of(one)]


def _of(evidence: RouteEvidence) -> Iterator[str]:
    if evidence.basis == "inferred":
        yield from _of_one_capture(evidence)
        return
    if evidence.sent < FEW_PACKETS:
        yield f"only {evidence.sent} packets were sent, which shows little of the link"
    if not evidence.delays:
        yield "no packet arrived: the delay is not known"
    elif evidence.delay_error_ms is None:
        yield "the clocks' offset is not known: delays are those above the least"
    elif evidence.delay_error_ms > TOO_UNSURE_MS:
        yield (
            f"delays may be off by {evidence.delay_error_ms:.3f} ms, as the clocks are only known"
            " to within half of the least round trip"
        )
    delays = [one.delay_ms for one in evidence.delays]
    if not evidence.rate.steps and len(delays) > 1 and max(delays) > GROWN * min(delays):
        yield (
            "the delay varies widely and no rate is derived: the trace's own load may have queued,"
            " and what is replayed queues only where the profile has a rate"
        )
    if (evidence.points.delay_ms < 0).any():
        yield "packets arrive before they are sent: the captures were not taken by one clock"
    if evidence.outside:
        yield f"{evidence.outside} packets were sent while the other capture did not run"
    if evidence.unsent:
        yield f"{evidence.unsent} packets arrived that the sender's capture has not"
    if evidence.lone:
        yield f"{evidence.lone} packets whose delay stands alone are in no step"


def _of_one_capture(evidence: RouteEvidence) -> Iterator[str]:
    if evidence.delays:
        yield (
            "delays are half of round trips, in which the peer may have delayed its SACK, and"
            " queues of the trace's own load are"
        )
    else:
        yield "no round trip was seen: the delay is not known"
    if evidence.outages:
        yield "outages are of both directions: one capture does not tell which one failed"
