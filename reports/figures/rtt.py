"""Round-trip times of each path, with the RTO that RFC 9260 makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from . import bins, clock, columns
from .about import About
from .sheet import Sheet, empty, level, path_marking
from .text import counted, escaped, left_out

if TYPE_CHECKING:
    import plotly.graph_objects as go
    import pyarrow as pa

    from .columns import Floats, Ints
    from .look import Look
    from .part import Part, Window

ABOUT = About(
    title="Round-trip time and RTO",
    question="How long did acknowledgements take, and how long would T3-rtx have waited?",
    unit=f"ms, on a logarithmic axis; {clock.SECONDS}",
    definition=(
        "Mean of a time bin's RTT samples, one a SACK: DATA sent once (Karn's rule), to the SACK "
        "that covers it. RTO model: SRTT + 4 RTTVAR (RFC 9260 section 6.3.1) of one chunk a round "
        "trip, delayed SACKs and all, and of HEARTBEATs; it holds until the next one, and is that "
        "before RTO.Min and RTO.Max clamp it and expiries double it. An expiry of T3-rtx is "
        "inferred from the retransmission that it causes; its height is the time since the timer "
        "was started."
    ),
    basis=("observed", "inferred"),
)

MOST_PATHS = 8

HEIGHT_PX = 400

MOST_FINE = 300
"""Greatest by least: up to here, decades alone are too few ticks."""


@dataclass(frozen=True, slots=True)
class PathTimes:
    """Round-trip times of one path: x in seconds, y in ms (NaN: absent), by time bin."""

    path: int
    x: Floats
    mean_ms: Floats
    least_ms: Floats
    greatest_ms: Floats
    srtt_ms: Floats
    rto_ms: Floats


@dataclass(frozen=True, slots=True)
class Expiries:
    """Expiries of T3-rtx, a row each: path, seconds, how long the timer ran in ms, frame."""

    path: Ints
    x: Floats
    elapsed_ms: Floats
    frame: Ints


@dataclass(frozen=True, slots=True)
class Rtt:
    """What the figure draws; x in seconds since frame 1.

    Attributes
    ----------
    clamps_ms
        RTO.Min and RTO.Max of the sender by name, where they are inferred.
    at_receiver
        Whether the capture was taken where round trips of the sender are not seen.
    """

    labels: tuple[str, ...]
    from_s: float
    to_s: float
    bin_s: float
    paths: tuple[PathTimes, ...]
    expiries: Expiries
    clamps_ms: dict[str, float]
    at_receiver: bool


def inputs(part: Part, window: Window | None = None) -> Rtt | None:
    """Return what the figure draws of one sender's round trips; None without a ledger."""
    if part.tables is None:
        return None
    seen = part.window(window)
    wanted = part.paths(MOST_PATHS)
    table = bins.ordered(bins.in_window(part.rows("intervals", part.sender), part.bin_ns, seen))
    timeouts = columns.touching(
        part.rows("timeouts", part.sender), "time_ns", "time_ns", seen.from_ns, seen.to_ns
    )
    timeouts = columns.chosen(timeouts, np.isin(columns.integers(timeouts, "path"), wanted))
    timers = part.association["timers"][part.sender]
    names = {"rto_min_s": "RTO.Min", "rto_max_s": "RTO.Max"}
    return Rtt(
        labels=part.labels,
        from_s=part.seconds(seen.from_ns),
        to_s=part.seconds(seen.to_ns),
        bin_s=part.bin_ns / columns.NS_PER_S,
        paths=tuple(_times(part, table, path) for path in wanted),
        expiries=Expiries(
            columns.integers(timeouts, "path"),
            columns.seconds(timeouts, "time_ns", part.origin_ns),
            columns.numbers(timeouts, "elapsed_ns", 1e-6),
            columns.integers(timeouts, "frame"),
        ),
        clamps_ms={
            word: timers[key]["value"] * 1000
            for key, word in names.items()
            if timers[key]["value"] is not None
        },
        at_receiver=part.is_captured_at_receiver,
    )


def _times(part: Part, table: pa.Table, path: int) -> PathTimes:
    own = columns.of(table, path=path)
    count = columns.numbers(own, "rtt_count")
    count[count == 0] = np.nan
    # At the receiver the document has no model either: its round trips are not the sender's.
    model = np.nan if part.is_captured_at_receiver else 1.0
    return PathTimes(
        path,
        bins.middles(own, part.bin_ns, part.origin_ns),
        columns.numbers(own, "rtt_sum_ns", 1e-6) / count,
        columns.numbers(own, "rtt_min_ns", 1e-6),
        columns.numbers(own, "rtt_max_ns", 1e-6),
        columns.numbers(own, "srtt_ns", 1e-6) * model,
        columns.numbers(own, "rto_model_ns", 1e-6) * model,
    )


