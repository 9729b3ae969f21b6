"""The console report of `analyze`, in the order in which a person asks.

What is in here, which paths, when did traffic move, how long were data held up, why, and what
looks wrong. Times are seconds since the capture's first frame.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ..analyzer.context import ENDS
from ..analyzer.measure import NS_PER_S
from ..analyzer.model import Handover
from . import receivers, streams
from .ends import flow_transit_section, other_end_line, transit_section
from .flows import connection_section, findings_section, flows_section, icmp_section
from .layout import SEVERITY_STYLE, Fitted, grid, number, section, shown, time
from .simulation import simulation_sections
from .units import bits_per_second, duration, file_name, ratio
from .verdicts import verdicts_section

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from ..analyzer.measure import Instant, Measure
    from ..analyzer.model import Association, CaptureResult, End, Excursion, Path, Prediction

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
    "t_first_arrival": "its arrival",
    "t_first_ack": "SACK for the first new DATA",
    "t_recovered": "all that was outstanding delivered",
}
"""The instants worth a line."""

NO_ENDS = {
    "open": "still open",
    "no-answer": "never answered",
    "idle": "no longer followed, to make room for others",
}
"""How associations are left that nothing ended."""

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
    if capture.other_end is not None:
        parts.append(other_end_line(capture.other_end))
    parts += [Text(f"warning: {warning}", style="yellow") for warning in capture.warnings]
    start_ns = capture.capture["start_ns"] or 0
    for association in capture.associations:
        parts += ["", *_association(association, start_ns)]
    if capture.simulation is not None:
        parts += simulation_sections(capture.simulation)
    if capture.flows:
        parts.append(flows_section(capture.flows, start_ns))
        # A trace's routes have told of them.
        transit = flow_transit_section(capture.flows)
        if transit is not None and capture.simulation is None:
            parts.append(transit)
    parts += [connection_section(connection, start_ns) for connection in capture.connections]
    if any(flow.findings for flow in capture.flows):
        parts.append(findings_section(capture.flows))
    if capture.icmp:
        parts.append(icmp_section(capture.icmp, start_ns))
    if capture.verdicts:
        parts.append(verdicts_section(capture.verdicts))
    return Group(*parts)


def _head(capture: CaptureResult) -> Text:
    facts = capture.capture
    frames = facts["frames"]
    text = Text(file_name(capture.path), style="bold")
    compressed = f", {facts['compression']}" if facts["compression"] else ""
    unit = "lines" if capture.simulation is not None else "frames"
    text.append(f"\n{facts['format']}{compressed}: {frames['read']} {unit}", style="not bold")
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
        f"set up at {time(association.established, start_ns)}"
        if association.established.ns is not None
        else "setup not in the capture"
    )
    how = association.how_it_ended
    head.append(
        f"\n{lasted_s:.3f} s, {setup}, {NO_ENDS.get(how, f'ended by {how}')}", style="not bold"
    )
    place = association.captured_at
    if place != "unknown":
        where = "between the ends" if place == "between" else f"at {place}"
        head.append(f"; captured {where}", style="not bold")
    for line in (*streams.protection(association), *receivers.lines(association)):
        head.append(f"\n{line}", style="not bold")
    parts: list[RenderableType] = [head]
    parts.append(section("Paths", _paths(association)))
    transit = transit_section(association)
    if transit is not None:
        parts.append(transit)
    parts.append(section("Where new DATA went", _timeline(association, start_ns)))
    parts += [
        section(_handover_title(handover, number, association), _handover(handover, start_ns))
        for number, handover in enumerate(association.handovers, start=1)
    ]
    if association.asconf:
        parts.append(section("ASCONF", _asconf(association, start_ns)))
    messages = streams.messages(association)
    if messages is not None:
        parts.append(section("Messages", messages))
    timers = _timers(association)
    if timers.row_count:
        parts.append(section("Timers, inferred", timers))
    if association.findings:
        parts.append(section("What looks wrong", _findings(association)))
    return parts


VOLUMES = ("packets", "DATA", "again", "ratio")
TIMES = ("goodput", "RTT p50", "p95", "HB", "lost")


def _paths(association: Association) -> Fitted:
    rows = [_path_row(path, end) for path in association.paths for end in ENDS]
    return Fitted(("path", "sender"), ("addresses", *VOLUMES), TIMES, VOLUMES + TIMES, rows)


def _path_row(path: Path, end: End) -> dict[str, str]:
    metrics = path.directions[end].metrics
    beats = path.directions[end].heartbeats
    return {
        "path": path.label if end == "a" else "",
        "sender": end,
        "addresses": path.a_address if end == "a" else path.b_address,
        "packets": number(metrics.get("packets")),
        "DATA": number(metrics.get("data_chunks")),
        "again": number(metrics.get("retransmitted_chunks")),
        "ratio": shown(metrics.get("retransmission_ratio"), ratio),
        "goodput": shown(metrics.get("goodput_bps"), bits_per_second),
        "RTT p50": shown(metrics.get("rtt_p50_ns"), lambda ns: duration(ns / 1e9)),
        "p95": shown(metrics.get("rtt_p95_ns"), lambda ns: duration(ns / 1e9)),
        "HB": number(beats["sent"]),
        "lost": number(beats["unanswered"]),
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
            at = time(move.instants["t_first_new"], start_ns)
            line += f" -> {association.paths[move.to_path].label} at {at} ({move.cause})"
        if not moves:
            line += ", no handover"
        line += _worse(association.path_choice[end].metrics)
        if excursions:
            line += f"; {len(excursions)} excursions that came back"
        lines.append(line)
    return "\n".join(lines)


def _worse(metrics: dict[str, Measure]) -> str:
    """Say of a sender that was on a worse path most of the time that can be judged that it was."""
    worse_s, judged_s = (metrics[name].value or 0 for name in ("worse_s", "judged_s"))
    excess_ns = metrics["excess_rtt_mean_ns"].value
    if excess_ns is None or worse_s <= judged_s / 2:
        return ""
    less = duration(excess_ns / NS_PER_S)
    at_hand = f"a faster path was at hand (round trip {less} less)"
    return f"; for {duration(worse_s)} of {duration(judged_s)} {at_hand}"


def _when(change: Handover | Excursion) -> int:
    moved = change.instants["t_first_new"] if isinstance(change, Handover) else change.start
    return moved.ns or 0


def _handover_title(handover: Handover, number: int, association: Association) -> str:
    source = association.paths[handover.from_path].label
    target = association.paths[handover.to_path].label
    return f"Handover {number} of {handover.sender}: {source} -> {target}, {handover.cause}"


def _handover(handover: Handover, start_ns: int) -> Group:
    table = grid("when", "", "frame", "basis", right=("frame",))
    present = {
        name: instant for name, instant in handover.instants.items() if instant.ns is not None
    }
    shown = [name for name in INSTANT_WORDS if name in present and _is_worth_a_line(name, present)]
    for name in sorted(shown, key=lambda name: present[name].ns or 0):
        instant = present[name]
        table.add_row(
            time(instant, start_ns),
            INSTANT_WORDS[name],
            ""
            if instant.frame is None
            else f"{instant.frame}{' there' if instant.elsewhere else ''}",
            instant.basis or "",
        )
    spans = grid("how long", "", "")
    for name, words in METRIC_WORDS.items():
        measure = handover.metrics[name]
        if measure.value is not None:
            spans.add_row(_span(measure), words, measure.note or "")
    waits = handover.metrics["timeouts_before_move"].value
    if waits:
        spans.add_row(str(waits), "time-outs on the old path before the move", "")
    if handover.prediction is not None and handover.prediction.measured_s.value is not None:
        took = "that they took from the first timer on"
        spans.add_row(_span(handover.prediction.measured_s), took, _kept_by(handover.prediction))
    why = Text("Why: " + "; ".join(handover.explanation) + ".")
    return Group(table, "", spans, "", why)


def _kept_by(prediction: Prediction) -> str:
    """Say which predictions the measured time agrees with, where there are any."""
    fitting = [form.name for form in prediction.forms if form.within_granularity]
    return f"as predicted by {', '.join(fitting)}" if fitting else ""


def _is_worth_a_line(name: str, present: dict[str, Instant]) -> bool:
    """An arrival that is no other instant than the sending is none."""
    return name != "t_first_arrival" or present[name].elsewhere


def _span(measure: Measure) -> str:
    value = duration(float(measure.value or 0))
    if measure.low is not None and measure.high is not None:
        value += f" ({duration(float(measure.low))} to {duration(float(measure.high))})"
    return value


def _asconf(association: Association, start_ns: int) -> Group:
    table = grid("when", "by", "request", "address", "frame", "ACK after", "ACK frame", "outcome")
    for exchange in association.asconf:
        table.add_row(
            time(exchange.at, start_ns),
            exchange.sender,
            exchange.request,
            exchange.address or "",
            str(exchange.at.frame),
            shown(exchange.delay_s, duration),
            "" if exchange.ack.frame is None else str(exchange.ack.frame),
            exchange.outcome + (f": {exchange.cause}" if exchange.cause else ""),
        )
    parts: list[RenderableType] = [table]
    for region in association.handoff_regions:
        rates = ", ".join(
            f"{shown(region.metrics[f'goodput_{where}_bps'], bits_per_second)} {where}"
            for where in ("before", "inside", "after")
        )
        parts.append(
            f"handoff region of {region.sender}: {time(region.start, start_ns)} to"
            f" {time(region.end, start_ns)}; goodput {rates}"
        )
    return Group(*parts)


def _timers(association: Association) -> Table:
    table = grid("sender", "setting", "value", "bounds", "evidence")
    for end in ENDS:
        for name, timer in association.timers[end].items():
            measure = timer.measure
            bounds = "" if measure.low is None else f"{measure.low:.4g} to {measure.high:.4g}"
            table.add_row(end, name, f"{measure.value:g}", bounds, timer.text)
    return table


def _findings(association: Association) -> Table:
    table = grid("", "", "frames")
    for finding in association.findings:
        frames = ", ".join(map(str, finding.frames))
        table.add_row(
            Text(finding.severity, style=SEVERITY_STYLE[finding.severity]), finding.text, frames
        )
    return table
