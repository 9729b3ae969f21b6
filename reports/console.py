"""The console report of `analyze`, in the order in which a person asks.

What is in here, which paths, when did traffic move, how long were data held up, why, and what
looks wrong. Times are seconds since the capture's first frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ..analyzer.context import ENDS
from ..analyzer.model import Handover
from . import streams
from .units import bits_per_second, duration, file_name, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ..analyzer.measure import Instant, Measure
    from ..analyzer.model import Association, CaptureResult, End, Excursion, Path

INDENT = 2

SEVERITY_STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}

INSTANT_WORDS = {
    "t_last_ok": "last DATA that the old path delivered",
    "t_last_sack": "SACK for that",
    "t_fail": "link failed",
    "t_last_data_old": "last DATA sent on the old path",
    "t_first_timeout": "first time-out",
    "t_return_link": "link came back",
    "t_return_packet": "first packet heard on it again",
    "t_decision": "decision",
    "t_first_new": "first new DATA on the new path",
    "t_first_ack": "SACK for the first new DATA",
    "t_recovered": "all that was outstanding delivered",
}
"""The instants worth a line."""

METRIC_WORDS = {
    "link_failure_recovery_s": "from failure to new path",
    "failure_detection_s": "of which detection",
    "link_recognition_s": "from link's return to DATA on it",
    "handover_delay_s": "from decision to new path",
    "data_interruption_s": "without DATA being sent",
    "delivery_gap_s": "longest stop of delivery",
    "recovery_completion_s": "from failure to full recovery",
    "predicted_failover_s": "predicted",
    "predicted_failover_bokor_s": "predicted",
}


def report(capture: CaptureResult) -> Group:
    """Render one capture."""
    parts: list[RenderableType] = [_head(capture)]
    parts += [Text(f"warning: {warning}", style="yellow") for warning in capture.warnings]
    start_ns = capture.capture["start_ns"] or 0
    for association in capture.associations:
        parts += ["", *_association(association, start_ns)]
    return Group(*parts)


def _head(capture: CaptureResult) -> Text:
    facts = capture.capture
    frames = facts["frames"]
    text = Text(file_name(capture.path), style="bold")
    compressed = f", {facts['compression']}" if facts["compression"] else ""
    text.append(f"\n{facts['format']}{compressed}: {frames['read']} frames", style="not bold")
    if facts["start_ns"] is not None:
        text.append(f" in {(facts['end_ns'] - facts['start_ns']) / 1e9:.3f} s", style="not bold")
    skipped = ", ".join(f"{count} {reason}" for reason, count in frames["skipped"].items())
    text.append(
        f" = {frames['dissected']} dissected + {frames['partial']} partial"
        f" + {sum(frames['skipped'].values())} skipped" + (f" ({skipped})" if skipped else ""),
        style="not bold",
    )
    return text


def _association(association: Association, start_ns: int) -> list[RenderableType]:
    a, b = (association.endpoints[end] for end in ENDS)
    head = Text(f"Association {association.number}", style="bold")
    head.append(
        f"  a {', '.join(a.addresses)} port {a.port}  b {', '.join(b.addresses)} port {b.port}",
        style="not bold",
    )
    lasted_s = ((association.end.ns or 0) - (association.start.ns or 0)) / 1e9
    setup = (
        f"set up at {_time(association.established, start_ns)}"
        if association.established.ns is not None
        else "setup not in the capture"
    )
    head.append(
        f"\n{lasted_s:.3f} s, {setup}, ended by {association.how_it_ended}"
        if association.how_it_ended not in ("open", "no-answer")
        else f"\n{lasted_s:.3f} s, {setup}, "
        + ("never answered" if association.how_it_ended == "no-answer" else "still open"),
        style="not bold",
    )
    place = association.captured_at
    if place != "unknown":
        where = "between the ends" if place == "between" else f"at {place}"
        head.append(f"; captured {where}", style="not bold")
    for line in streams.protection(association):
        head.append(f"\n{line}", style="not bold")
    parts: list[RenderableType] = [head]
    parts.append(_section("Paths", _Paths(association)))
    parts.append(_section("Where new DATA went", _timeline(association, start_ns)))
    parts += [
        _section(_handover_title(handover, number, association), _handover(handover, start_ns))
        for number, handover in enumerate(association.handovers, start=1)
    ]
    if association.asconf:
        parts.append(_section("ASCONF", _asconf(association, start_ns)))
    messages = streams.messages(association)
    if messages is not None:
        parts.append(_section("Messages", messages))
    timers = _timers(association)
    if timers.row_count:
        parts.append(_section("Timers, inferred", timers))
    if association.findings:
        parts.append(_section("What looks wrong", _findings(association)))
    return parts


def _section(title: str, body: RenderableType) -> Group:
    return Group("", Text(title, style="bold cyan"), Padding(body, (0, 0, 0, INDENT), expand=False))


def _grid(*columns: str, right: tuple[str, ...] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        number = column in right
        table.add_column(
            column, justify="right" if number else "left", overflow="fold", no_wrap=number
        )
    return table


@dataclass(frozen=True, slots=True)
class _Paths:
    """The table of paths; two tables where the terminal is too narrow for one."""

    association: Association

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = self._table(("addresses", *VOLUMES, *TIMES))
        if whole.__rich_measure__(console, options.update(width=1000)).maximum <= options.max_width:
            yield whole
            return
        yield self._table(("addresses", *VOLUMES))
        yield ""
        yield self._table(TIMES)

    def _table(self, names: tuple[str, ...]) -> Table:
        table = _grid("path", "sender", *names, right=VOLUMES + TIMES)
        for path in self.association.paths:
            for end in ENDS:
                row = _path_row(path, end)
                table.add_row(path.label if end == "a" else "", end, *(row[name] for name in names))
        return table


VOLUMES = ("packets", "DATA", "again", "ratio")
TIMES = ("goodput", "RTT p50", "p95", "HB", "lost")


def _path_row(path: Path, end: End) -> dict[str, str]:
    metrics = path.directions[end].metrics
    beats = path.directions[end].heartbeats
    return {
        "addresses": path.a_address if end == "a" else path.b_address,
        "packets": _number(metrics.get("packets")),
        "DATA": _number(metrics.get("data_chunks")),
        "again": _number(metrics.get("retransmitted_chunks")),
        "ratio": _shown(metrics.get("retransmission_ratio"), ratio),
        "goodput": _shown(metrics.get("goodput_bps"), bits_per_second),
        "RTT p50": _shown(metrics.get("rtt_p50_ns"), lambda ns: duration(ns / 1e9)),
        "p95": _shown(metrics.get("rtt_p95_ns"), lambda ns: duration(ns / 1e9)),
        "HB": _number(beats["sent"]),
        "lost": _number(beats["unanswered"]),
    }


def _timeline(association: Association, start_ns: int) -> RenderableType:
    """One line a sender: the path at the start, and each handover."""
    lines = []
    for end in ENDS:
        used = {
            path.number: path.directions[end].metrics["new_chunks"].value
            for path in association.paths
            if "new_chunks" in path.directions[end].metrics
        }
        carried = {number: chunks for number, chunks in used.items() if chunks}
        if not carried:
            lines.append(f"{end} sent no DATA")
            continue
        moves = [handover for handover in association.handovers if handover.sender == end]
        excursions = [move for move in association.excursions if move.sender == end]
        changes: list[Handover | Excursion] = [*moves, *excursions]
        changes.sort(key=_when)
        first = changes[0].from_path if changes else max(carried, key=lambda p: carried[p] or 0)
        line = f"{end}: {association.paths[first].label}"
        for move in moves:
            at = _time(move.instants["t_first_new"], start_ns)
            line += f" -> {association.paths[move.to_path].label} at {at} ({move.cause})"
        if not moves:
            line += ", no handover"
        if excursions:
            line += f"; {len(excursions)} excursions that came back"
        lines.append(line)
    return "\n".join(lines)


def _when(change: Handover | Excursion) -> int:
    moved = change.instants["t_first_new"] if isinstance(change, Handover) else change.start
    return moved.ns or 0


def _handover_title(handover: Handover, number: int, association: Association) -> str:
    source = association.paths[handover.from_path].label
    target = association.paths[handover.to_path].label
    return f"Handover {number} of {handover.sender}: {source} -> {target}, {handover.cause}"


def _handover(handover: Handover, start_ns: int) -> Group:
    table = _grid("when", "", "frame", "basis", right=("frame",))
    present = {
        name: instant for name, instant in handover.instants.items() if instant.ns is not None
    }
    shown = [name for name in INSTANT_WORDS if name in present]
    for name in sorted(shown, key=lambda name: present[name].ns or 0):
        instant = present[name]
        table.add_row(
            _time(instant, start_ns),
            INSTANT_WORDS[name],
            "" if instant.frame is None else str(instant.frame),
            instant.basis or "",
        )
    spans = _grid("how long", "", "")
    for name, words in METRIC_WORDS.items():
        measure = handover.metrics[name]
        if measure.value is not None:
            spans.add_row(_span(measure), words, measure.note or "")
    waits = handover.metrics["timeouts_before_move"].value
    if waits:
        spans.add_row(str(waits), "time-outs on the old path before the move", "")
    why = Text("Why: " + "; ".join(handover.explanation) + ".")
    return Group(table, "", spans, "", why)


def _span(measure: Measure) -> str:
    value = duration(float(measure.value or 0))
    if measure.low is not None and measure.high is not None:
        value += f" ({duration(float(measure.low))} to {duration(float(measure.high))})"
    return value


def _asconf(association: Association, start_ns: int) -> Group:
    table = _grid("when", "by", "request", "address", "frame", "ACK after", "ACK frame", "outcome")
    for exchange in association.asconf:
        table.add_row(
            _time(exchange.at, start_ns),
            exchange.sender,
            exchange.request,
            exchange.address or "",
            str(exchange.at.frame),
            _shown(exchange.delay_s, duration),
            "" if exchange.ack.frame is None else str(exchange.ack.frame),
            exchange.outcome + (f": {exchange.cause}" if exchange.cause else ""),
        )
    parts: list[RenderableType] = [table]
    for region in association.handoff_regions:
        rates = ", ".join(
            f"{_shown(region.metrics[f'goodput_{where}_bps'], bits_per_second)} {where}"
            for where in ("before", "inside", "after")
        )
        parts.append(
            f"handoff region of {region.sender}: {_time(region.start, start_ns)} to"
            f" {_time(region.end, start_ns)}; goodput {rates}"
        )
    return Group(*parts)


def _timers(association: Association) -> Table:
    table = _grid("sender", "setting", "value", "bounds", "evidence")
    for end in ENDS:
        for name, timer in association.timers[end].items():
            measure = timer.measure
            bounds = "" if measure.low is None else f"{measure.low:.4g} to {measure.high:.4g}"
            table.add_row(end, name, f"{measure.value:g}", bounds, timer.text)
    return table


def _findings(association: Association) -> Table:
    table = _grid("", "", "frames")
    for finding in association.findings:
        frames = ", ".join(map(str, finding.frames))
        table.add_row(
            Text(finding.severity, style=SEVERITY_STYLE[finding.severity]), finding.text, frames
        )
    return table


def _time(instant: Instant, start_ns: int) -> str:
    if instant.ns is None:
        return "-"
    if instant.low_ns is not None and instant.high_ns is not None:
        low, high = ((ns - start_ns) / 1e9 for ns in (instant.low_ns, instant.high_ns))
        return f"{low:.6f} to {high:.6f} s"
    return f"{(instant.ns - start_ns) / 1e9:.6f} s"


def _number(measure: Measure | None) -> str:
    return "-" if measure is None or measure.value is None else f"{measure.value}"


def _shown(measure: Measure | None, form: Callable[[float], str]) -> str:
    return "-" if measure is None or measure.value is None else form(float(measure.value))
