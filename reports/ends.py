"""What a capture of the other end adds to the console report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from ..analyzer.context import ENDS
from .flows import MOST_ROWS
from .layout import Fitted, number, section, shown
from .units import duration, file_name, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from ..analyzer.ends.model import OtherEnd
    from ..analyzer.flow_model import Flow
    from ..analyzer.measure import Measure
    from ..analyzer.model import Association, End

COUNTS = ("sent", "lost", "ratio", "reordered")
DELAYS = ("delay min", "p50", "p99", "jitter")


def other_end_line(other: OtherEnd) -> Text:
    """Say what the other capture is, and how its clock goes."""
    clock = other.clock
    text = Text(f"the other end: {file_name(other.path)}, {other.matched_packets} packets in both")
    if clock.offset_s.value is None:
        text.append(f"\nits clock's offset is not known: {clock.offset_s.reason}")
    else:
        error_s = float(clock.offset_s.high or 0) - clock.offset_s.value
        text.append(
            f"\nits clock is {clock.offset_s.value:+.6f} s ahead (\u00b1 {duration(error_s)})"
        )
    if clock.skew_ppm.value is not None:
        error = float(clock.skew_ppm.high or 0) - clock.skew_ppm.value
        text.append(f"; it goes {clock.skew_ppm.value:+.1f} ppm fast (\u00b1 {error:.1f})")
    return text


def transit_section(association: Association) -> RenderableType | None:
    """Return the way from end to end, by path and sender; None of one capture alone."""
    rows = [
        _row(path.label, end, found)
        for path in association.paths
        for end in ENDS
        if (found := path.directions[end].transit) is not None
    ]
    if not rows:
        return None
    names = COUNTS + DELAYS
    return section("From end to end", Fitted(("path", "sender"), COUNTS, DELAYS, names, rows))


def flow_transit_section(flows: Sequence[Flow]) -> RenderableType | None:
    """Return the same of the flows with the most packets; None of one capture alone."""
    seen = [flow for flow in flows if any(_sent(flow, end) is not None for end in ENDS)]
    largest = sorted(seen, key=_packets, reverse=True)[:MOST_ROWS]
    rows = [
        _row(f"{flow.number} {flow.protocol}", end, found)
        for flow in largest
        for end in ENDS
        if (found := _sent(flow, end)) is not None
    ]
    if not rows:
        return None
    names = COUNTS + DELAYS
    table = Fitted(("flow", "sender"), COUNTS, DELAYS, names, rows)
    return section("Flows from end to end", table)


def _sent(flow: Flow, end: End) -> dict[str, Measure] | None:
    return flow.directions[end].transit


def _packets(flow: Flow) -> float:
    found = [_sent(flow, end) for end in ENDS]
    return sum(one["sent_packets"].value or 0 for one in found if one is not None)


def _row(label: str, end: End, found: dict[str, Measure]) -> dict[str, str]:
    def time(name: str) -> str:
        return shown(found[name], lambda ns: duration(ns / 1e9))

    return {
        "path": label,
        "flow": label,
        "sender": end,
        "sent": number(found["sent_packets"]),
        "lost": number(found["lost_packets"]),
        "ratio": shown(found["loss_ratio"], ratio),
        "reordered": number(found["reordered_packets"]),
        "delay min": time("one_way_delay_min_ns"),
        "p50": time("one_way_delay_p50_ns"),
        "p99": time("one_way_delay_p99_ns"),
        "jitter": time("jitter_w_ns"),
    }
