"""The fidelity report of a replay on the console: the verdict first, then what it stands on."""

from __future__ import annotations

from collections import Counter
from statistics import median
from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ..layout import Fitted, grid, section
from . import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from ...replay.fidelity.model import Fidelity, Pacing, Row, Spread, Step, Verdict

STYLE: dict[Verdict, str] = {"pass": "green", "fail": "bold red", "no verdict": "dim"}

MOST_ROWS = 30
"""Rows of one table; more would not be read."""

FEW_STEPS = 3
"""Of a route: so many are shown one by one, more in a line for each quantity."""

BAR_LETTERS = 40

SENT = ("planned", "sent", "refused", "dropped")
CAME = ("arrived", "lost", "overflow", "corrupt", "copies", "others", "delay p50", "p99")


def report(fidelity: Fidelity) -> Group:
    """Render the report of a replay."""
    parts: list[RenderableType] = [_head(fidelity)]
    failing = _failing(fidelity)
    if failing.row_count:
        parts.append(section("What fails", failing))
    parts.append(section("Frames", _frames(fidelity)))
    parts.append(section("Pace", _pace(fidelity.pacing)))
    if fidelity.rows:
        parts.append(section("Asked and achieved, with 95 % intervals", _achieved(fidelity)))
    if any(step.number for step in fidelity.steps):
        parts.append(section("When steps took effect", _effects(fidelity)))
    if fidelity.balances:
        parts.append(section("Counted by others", _balances(fidelity)))
    parts += ["", *(Text(line, style="dim") for line in _remarks(fidelity))]
    return Group(*parts)


def _head(fidelity: Fidelity) -> Text:
    counts = fidelity.verdicts
    outcome = "FAIL" if fidelity.failed else "pass"
    text = Text("Fidelity: ", style="bold")
    text.append(outcome, style="bold red" if fidelity.failed else "bold green")
    told = ", ".join(f"{count} {name}" for name, count in counts.items())
    text.append(f" ({told})", style="not bold")
    sent = sum(route.sent for route in fidelity.routes)
    lasted = words.time(fidelity.pacing.duration_ns)
    text.append(f"\n{sent:,} frames sent in {lasted}", style="not bold")
    recorded = [route for route in fidelity.routes if route.recorded]
    if recorded:
        arrived = sum(route.arrived for route in recorded)
        lost = sum(route.lost for route in recorded)
        text.append(f"; {arrived:,} arrived as they were, {lost:,} did not", style="not bold")
    return text


def _failing(fidelity: Fidelity) -> Table:
    table = grid("what", "where", "step", "asked", "found", "why")
    for check in fidelity.checks:
        if check.verdict == "fail":
            name = words.quantity(check.quantity)
            found = words.value(check.quantity, check.value)
            where = words.route(fidelity, check.route)
            table.add_row(name, where, "", words.limit(check), found, check.why)
    for row in [row for row in fidelity.rows if row.verdict == "fail"][:MOST_ROWS]:
        table.add_row(
            words.quantity(row.quantity),
            words.route(fidelity, row.route),
            words.step(row.step),
            words.value(row.quantity, row.asked),
            words.achieved(row),
            words.why(row),
        )
    for one in fidelity.balances:
        if one.verdict == "fail":
            counted = f"{one.one} {one.one_count:,}"
            table.add_row("count", one.where, "", f"{one.other} {one.other_count:,}", counted, "")
    return table


def _frames(fidelity: Fidelity) -> Fitted:
    rows = []
    for route in fidelity.routes:
        if not (route.planned or route.others):
            continue
        came = dict.fromkeys(CAME, words.ABSENT)
        if route.recorded:
            delay = route.delay
            came |= {
                "arrived": f"{route.arrived:,}",
                "lost": f"{route.lost:,}",
                "overflow": f"{route.overflow:,}",
                "corrupt": f"{route.corrupted:,}",
                "copies": f"{route.copies:,}",
                "others": f"{route.others:,}",
                "delay p50": words.time(None if delay is None else delay.p50_ns),
                "p99": words.time(None if delay is None else delay.p99_ns),
            }
        sent = {
            "planned": f"{route.planned:,}",
            "sent": f"{route.sent:,}",
            "refused": f"{route.refused:,}",
            "dropped": f"{route.dropped_late:,}",
        }
        rows.append({"route": f"{route.path} {route.direction}"} | sent | came)
    return Fitted(("route",), SENT, CAME, (*SENT, *CAME), rows)


def _pace(pace: Pacing) -> Group:
    table = grid("", "p50", "p95", "p99", "max", right=("p50", "p95", "p99", "max"))
    for name, spread in (
        ("lateness", pace.lateness),
        ("gap error, sender's clock", pace.gap_error),
        ("gap error, capture", pace.captured_gap_error),
    ):
        if spread is not None:
            table.add_row(name, *_quantiles(spread))
    line = (
        f"drift {words.time(pace.drift_ns)} over the run; last minute minus first"
        f" {words.time(pace.last_minus_first_ns)}; {pace.late:,} late, {pace.early:,} early,"
        f" {pace.out_of_order:,} out of order"
    )
    return Group(table, line, "", _histogram(pace))


def _quantiles(spread: Spread) -> list[str]:
    return [words.time(one) for one in (spread.p50_ns, spread.p95_ns, spread.p99_ns, spread.max_ns)]


