"""What a figure shows, as a table: for a download that has neither more nor less than the eye."""

from __future__ import annotations

from html import unescape
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from . import clock

if TYPE_CHECKING:
    from collections.abc import Iterator

    import plotly.graph_objects as go

SCHEMA = pa.schema(
    [
        ("trace", pa.string()),
        ("x_axis", pa.string()),
        ("x", pa.string()),
        ("y_axis", pa.string()),
        ("y", pa.string()),
        ("low", pa.string()),
        ("high", pa.string()),
        ("data", pa.string()),
    ]
)
"""Traces are named as in the legend, axes with their units. `low` and `high` are bounds of what is
inferred, or both ends of a bar; `data` is the frame, or what else is told of a point."""


def table(figure: go.Figure) -> pa.Table:
    """Return every point that a figure draws, in its order.

    Values are text: an axis may have times and words, and a number keeps its digits. Times since
    frame 1 have all nine decimals, as tables have them; lanes are called by their names. What is
    absent is null.
    """
    rows = [row for trace in figure.data for row in _titled(figure, trace)]
    return pa.table(
        {
            name: pa.array([_text(row[place]) for row in rows], pa.string())
            for place, name in enumerate(SCHEMA.names)
        },
        schema=SCHEMA,
    )


Row = tuple[Any, ...]


def _titled(figure: go.Figure, trace: Any) -> Iterator[Row]:
    """Yield the rows of a trace with the titles of its axes, in the words of those axes."""
    across, upward = (_axis(figure, one) for one in (trace.xaxis or "x", trace.yaxis or "y"))
    x_axis, y_axis = _title(figure, across), _title(figure, upward)
    timed = _time if x_axis == clock.TITLE else _text
    bound = timed if _along_x(trace) else _text
    lanes = _lanes(upward)
    for name, x, y, low, high, data in _rows(trace):
        lane = lanes[round(y)] if lanes and 0 <= round(y) < len(lanes) else y
        yield name, x_axis, timed(x), y_axis, lane, bound(low), bound(high), data


def _axis(figure: go.Figure, name: str) -> Any:
    return figure.layout[f"{name[0]}axis{name[1:]}"]


def _time(value: float | None) -> str | None:
    return None if value is None else clock.written(value)


def _lanes(axis: Any) -> list[str]:
    """Return the names of an axis whose places 0, 1, 2 ... are lanes; none of any other."""
    places = _listed(axis.tickvals)
    return list(axis.ticktext) if places and places == list(range(len(places))) else []


def _title(figure: go.Figure, axis: Any) -> str | None:
    """Return the title of an axis; of panels that share one, only the last has it."""
    if axis.title.text is None and axis.matches is not None:
        return _title(figure, _axis(figure, axis.matches))
    return None if not axis.title.text else unescape(axis.title.text)


def _along_x(trace: Any) -> bool:
    """Whether the bounds of a trace's points are of x."""
    if trace.type == "bar":
        return True
    error = getattr(trace, "error_x", None)  # a box has none
    return error is not None and error.array is not None


def _rows(trace: Any) -> Iterator[Row]:
    name = unescape(trace.name or "")
    if trace.type == "box":
        yield from _box(name, trace)
        return
    if trace.type == "scatter" and trace.mode == "text":
        return  # words beside what another trace draws
    xs, ys = _listed(trace.x), _listed(trace.y)
    data = _listed(trace.customdata) or [None] * len(xs)
    bases = _listed(getattr(trace, "base", None))
    for place, (x, y) in enumerate(zip(xs, ys, strict=True)):
        if x is None or y is None or x != x or y != y:  # noqa: PLR0124  NaN: a break in a line
            continue
        if bases:
            # A bar along x reaches from its base as far as its x says.
            yield name, bases[place], y, bases[place], bases[place] + x, data[place]
        else:
            yield name, x, y, *_bounds(trace, place, x, y), data[place]


def _box(name: str, trace: Any) -> Iterator[Row]:
    if trace.median is not None:
        (median,), (low,), (high,) = trace.median, trace.q1, trace.q3
        yield f"{name}: median, quartiles", median, trace.y[0], low, high, None


def _bounds(trace: Any, place: int, x: Any, y: Any) -> tuple[Any, Any]:
    for value, error in ((x, trace.error_x), (y, getattr(trace, "error_y", None))):
        if error is not None and error.array is not None:
            up, down = error.array[place], error.arrayminus[place]
            if up is not None and down is not None:
                return value - down, value + up
    return None, None


def _listed(values: Any) -> list[Any]:
    if values is None:
        return []
    found: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return found


def _text(value: Any) -> str | None:
    if value is None:
        return None
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "; ".join(_text(one) or "" for one in value)
    return unescape(str(value)).replace("<br>", ", ")
