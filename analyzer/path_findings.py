"""What looks wrong with the paths of an association, and with how its ends use them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ENDS, other
from .evidence import MOST_FRAMES, OFTEN_SPURIOUS, evidence
from .failure import SACK_DELAY_NS
from .measure import NS_PER_S
from .model import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..dissectors.ledger import Row
    from .context import Context
    from .findings import Analysed
    from .model import End

STALLED_NS = NS_PER_S
"""A shorter stop of delivery can be a delayed SACK, or the time of one retransmission."""


def never_confirmed(context: Context, _: Analysed) -> Iterator[Finding]:
    """Announced addresses that nobody probed, or whose probes stayed unanswered."""
    for end in ENDS:
        own = [row for row in context.addresses if row["endpoint"] == end]
        if len(own) < 2:
            continue
        paths: dict[str, list[int]] = {row["address"]: [] for row in own}
        for path in context.paths:
            paths.get(path[f"{end}_address"], []).append(path["path"])
        unused = [row for row in own if not paths[row["address"]]]
        if unused:
            yield Finding(
                "address-never-used",
                "warning",
                f"{end} announced {', '.join(row['address'] for row in unused)}, but no packet"
                " went to or came from there: what is not probed cannot take over",
                tuple(dict.fromkeys(row["first_frame"] for row in unused))[:MOST_FRAMES],
            )
        for address, numbers in paths.items():
            yield from _unconfirmed(context, end, address, numbers)


def _unconfirmed(context: Context, end: End, address: str, paths: list[int]) -> Iterator[Finding]:
    def on_paths(table: list[Row]) -> list[Row]:
        return [row for path in paths for one in ENDS for row in context.sent(table, one, path)]

    beats = sorted(on_paths(context.heartbeats), key=lambda row: row["time_ns"])
    works = any(row["ack_ns"] is not None for row in beats) or any(
        row["first_ack_ns"] is not None for row in on_paths(context.runs)
    )
    if beats and not works:
        yield Finding(
            "address-never-confirmed",
            "warning",
            f"{end} announced {address}, but none of {len(beats)} HEARTBEATs to or from it"
            " was answered",
            tuple(row["frame"] for row in beats)[:MOST_FRAMES],
        )


def heartbeats_unanswered(context: Context, _: Analysed) -> Iterator[Finding]:
    """HEARTBEATs without an answer on a path that answered others."""
    for end in ENDS:
        for path, label in context.labels.items():
            rows = context.sent(context.heartbeats, end, path)
            lost = [row["frame"] for row in rows if row["ack_ns"] is None]
            if lost and len(lost) < len(rows):
                yield Finding(
                    "heartbeats-unanswered",
                    "note",
                    f"{len(lost)} of {len(rows)} HEARTBEATs of {end} on {label} were not answered",
                    tuple(lost[:MOST_FRAMES]),
                )


def zero_window(context: Context, _: Analysed) -> Iterator[Finding]:
    """A receiver that advertised no room (RFC 9260 section 6.1, rule A)."""
    for end in ENDS:
        rows = context.sent(context.zero_windows, end)
        if rows:
            times = "once" if len(rows) == 1 else f"{len(rows)} times"
            yield Finding(
                "zero-window",
                "warning",
                f"{end} closed its receive window {times}, in {sum(row['sacks'] for row in rows)}"
                f" SACKs together: {other(end)} had to stop sending",
                tuple(row["start_frame"] for row in rows)[:MOST_FRAMES],
            )


def overlapping_gap_blocks(context: Context, _: Analysed) -> Iterator[Finding]:
    """Gap blocks that are not disjoint in ascending order (RFC 9260 section 3.3.4)."""
    for end in ENDS:
        for row in context.odd("disordered-gap-blocks", end):
            yield Finding(
                "overlapping-gap-blocks",
                "warning",
                f"{row['count']} SACKs of {end} have gap blocks that overlap or do not rise: the"
                " receiver is at fault, and what they acknowledge is uncertain",
                evidence([row]),
            )


def stream_beyond(context: Context, _: Analysed) -> Iterator[Finding]:
    """DATA in a stream that the handshake did not open (RFC 9260 sections 5.1.1 and 6.5)."""
    if any(row["chunk"] == "RE-CONFIG" for row in context.control):
        return  # RFC 6525 may have added streams
    for end in ENDS:
        asked = context.row[f"{end}_outbound_streams"]
        allowed = context.row[f"{other(end)}_inbound_streams"]
        if asked is None or allowed is None:
            continue
        beyond = [
            row
            for row in context.sent(context.streams, end)
            if row["stream"] is not None and row["stream"] >= min(asked, allowed)
        ]
        if beyond:
            numbers = ", ".join(str(row["stream"]) for row in beyond[:MOST_FRAMES])
            yield Finding(
                "stream-beyond-negotiated",
                "error",
                f"{end} sends in stream {numbers}, but the handshake opened {min(asked, allowed)},"
                " from 0: the receiver discards it",
                tuple(row["first_frame"] for row in beyond)[:MOST_FRAMES],
            )


def sacks_to_dead_path(context: Context, _: Analysed) -> Iterator[Finding]:
    """SACKs on a path that swallows them: what they acknowledge is sent again elsewhere."""
    for end in ENDS:
        for row in context.odd("unheeded-sack", end):
            yield Finding(
                "sacks-to-dead-path",
                "warning",
                f"{end} goes on sending SACKs on {context.labels[row['path']]}, and {other(end)}"
                f" does not get them: {row['count']} chunks that they acknowledged were sent again"
                " on another path",
                evidence([row]),
            )


def rto_below_sack_delay(context: Context, _: Analysed) -> Iterator[Finding]:
    """T3-rtx that expired while the SACK was only put off (RFC 9260 section 6.2)."""
    for end in ENDS:
        soon = [
            row
            for row in context.sent(context.timeouts, end)
            if row["elapsed_ns"] is not None and row["elapsed_ns"] < SACK_DELAY_NS
        ]
        again: dict[int, list[Row]] = {row["frame"]: [] for row in soon}
        for row in context.sent(context.retransmissions, end):
            if row["frame"] in again:
                again[row["frame"]].append(row)
        hasty = [row for row in soon if _was_on_its_way(context, end, row, again[row["frame"]])]
        if hasty:
            least_s = min(row["elapsed_ns"] for row in hasty) / NS_PER_S
            yield Finding(
                "rto-below-sack-delay",
                "warning",
                f"T3-rtx of {end} expired {len(hasty)} times after as little as {least_s:.3f} s"
                " while the SACK was on its way: the RTO is below the time that"
                f" {other(end)} puts SACKs off, and the round trip",
                tuple(row["frame"] for row in hasty)[:MOST_FRAMES],
            )


def _was_on_its_way(context: Context, end: End, expiry: Row, again: list[Row]) -> bool:
    """Whether the SACK came sooner after the expiry than a round trip takes.

    `again` is what was sent again in the expiry's frame.
    """
    least_ns = min(
        (row["min_ns"] for row in context.sent(context.rtt, end, expiry["retransmission_path"])),
        default=None,
    )
    return least_ns is not None and any(
        row["path"] == expiry["retransmission_path"]
        and row["ack_ns"] is not None
        and row["ack_ns"] - row["time_ns"] < least_ns
        for row in again
    )


def spurious(context: Context, _: Analysed) -> Iterator[Finding]:
    """Many retransmissions of what had arrived."""
    for end in ENDS:
        rows = context.sent(context.retransmissions, end)
        needless = [row["frame"] for row in rows if row["spurious"] is not None]
        if rows and len(needless) >= OFTEN_SPURIOUS * len(rows):
            yield Finding(
                "spurious-retransmissions",
                "warning",
                f"{len(needless)} of {len(rows)} retransmitted chunks of {end} had arrived before:"
                " SACKs were lost or late, rather than DATA",
                tuple(dict.fromkeys(needless))[:MOST_FRAMES],
            )


def stalled_while_alive(context: Context, _: Analysed) -> Iterator[Finding]:
    """DATA at a standstill for seconds while HEARTBEATs on another path were answered."""
    for end in ENDS:
        for stall in context.sent(context.stalls, end):
            if stall["end_ns"] - stall["start_ns"] < STALLED_NS:
                continue
            answered = [
                row["ack_frame"]
                for row in context.sent(context.heartbeats, end)
                if row["ack_ns"] is not None
                and stall["start_ns"] < row["time_ns"]
                and row["ack_ns"] < stall["end_ns"]
            ]
            if answered:
                took_s = (stall["end_ns"] - stall["start_ns"]) / 1e9
                yield Finding(
                    "stalled-while-alive",
                    "warning",
                    f"no DATA of {end} was acknowledged for {took_s:.3f} s, although a HEARTBEAT"
                    " was answered meanwhile: a working path was not used",
                    (stall["start_frame"], *answered[:MOST_FRAMES], stall["end_frame"]),
                )
