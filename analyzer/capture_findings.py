"""What is wrong with the capture, or with packets on the way, rather than with the association."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ENDS, other
from .evidence import evidence
from .measure import NS_PER_S, seconds
from .model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..dissectors.ledger import Row
    from .context import Context
    from .findings import Analysed
    from .model import End

JUMP_NS = NS_PER_S
"""A shorter gap with DATA outstanding need not make T3-rtx expire: RTO.Min is 1 s (RFC 9260
section 16)."""


def checksums(context: Context, _: Analysed) -> Iterator[Finding]:
    """Checksums that are wrong (RFC 9260 section 6.8), or of another kind."""
    for end in ENDS:
        yield from _bad(context, end)
    if damaged := context.odd("damaged-packet"):
        yield Finding(
            "damaged-packets",
            "warning",
            f"{context.row['damaged_packets']} packets were damaged on the way: their CRC32c is"
            " wrong, while others of the same sender are right; they are left out of every number",
            evidence(damaged),
        )
    if old := context.odd("adler32-checksum"):
        yield Finding(
            "adler32-checksum",
            "note",
            f"{context.row['adler32_checksums']} packets carry the Adler-32 of RFC 2960"
            " (before 2002)",
            evidence(old),
        )


def _bad(context: Context, end: End) -> Iterator[Finding]:
    for row in context.odd("bad-checksum", end):
        packets = context.packets(end)
        if row["count"] == packets and not context.odd("bad-checksum", other(end)):
            yield Finding(
                "checksum-offload",
                "note",
                f"all {packets} packets of {end} have a wrong CRC32c, those of {other(end)} are"
                " right: captured before the network card filled it in",
                evidence([row]),
            )
        else:
            yield Finding(
                "bad-checksum",
                "warning",
                f"{row['count']} of {packets} packets of {end} have a wrong CRC32c, and none that"
                " shows whether its sender makes right ones",
                evidence([row]),
            )


def copies_and_cuts(context: Context, _: Analysed) -> Iterator[Finding]:
    """Frames twice, cut, or larger than any link carries."""
    row = context.row
    if copies := context.odd("duplicate-frame"):
        yield Finding(
            "duplicated-frames",
            "note",
            f"{row['duplicate_frames']} frames are copies of earlier ones, made by the capture;"
            " they are left out of every number",
            evidence(copies),
        )
    if cut := context.odd("truncated-packet"):
        yield Finding(
            "truncated-packets",
            "note",
            f"{row['truncated_packets']} packets were cut by the capture's snap length",
            evidence(cut),
        )
    if large := context.odd("oversized-packet"):
        yield Finding(
            "oversized-packets",
            "note",
            f"{sum(one['count'] for one in large)} packets are larger than any Ethernet frame: the"
            " capturing host put them together or had not cut them yet (GRO, GSO), or it is a"
            " loopback; packet counts are not those of the wire",
            evidence(large),
        )


def clock(context: Context, analysed: Analysed) -> Iterator[Finding]:
    """A clock that was set while the capture ran: backward, or forward past time-outs."""
    if steps := context.odd("clock-step"):
        yield Finding(
            "clock-step",
            "warning",
            f"the capture's clock went back by more than a minute"
            f" {sum(one['count'] for one in steps)} times: times across that are wrong",
            evidence(steps),
        )
    for end in ENDS:
        for stall in context.sent(context.stalls, end):
            if stall["end_ns"] - stall["start_ns"] < JUMP_NS:
                continue
            gap = analysed.gap_within(stall["start_ns"], stall["end_ns"])
            if gap is None or gap < JUMP_NS or _sent_again(context, end, stall):
                continue
            yield Finding(
                "clock-jump",
                "warning",
                f"nothing at all was captured for {seconds(gap):.3f} s while DATA of {end} was"
                " outstanding, and it was acknowledged then without being sent again, though T3-rtx"
                " must have expired: the clock was set forward, or the capture paused",
                (stall["start_frame"], stall["end_frame"]),
            )


def _sent_again(context: Context, end: End, stall: Row) -> bool:
    return any(
        stall["start_ns"] <= row["time_ns"] <= stall["end_ns"] + NS_PER_S
        for row in context.sent(context.retransmissions, end)
    )


def captured_at_receiver(context: Context, analysed: Analysed) -> Iterator[Finding]:
    """The tap was at the DATA's receiver, where the sender's view must be guessed."""
    for end in ENDS:
        new, back = (_sum(context, one, "new_chunks") for one in (end, other(end)))
        if analysed.captured_at == other(end) and new > back:
            yield Finding(
                "captured-at-receiver",
                "note",
                f"most DATA is sent by {end}, but the capture was taken at {other(end)}: times are"
                " those of arrival, lost transmissions are missing, and"
                f" {_sum(context, end, 'late_chunks')} chunks that came late may be"
                " retransmissions",
                tuple(run["first_frame"] for run in context.sent(context.runs, end)[:1]),
            )


def _sum(context: Context, end: End, name: str) -> int:
    return sum(
        totals.sums[name] for (_, sender), totals in context.bins.totals.items() if sender == end
    )
