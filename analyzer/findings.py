"""What looks wrong: rules, each with its reason in words and the frames that show it.

A rule is a function of a context (and what has been made of it) that returns findings; `RULES`
lists them in the order in which a reader wants them.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .capture_findings import captured_at_receiver, checksums, clock, copies_and_cuts
from .context import ENDS
from .evidence import MOST_FRAMES
from .model import Finding
from .moves import is_concurrent
from .path_findings import (
    heartbeats_unanswered,
    never_confirmed,
    overlapping_gap_blocks,
    rto_below_sack_delay,
    sacks_to_dead_path,
    spurious,
    stalled_while_alive,
    stream_beyond,
    zero_window,
)
from .protection import unauthenticated_chunks, zero_checksums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from .context import Context
    from .model import Handover


@dataclass(frozen=True, slots=True)
class Analysed:
    """What the rules may look at besides the ledger's rows of the association.

    Attributes
    ----------
    gaps
        Stretches of a second or more in which the capture has no packet of anything.
    """

    handovers: tuple[Handover, ...]
    captured_at: str
    gaps: tuple[tuple[int, int], ...] = ()

    def gap_within(self, start_ns: int, end_ns: int) -> int | None:
        """Length of the longest time without any packet of the capture between two instants."""
        longest: int | None = None
        # They do not overlap, so that the first one that ends late enough is found by halving.
        for first_ns, last_ns in self.gaps[bisect_right(self.gaps, start_ns, key=_end) :]:
            if first_ns >= end_ns:
                break
            longest = max(longest or 0, min(end_ns, last_ns) - max(start_ns, first_ns))
        return longest


def _end(gap: tuple[int, int]) -> int:
    return gap[1]


def find(context: Context, analysed: Analysed) -> tuple[Finding, ...]:
    """Apply every rule."""
    return tuple(finding for rule in RULES for finding in rule(context, analysed))


def aborted(context: Context, _: Analysed) -> Iterator[Finding]:
    """ABORT, with its causes."""
    for (sender, detail), frames in _reports(context, "ABORT").items():
        yield Finding(
            "abort", "error", f"{sender} aborted{_times(frames)}: {detail}", frames[:MOST_FRAMES]
        )


def error_reported(context: Context, _: Analysed) -> Iterator[Finding]:
    """ERROR chunks, with their causes."""
    for (sender, detail), frames in _reports(context, "ERROR").items():
        yield Finding(
            "error",
            "warning",
            f"{sender} reported an error{_times(frames)}: {detail}",
            frames[:MOST_FRAMES],
        )


def _reports(context: Context, chunk: str) -> dict[tuple[str, str], tuple[int, ...]]:
    """Return frames of a chunk that reports causes, by its sender and what it says."""
    found: dict[tuple[str, str], list[int]] = {}
    for row in context.control:
        if row["chunk"] == chunk:
            key = (row["sender"], row["detail"] or "no cause given")
            found.setdefault(key, []).append(row["frame"])
    return {key: tuple(frames) for key, frames in found.items()}


def _times(frames: tuple[int, ...]) -> str:
    return f" {len(frames)} times" if len(frames) > 1 else ""


def restarted(context: Context, _: Analysed) -> Iterator[Finding]:
    """Association restart (RFC 9260 section 5.2.4)."""
    if context.row["restart_of"] is not None:
        yield Finding(
            "restart",
            "warning",
            f"this association restarted association {context.row['restart_of']}:"
            " one end had lost its state",
            (context.row["start_frame"],),
        )


def setup_unanswered(context: Context, _: Analysed) -> Iterator[Finding]:
    """INIT without INIT ACK."""
    if context.row["end"] == "no-answer":
        frames = tuple(row["frame"] for row in context.control if row["chunk"] == "INIT")
        yield Finding(
            "setup-unanswered",
            "error",
            f"INIT was sent {len(frames)} times and never answered",
            frames[:MOST_FRAMES],
        )


def init_ack_from_elsewhere(context: Context, _: Analysed) -> Iterator[Finding]:
    """INIT ACK from another address than INIT went to."""
    inits = [row for row in context.control if row["chunk"] == "INIT"]
    for row in context.control:
        if row["chunk"] != "INIT ACK" or not inits:
            continue
        asked = {init["path"] for init in inits}
        if row["path"] not in asked:
            yield Finding(
                "init-ack-address",
                "warning",
                f"INIT ACK came on {context.labels[row['path']]}, INIT went on"
                f" {', '.join(context.labels[path] for path in sorted(asked))}",
                (inits[0]["frame"], row["frame"]),
            )


def concurrent(context: Context, _: Analysed) -> Iterator[Finding]:
    """A sender that uses several paths at once has no handovers."""
    for end in ENDS:
        runs = context.sent(context.runs, end)
        changes = len(runs) - 1
        if is_concurrent(runs):
            yield Finding(
                "concurrent-paths",
                "note",
                f"{end} sends new DATA on several paths at once ({changes} changes):"
                " handovers are not looked for",
                (runs[1]["first_frame"],),
            )


RULES: tuple[Callable[[Context, Analysed], Iterator[Finding]], ...] = (
    aborted,
    error_reported,
    restarted,
    setup_unanswered,
    init_ack_from_elsewhere,
    never_confirmed,
    stalled_while_alive,
    sacks_to_dead_path,
    rto_below_sack_delay,
    zero_window,
    stream_beyond,
    overlapping_gap_blocks,
    spurious,
    heartbeats_unanswered,
    concurrent,
    captured_at_receiver,
    unauthenticated_chunks,
    zero_checksums,
    checksums,
    clock,
    copies_and_cuts,
)
