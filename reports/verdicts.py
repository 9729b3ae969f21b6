"""Verdicts in the result contract and on the console: numbers beside their limits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ..analyzer.measure import NS_PER_S
from .layout import grid, section
from .units import bits_per_second, duration, file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ..analyzer.thresholds import Limit
    from ..analyzer.verdicts import Place, Verdict

STYLE = {"pass": "green", "fail": "bold red", "absent": "dim"}


def verdicts_section(verdicts: Sequence[Verdict]) -> Group:
    """Render what failed, what could not be held to a limit at all, and how many passed."""
    table = grid("", "metric", "where", "value", "limit", right=("value", "limit"))
    held = {one.limit for one in verdicts if one.outcome != "absent"}
    counts = {"pass": 0, "fail": 0, "absent": 0}
    for one in verdicts:
        counts[one.outcome] += 1
        if one.outcome == "fail" or (one.outcome == "absent" and one.place is None):
            table.add_row(
                Text(one.outcome, style=STYLE[one.outcome]),
                one.limit.metric,
                "" if one.place is None else _where(one.place),
                one.measure.reason or _shown(one),
                _limit(one.limit),
            )
        elif one.limit not in held:
            held.add(one.limit)  # told once: every place has its own reason
            table.add_row(
                Text("absent", style=STYLE["absent"]),
                one.limit.metric,
                "everywhere",
                one.measure.reason or "",
                _limit(one.limit),
            )
    line = ", ".join(f"{count} {outcome}" for outcome, count in counts.items())
    title = f"Verdicts ({file_name(verdicts[0].thresholds)})"
    return section(title, Group(table, "", line) if table.row_count else Text(line))


def _shown(verdict: Verdict) -> str:
    value = _number(verdict.limit.metric, float(verdict.measure.value or 0))
    return value if verdict.certain else f"{value}, not certain"


def _number(metric: str, value: float) -> str:
    """Return a number in a form for people, by the unit that its name ends in."""
    for suffix, form in _FORMS.items():
        if metric.endswith(suffix):
            return form(value)
    return f"{value:g}"


_FORMS: dict[str, Callable[[float], str]] = {
    "_ns": lambda ns: duration(ns / NS_PER_S),
    "_s": duration,
    "_bps": bits_per_second,
}


def _limit(limit: Limit) -> str:
    found = []
    if limit.low is not None:
        found.append(f"min {_number(limit.metric, limit.low)}")
    if limit.high is not None:
        found.append(f"max {_number(limit.metric, limit.high)}")
    return ", ".join(found)


def _where(place: Place) -> str:
    kinds = ("association", "flow", "connection")
    about = [f"{kind} {number}" for kind in kinds if (number := getattr(place, kind)) is not None]
    inner = [
        f"[{key + 1}]" if isinstance(key, int) else f" {key}"
        for key in place.keys[1:]
        if key != "paths" or place.path is None
    ]
    if place.path is not None:
        about.append(place.path)
        inner = [one for one in inner if one.startswith(" ")]
    text = " ".join(about) + "".join(inner)
    return text if place.sender is None else f"{text} {place.sender}"
