"""Cells as text for people, and as values for downloads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..units import bits_per_second, duration, ratio
from .blocks import Link, Number

if TYPE_CHECKING:
    from ..figures.about import Basis
    from .blocks import Cell, Column, Table

NS_PER_S = 1e9
NOTHING = "\N{EN DASH}"
TRUE, FALSE = "yes", "no"


def text(cell: Cell) -> str:
    """Return a cell as people read it.

    >>> text(1500), text(True), text(Number({"value": 3.187, "basis": "annotated"}, "s"))
    ('1,500', 'yes', '3.187 s')
    """
    match cell:
        case None:
            return NOTHING
        case bool():
            return TRUE if cell else FALSE
        case Link():
            return cell.text
        case Number():
            return number(cell.node["value"], cell.unit)
        case int() | float():
            return number(cell, "")
    return cell


def number(value: float | None, unit: str) -> str:
    """Return a number with its unit.

    >>> number(10_216_000, "ns"), number(277600.0, "bit/s"), number(15 / 1515, "1")
    ('10.216 ms', '277.6 kbit/s', '0.99 %')
    """
    if value is None:
        return NOTHING
    match unit:
        case "s":
            return duration(value)
        case "ns":
            return duration(value / NS_PER_S)
        case "bit/s":
            return bits_per_second(value)
        case "1":
            return ratio(value)
    shown = f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"
    return f"{shown} {unit}".strip()


def hint(cell: Cell) -> str:
    """Return what is said about a cell beside it: bounds, note, reason."""
    if not isinstance(cell, Number):
        return ""
    node = cell.node
    if node["value"] is None:
        return f"absent: {node['reason']}"
    parts = [str(node["basis"])]
    if node.get("low") is not None and node.get("high") is not None:
        low, high = (number(node[key], cell.unit) for key in ("low", "high"))
        parts.append(f"between {low} and {high}")
    if "note" in node:
        parts.append(node["note"])
    return "; ".join(parts)


def basis(cell: Cell) -> str | None:
    """Return a number's basis; None for what is no number, "absent" for one without a value."""
    if not isinstance(cell, Number):
        return None
    return "absent" if cell.node["value"] is None else str(cell.node["basis"])


BASES: tuple[Basis, ...] = ("observed", "annotated", "inferred")


def bases(table: Table) -> tuple[Basis, ...]:
    """Return how what a table tells is known: as its cells say it, or as it says of itself."""
    places = [place for place, one in enumerate(table.columns) if one.key == "basis"]
    said = {row[place] for row in table.rows for place in places}
    said |= {basis(cell) for row in table.rows for cell in row}
    return tuple(one for one in BASES if one in said) or table.basis


def value(cell: Cell) -> Any:
    """Return a cell as a program takes it: a number's value, a link's text."""
    match cell:
        case Number():
            return cell.node["value"]
        case Link():
            return cell.text
    return cell


def is_number(cell: Cell) -> bool:
    """Whether a cell stands to the right of its column, as numbers do."""
    return basis(cell) is not None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def head(table: Table, place: int) -> str:
    """Return the head of a column, with its unit unless each of its numbers has it.

    Numbers of the contract are shown with a unit that suits their size; a grid shows them bare.
    """
    column = table.columns[place]
    has_own = not table.is_long and any(basis(row[place]) for row in table.rows)
    return f"{column.title} [{column.unit}]" if column.unit and not has_own else column.title


def records(table: Table) -> tuple[list[str], list[list[Any]]]:
    """Return a table as a download has it: heads with units, values as the contract has them."""
    with_basis = [
        any(isinstance(row[index], Number) for row in table.rows)
        for index in range(len(table.columns))
    ]
    heads: list[str] = []
    for column, has_basis in zip(table.columns, with_basis, strict=True):
        heads += _heads(column, has_basis=has_basis)
    rows = []
    for row in table.rows:
        values: list[Any] = []
        for cell, has_basis in zip(row, with_basis, strict=True):
            values += _values(cell, has_basis=has_basis)
        rows.append(values)
    return heads, rows


PARTS = ("basis", "low", "high", "reason")


def _heads(column: Column, *, has_basis: bool) -> list[str]:
    if not has_basis:
        return [column.key]
    return [column.key, *(f"{column.key}_{part}" for part in PARTS)]


def _values(cell: Cell, *, has_basis: bool) -> list[Any]:
    if isinstance(cell, Number):
        return [cell.node["value"], *(cell.node.get(part) for part in PARTS)]
    return [value(cell), *([None] * len(PARTS) if has_basis else [])]
