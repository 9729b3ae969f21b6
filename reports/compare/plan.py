"""How many runs a comparison takes: `pathscope.plan/1` and the same as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from ...dissectors import _core
from ..layout import grid
from ..units import file_name
from . import cells

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ...analyzer.compare.plan import Planned

SCHEMA = "pathscope.plan/1"

Node = dict[str, Any]


def document(found: Sequence[Planned], change: str, seed: int) -> Node:
    """Return a plan as one JSON document (docs/compare.md)."""
    return {
        "schema": SCHEMA,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "change": change,
        "seed": seed,
        "rows": [_row(one) for one in found],
    }


def _row(one: Planned) -> Node:
    return {
        "group": file_name(one.group),
        "metric": one.sample.metric,
        "place": file_name(one.sample.place),
        "unit": one.sample.unit,
        "n": len(one.sample.values),
        "mean": one.mean,
        "change": one.change,
        "runs": None if one.need is None else one.need.runs,
        "power": None if one.need is None else one.need.power,
        "why": one.why,
    }


def report(told: Node) -> Group:
    """Render a plan."""
    columns = ("group", "metric", "where", "mean", "change", "runs a side", "power")
    table = grid(*columns, right=("mean", "change", "runs a side", "power"))
    for row in told["rows"]:
        unit = row["unit"]
        table.add_row(
            row["group"],
            row["metric"],
            row["place"],
            cells.NOTHING if row["mean"] is None else cells.number(row["mean"], unit),
            cells.NOTHING if row["change"] is None else cells.number(row["change"], unit),
            row["why"] or _runs(row),
            cells.NOTHING if row["power"] is None else f"{row['power'] * 100:.0f} %",
        )
    title = f"Runs a side that show a change of {told['change']} in 80 % of comparisons"
    return Group(Text(title), "", table)


def _runs(row: Node) -> str:
    return "more than 200" if row["runs"] is None else str(row["runs"])
