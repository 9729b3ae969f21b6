"""What looks wrong: rules, each with its reason in words and the frames that show it.

A rule is a function of a context (and what has been made of it) that returns findings; `RULES`
lists them in the order in which a reader wants them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .context import ENDS, other
from .measure import NS_PER_S
from .model import Finding
from .moves import is_concurrent
from .protection import unauthenticated_chunks, zero_checksums

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End, Handover

MOST_FRAMES = 10
"""Evidence frames named in one finding; more would not be read."""

STALLED_NS = NS_PER_S
"""A shorter stop of delivery can be a delayed SACK, or the time of one retransmission."""

OFTEN_SPURIOUS = 0.5
"""From this share on, needless retransmissions are worth a word."""


@dataclass(frozen=True, slots=True)
class Analysed:
    """What the rules may look at besides the ledger."""

    handovers: tuple[Handover, ...]
    captured_at: str


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
    """A receiver that advertised no room."""
    for end in ENDS:
        for path, label in context.labels.items():
            totals = context.bins.totals.get((path, end))
            if totals is not None and totals.a_rwnd_min_bytes == 0:
                yield Finding(
                    "zero-window",
                    "warning",
                    f"{end} advertised a receiver window of 0 on {label}:"
                    f" {other(end)} had to stop sending",
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


def capture_quality(context: Context, _: Analysed) -> Iterator[Finding]:
    """Checksums, copies and cuts: what is wrong with the capture rather than the association."""
    row = context.row
    if row["bad_checksums"]:
        yield Finding(
            "bad-checksum",
            "warning",
            f"{row['bad_checksums']} of {row['packets']} packets have a wrong CRC32c: damaged on"
            " the way, or captured before the network card filled it in",
        )
    if row["damaged_packets"]:
        yield Finding(
            "damaged-packets",
            "warning",
            f"{row['damaged_packets']} packets were damaged on the way: their CRC32c is wrong,"
            " while others of the same sender are right; they are left out of every number",
        )
    if row["adler32_checksums"]:
        yield Finding(
            "adler32-checksum",
            "note",
            f"{row['adler32_checksums']} packets carry the Adler-32 of RFC 2960 (before 2001)",
        )
    if row["duplicate_frames"]:
        yield Finding(
            "duplicated-frames",
            "note",
            f"{row['duplicate_frames']} frames are copies of earlier ones, made by the capture;"
            " they are left out of every number",
        )
    if row["truncated_packets"]:
        yield Finding(
            "truncated-packets",
            "note",
            f"{row['truncated_packets']} packets were cut by the capture's snap length",
        )


def captured_at_receiver(context: Context, analysed: Analysed) -> Iterator[Finding]:
    """The tap was at the DATA's receiver, where the sender's view must be guessed."""
    for end in ENDS:
        new = sum(t.sums["new_chunks"] for (_, who), t in context.bins.totals.items() if who == end)
        back = sum(
            t.sums["new_chunks"] for (_, who), t in context.bins.totals.items() if who != end
        )
        if analysed.captured_at == other(end) and new > back:
            late = sum(
                t.sums["late_chunks"] for (_, who), t in context.bins.totals.items() if who == end
            )
            yield Finding(
                "captured-at-receiver",
                "note",
                f"most DATA is sent by {end}, but the capture was taken at {other(end)}: times are"
                " those of arrival, lost transmissions are missing, and"
                f" {late} chunks that came late may be retransmissions",
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
    zero_window,
    spurious,
    heartbeats_unanswered,
    concurrent,
    captured_at_receiver,
    unauthenticated_chunks,
    zero_checksums,
    capture_quality,
)
