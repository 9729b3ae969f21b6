"""What looks wrong with a flow: rules, each with its reason in words and its frames."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .context import ENDS, other
from .evidence import MOST_FRAMES, OFTEN_SPURIOUS
from .measure import seconds
from .model import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..dissectors.ledger import Row
    from .model import End


@dataclass(frozen=True, slots=True)
class Evidence:
    """Rows of one flow: its own, its directions by sender, what was sent again, ICMP errors."""

    flow: Row
    directions: dict[End, Row]
    retransmissions: list[Row]
    icmp: list[Row]


def find(
    flow: Row, directions: dict[End, Row], retransmissions: list[Row], icmp: list[Row]
) -> tuple[Finding, ...]:
    """Apply every rule to one flow."""
    evidence = Evidence(flow, directions, retransmissions, icmp)
    return tuple(finding for rule in RULES for finding in rule(evidence))


def not_set_up(evidence: Evidence) -> Iterator[Finding]:
    """SYN without SYN ACK (RFC 9293 section 3.5)."""
    flow = evidence.flow
    sent, back = evidence.directions.get("a"), evidence.directions.get("b")
    if flow["protocol"] != "tcp" or sent is None or not _only_syns(sent):
        return
    if back is None and flow["end"] == "open":
        yield Finding(
            "setup-unanswered",
            "error",
            f"SYN was sent {_times(sent['packets'])} and never answered",
            (flow["start_frame"],),
        )
    if back is not None and back["segments"] == 0 and _is_reset(flow) and flow["ended_by"] == "b":
        yield Finding(
            "setup-refused",
            "error",
            "b refused the connection: RST in answer to SYN",
            (flow["start_frame"], flow["closed_frame"]),
        )


def reset(evidence: Evidence) -> Iterator[Finding]:
    """RST on a connection that was up, with its reason where RFC 8684 gives one."""
    flow = evidence.flow
    sent = evidence.directions.get("a")
    if not _is_reset(flow) or (flow["ended_by"] == "b" and sent is not None and _only_syns(sent)):
        return
    reason = f": {flow['reset_reason']}" if flow["reset_reason"] is not None else ""
    yield Finding(
        "reset",
        "warning",
        f"{flow['ended_by']} reset the connection{reason}",
        (flow["closed_frame"],),
    )


def _is_reset(flow: Row) -> bool:
    return bool(flow["end"] == "rst")


def _only_syns(row: Row) -> bool:
    """Whether an end sent nothing but SYNs; a FIN would have ended the flow."""
    return bool(row["payload_bytes"] == 0 and row["segments"] == row["packets"])


def zero_window(evidence: Evidence) -> Iterator[Finding]:
    """A receiver that advertised no room."""
    for end, row in _in_order(evidence.directions):
        if row["zero_windows"]:
            yield Finding(
                "zero-window",
                "warning",
                f"{end} closed its receive window {_times(row['zero_windows'])}, for"
                f" {seconds(row['zero_window_ns']):.3f} s together:"
                f" {other(end)} had to stop sending",
                (row["zero_window_frame"],),
            )


def spurious(evidence: Evidence) -> Iterator[Finding]:
    """Many retransmissions of what had arrived (RFC 2883)."""
    for end, row in _in_order(evidence.directions):
        needless, again = row["spurious_retransmissions"], row["retransmitted_packets"]
        if again and needless >= OFTEN_SPURIOUS * again:
            frames = tuple(
                one["frame"]
                for one in evidence.retransmissions
                if one["sender"] == end and one["spurious"]
            )
            yield Finding(
                "spurious-retransmissions",
                "warning",
                f"{needless} of {again} segments that {end} sent again had arrived before:"
                " ACKs were lost or late, rather than data",
                frames[:MOST_FRAMES],
            )


def icmp_errors(evidence: Evidence) -> Iterator[Finding]:
    """ICMP errors that quote the flow's packets: what they say, who says it, whose they are."""
    found: dict[tuple[str, str, str], list[int]] = {}
    for row in evidence.icmp:
        key = (row["sender"], row["name"], row["source"])
        found.setdefault(key, []).append(row["frame"])
    for (sender, name, source), frames in found.items():
        yield Finding(
            "icmp-error",
            "warning",
            f"ICMP error from {source}, {_times(len(frames))}: {name}, for packets of {sender}",
            tuple(frames[:MOST_FRAMES]),
        )


def capture_quality(evidence: Evidence) -> Iterator[Finding]:
    """Copies and cuts: what is wrong with the capture rather than the flow."""
    flow = evidence.flow
    if flow["duplicate_frames"]:
        yield Finding(
            "duplicated-frames",
            "note",
            f"{flow['duplicate_frames']} frames are copies of earlier ones, made by the capture;"
            " they are left out of every number",
            (flow["duplicate_frame"],),
        )
    if flow["truncated_packets"]:
        yield Finding(
            "truncated-packets",
            "note",
            f"{flow['truncated_packets']} packets were cut by the capture's snap length",
            (flow["truncated_frame"],),
        )


def merged_segments(evidence: Evidence) -> Iterator[Finding]:
    """Segments larger than their receiver takes: put together by the capturing host."""
    for end, row in _in_order(evidence.directions):
        peer = evidence.directions.get(other(end))
        if peer is None or peer["mss"] is None or not row["segments"]:
            continue
        mean_bytes = row["payload_bytes"] / row["segments"]
        if mean_bytes > peer["mss"]:
            yield Finding(
                "segmentation-offload",
                "note",
                f"segments of {end} have {mean_bytes:.0f} bytes on average, above the"
                f" {peer['mss']} that {other(end)} takes: the capturing host put them together or"
                " had not cut them yet (GRO, TSO), and packet counts are not those of the wire",
                (evidence.flow["start_frame"],),
            )


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _in_order(directions: dict[End, Row]) -> list[tuple[End, Row]]:
    return [(end, directions[end]) for end in ENDS if end in directions]


RULES: tuple[Callable[[Evidence], Iterator[Finding]], ...] = (
    not_set_up,
    reset,
    icmp_errors,
    zero_window,
    spurious,
    merged_segments,
    capture_quality,
)