def _histogram(pace: Pacing) -> Table:
    table = grid("lateness below", "frames", "", right=("lateness below", "frames"))
    most = max((one.count for one in pace.histogram), default=1) or 1
    for one in pace.histogram:
        edge = "more" if one.high_ns is None else _edge(one.high_ns)
        table.add_row(edge, f"{one.count:,}", "#" * -(-one.count * BAR_LETTERS // most))
    return table


def _edge(time_ns: int) -> str:
    for unit, size in (("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1000)):
        if time_ns >= size:
            return f"{time_ns // size} {unit}"
    return f"{time_ns} ns"


def _achieved(fidelity: Fidelity) -> Table:
    table = grid("route", "step", "what", "asked", "achieved", "n", "verdict", right=("n",))
    for route in fidelity.routes:
        own = [row for row in fidelity.rows if row.route == route.route]
        steps = {row.step for row in own if row.step is not None}
        name = f"{route.path} {route.direction}"
        if len(steps) > FEW_STEPS:
            _summarized(table, name, own)
            own = [row for row in own if row.step is None]
        for row in own:
            table.add_row(
                name,
                words.step(row.step),
                words.quantity(row.quantity),
                words.value(row.quantity, row.asked),
                words.achieved(row),
                f"{row.n:,}",
                _verdict(row),
            )
    return table


def _verdict(row: Row) -> Text:
    reason = f": {row.why}" if row.verdict == "no verdict" and row.why else ""
    return Text(row.verdict + reason, style=STYLE[row.verdict])


def _summarized(table: Table, name: str, rows: Sequence[Row]) -> None:
    """Add a line for each quantity of many steps: how many have which verdict."""
    for quantity in dict.fromkeys(row.quantity for row in rows if row.step is not None):
        own = [row for row in rows if row.quantity == quantity and row.step is not None]
        counts = Counter(row.verdict for row in own)
        told = ", ".join(f"{counts[one]} {one}" for one in STYLE if counts[one])
        asked = [row.asked for row in own if row.asked is not None]
        span = words.ABSENT
        if asked:
            ends = dict.fromkeys(words.value(quantity, one) for one in (min(asked), max(asked)))
            span = " to ".join(ends)
        table.add_row(
            name,
            f"{len(own)} steps",
            words.quantity(quantity),
            span,
            _furthest(own),
            f"{sum(row.n for row in own):,}",
            Text(told, style=STYLE["fail" if counts["fail"] else "pass"]),
        )


def _furthest(rows: Sequence[Row]) -> str:
    known = [
        (row.achieved - row.asked, row.quantity)
        for row in rows
        if row.achieved is not None and row.asked is not None and row.verdict != "no verdict"
    ]
    if not known:
        return words.ABSENT
    off, quantity = max(known, key=lambda one: abs(one[0]))
    if not off:
        return "as asked"
    sign = "-" if off < 0 else "+"
    return f"furthest off {sign}{words.value(quantity, abs(off))}"


def _effects(fidelity: Fidelity) -> Group:
    later = [step for step in fidelity.steps if step.number]
    took_ms = [(step.after_ns - step.at_ns) / 1e6 for step in later]
    line = (
        f"{len(later)} changes, set {median(took_ms):.3f} ms after they were asked for (median),"
        f" {max(took_ms):.3f} ms at most"
    )
    return Group(line, "", _each_effect(fidelity, later))


def _each_effect(fidelity: Fidelity, later: Sequence[Step]) -> Table:
    names = ("route", "step", "asked at", "set after", "frames show it after", "left out")
    table = grid(*names, right=names[2:])
    for step in later[:MOST_ROWS]:
        seen = "-"
        if step.seen_by_ns is not None:
            last_ns = step.at_ns if step.seen_after_ns is None else step.seen_after_ns
            seen = f"{_later(last_ns, step.at_ns)} to {_later(step.seen_by_ns, step.at_ns)}"
        table.add_row(
            words.route(fidelity, step.route),
            words.step(step.number),
            f"{step.at_ns / 1e9:.3f} s",
            f"{_later(step.before_ns, step.at_ns)} to {_later(step.after_ns, step.at_ns)}",
            seen,
            str(step.left_out),
        )
    if len(later) > MOST_ROWS:
        table.caption = f"{len(later) - MOST_ROWS} more: see the JSON document"
    return table


def _later(time_ns: int, at_ns: int) -> str:
    return f"{(time_ns - at_ns) / 1e6:.3f} ms"


def _balances(fidelity: Fidelity) -> Group:
    """What does not agree, and how much does."""
    names = ("route", "one", "other", "difference", "explained by", "verdict")
    table = grid(*names, right=("difference",))
    differing = [one for one in fidelity.balances if one.difference]
    for one in differing:
        explained = f"{one.explained:,} {one.explanation}" if one.explained else ""
        table.add_row(
            one.where,
            f"{one.one} {one.one_count:,}",
            f"{one.other} {one.other_count:,}",
            f"{one.difference:+,}",
            explained,
            Text(one.verdict, style=STYLE[one.verdict]),
        )
    agreeing = len(fidelity.balances) - len(differing)
    line = (
        f"{agreeing} of {len(fidelity.balances)} counts of interfaces, netem and captures agree"
        " to the frame"
    )
    return Group(line, *(("", table) if differing else ()))


def _remarks(fidelity: Fidelity) -> list[str]:
    missed, expected = fidelity.misses
    found = []
    if expected:
        found.append(
            f"{missed} of {round(expected / 0.05)} own 95 % intervals miss what was asked; by"
            f' chance alone up to {expected:.1f} would. A verdict is "fail" when chance, over all'
            " rows together (Holm), explains it less than once in"
            f" {1 / fidelity.tolerances.level:g}."
        )
    found += [
        f"{route.path} {route.direction}: {route.ambiguous:,} frames were, byte by byte, like"
        " others on their way; their delays are not known, and of their losses only the sum."
        for route in fidelity.routes
        if route.ambiguous
    ]
    found += fidelity.notes
    found.append(
        "Frames were sent as recorded: senders did not react to what the links did to them."
    )
    return found
