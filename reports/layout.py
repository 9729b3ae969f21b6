"""What the parts of the console report are made of: sections, tables, numbers as text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from ..analyzer.measure import Instant, Measure

INDENT = 2

SEVERITY_STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}

ABSENT = "-"


def section(title: str, body: RenderableType) -> Group:
    """Put a title above a part."""
    return Group("", Text(title, style="bold cyan"), Padding(body, (0, 0, 0, INDENT), expand=False))


def grid(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """Make a table without lines; the columns in `right` have numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in columns:
        is_number = column in right
        table.add_column(
            column, justify="right" if is_number else "left", overflow="fold", no_wrap=is_number
        )
    return table


@dataclass(frozen=True, slots=True)
class Fitted:
    """A table of rows by column name; two tables where the terminal is too narrow for one.

    `keys` are the columns that both begin with, `first` and `second` those of either.
    """

    keys: tuple[str, ...]
    first: tuple[str, ...]
    second: tuple[str, ...]
    right: tuple[str, ...]
    rows: list[dict[str, str]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        whole = self._table((*self.first, *self.second))
        if whole.__rich_measure__(console, options.update(width=1000)).maximum <= options.max_width:
            yield whole
            return
        yield self._table(self.first)
        if self.second:
            yield ""
            yield self._table(self.second)

    def _table(self, names: tuple[str, ...]) -> Table:
        columns = (*self.keys, *names)
        table = grid(*columns, right=self.right)
        for row in self.rows:
            table.add_row(*(row[name] for name in columns))
        return table


def time(instant: Instant, start_ns: int) -> str:
    """Seconds since the capture's first frame, with the bounds of an inferred instant."""
    if instant.ns is None:
        return ABSENT
    if instant.low_ns is not None and instant.high_ns is not None:
        low, high = ((ns - start_ns) / 1e9 for ns in (instant.low_ns, instant.high_ns))
        return f"{low:.6f} to {high:.6f} s"
    return f"{(instant.ns - start_ns) / 1e9:.6f} s"


def number(measure: Measure | None) -> str:
    """Return a number as it is."""
    return ABSENT if measure is None or measure.value is None else f"{measure.value}"


def shown(measure: Measure | None, form: Callable[[float], str]) -> str:
    """Return a number in a form for people."""
    return ABSENT if measure is None or measure.value is None else form(float(measure.value))