def draw(found: Rtt | None, look: Look) -> go.Figure:
    """Return the figure."""
    if found is None:
        return empty("A stored result has no ledger: there are no time bins to draw.", look)
    if not _has_any(found):
        return empty("No round trip of this sender was seen on these paths in this window.", look)
    sheet = Sheet(look, lines=2 * len(found.paths) + 1, height_px=HEIGHT_PX)
    for one in found.paths:
        _draw_path(sheet, one, escaped(found.labels[one.path]), found.bin_s)
    _draw_expiries(sheet, found)
    for value_ms, names in _levels(found.clamps_ms).items():
        level(sheet.figure, value_ms, f"{names} (inferred)", look, is_log=True)
    sheet.axes(y=["round-trip time, RTO [ms]"], x_range=(found.from_s, found.to_s))
    sheet.figure.update_yaxes(type="log", dtick=_ticks(found), tickformat="~g")
    return sheet.done(*_words(found))


def _ticks(found: Rtt) -> int | str:
    """Return the ticks of the logarithmic axis: decades, or 1, 2, 5 where there are few of them."""
    columns = [each for one in found.paths for each in (one.mean_ms, one.rto_ms)]
    every = np.concatenate((*columns, found.expiries.elapsed_ms))
    known = every[np.isfinite(every) & (every > 0)]
    is_wide = len(known) > 0 and known.max() > MOST_FINE * known.min()
    return 1 if is_wide else "D2"


def _has_any(found: Rtt) -> bool:
    known = (np.isfinite(each).any() for one in found.paths for each in (one.mean_ms, one.rto_ms))
    return bool(len(found.expiries.x)) or any(known)


def _draw_path(sheet: Sheet, one: PathTimes, label: str, bin_s: float) -> None:
    has_sample = np.isfinite(one.mean_ms)
    x = one.x[has_sample]
    told = np.stack((one.least_ms[has_sample], one.greatest_ms[has_sample]), axis=-1)
    x, mean_ms, told = bins.broken(x, bin_s, one.mean_ms[has_sample], told)
    sheet.line(
        x,
        mean_ms,
        name=f"RTT: {label}",
        path=one.path,
        mode="lines+markers",
        marker=path_marking(one.path, sheet.look, size=4),
        line={"width": 1},
        data=told,
        hovertemplate="%{x:.3f} s: mean %{y:.4g} ms, %{customdata[0]:.4g} to "
        "%{customdata[1]:.4g} ms<extra>%{fullData.name}</extra>",
    )
    known = np.isfinite(one.rto_ms)
    sheet.line(
        # It is that of the end of a bin, and holds until the next round trip.
        one.x[known] + bin_s / 2,
        one.rto_ms[known],
        name=f"RTO model: {label}",
        path=one.path,
        line={"width": 2.4, "shape": "hv"},
        opacity=0.55,
        hovertemplate="%{x:.3f} s: %{y:.4g} ms<extra>%{fullData.name}</extra>",
    )


def _draw_expiries(sheet: Sheet, found: Rtt) -> None:
    known = np.isfinite(found.expiries.elapsed_ms)
    for path in np.unique(found.expiries.path[known]).tolist():
        own = known & (found.expiries.path == path)
        sheet.events(
            found.expiries.x[own],
            found.expiries.elapsed_ms[own],
            name=f"T3-rtx expired: {escaped(found.labels[path])}",
            data=found.expiries.frame[own],
            marker=path_marking(
                path,
                sheet.look,
                symbol="x",
                size=10,
                line={"width": 1, "color": sheet.look.colours.ink},
            ),
            hovertemplate="%{x:.3f} s: after %{y:.4g} ms, frame %{customdata}"
            "<extra>%{fullData.name}</extra>",
        )


def _levels(clamps_ms: dict[str, float]) -> dict[float, str]:
    """Name the levels: both clamps may be the same."""
    names: dict[float, list[str]] = {}
    for name, value_ms in clamps_ms.items():
        names.setdefault(value_ms, []).append(name)
    return {value_ms: ", ".join(own) for value_ms, own in names.items()}


def _words(found: Rtt) -> list[str]:
    words = []
    if found.at_receiver:
        words.append(
            "Captured at the receiver: round trips are those from there, and there is no RTO model."
        )
    unknown = int(np.isnan(found.expiries.elapsed_ms).sum())
    if unknown:
        words.append(
            f"{counted(unknown, 'expiry', 'expiries')} without the timer's start in the capture: "
            "not drawn."
        )
    words.append(left_out(len(found.labels), len(found.paths), MOST_PATHS))
    return words
