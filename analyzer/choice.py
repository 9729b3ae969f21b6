"""The path that a sender used against the one of the least predicted delay (Chen 2010, PSASP).

In every time bin with new DATA the paths that it took are held against all that the sender could
have used, by exponential averages of what it had seen of them until then. Time on several paths in
one bin is shared by the bytes on each. A bin is judged where the path used and another one have
samples.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .alternates import alternates
from .averages import KEPT, rates, round_trips
from .columns import ranked
from .context import other
from .measure import NS_PER_S, Measure
from .model import PathChoice, PathForecast
from .usable import usable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .averages import Average
    from .columns import Column
    from .context import Context
    from .model import End, Handover, Path

Averages = dict[int, "Average"]

DELAY = ("worse_s", "worse_chunks", "worse_bytes", "excess_rtt_mean_ns", "excess_rtt_s")
RATE = ("slower_s", "slower_bytes")

NOT_HERE = "{} round trips of this sender's DATA are not seen"
NO_DATA = "the sender sent no DATA"
ONE_PATH = "there is one path"
TOO_FEW = "fewer than two paths have samples"
NEVER_JUDGED = "no DATA while the path used and another one had samples"


def audit(
    context: Context,
    sender: End,
    paths: Sequence[Path],
    handovers: Sequence[Handover],
    vantage: str,
) -> PathChoice:
    """Audit a sender's choice of paths.

    Parameters
    ----------
    context
        The association.
    sender
        Whose choice.
    paths
        Its paths, whose states say when they could be used.
    handovers
        Its handovers, by t_first_new.
    vantage
        Where the capture was taken: round trips of DATA are seen at the sender.
    """
    if (reason := _without_choice(context, sender)) is not None:
        metrics = dict.fromkeys(("active_s", "judged_s", *DELAY, *RATE), Measure.absent(reason))
        return PathChoice(KEPT, metrics, forecasts=(), alternates=())
    hidden = _hidden(sender, vantage)
    delays: Averages = {} if hidden else round_trips(context, sender)
    speeds: Averages = {} if hidden else rates(context, sender)
    reason = hidden or TOO_FEW
    return PathChoice(
        kept=KEPT,
        metrics=_metrics(context, sender, paths, delays, speeds, reason),
        forecasts=tuple(_forecast(path.number, delays, speeds, hidden) for path in paths),
        alternates=alternates(context, sender, handovers, paths, delays, reason),
    )


def _without_choice(context: Context, sender: End) -> str | None:
    """Return why there was nothing to choose: told at once, for captures of very many."""
    if not any(
        totals.sums["new_bytes"]
        for (_, end), totals in context.bins.totals.items()
        if end == sender
    ):
        return NO_DATA
    return ONE_PATH if len(context.paths) == 1 else None


def _hidden(sender: End, vantage: str) -> str | None:
    """Return why round trips of a sender's DATA are not seen, where they are not."""
    if vantage == other(sender):
        return NOT_HERE.format("captured at the receiver:")
    if vantage == "between":
        return NOT_HERE.format("captured between the ends: whole")
    return None


def _forecast(path: int, delays: Averages, speeds: Averages, hidden: str | None) -> PathForecast:
    delay = delays[path].last if path in delays else None
    speed = speeds[path].last if path in speeds else None
    return PathForecast(
        path,
        Measure.absent(hidden or "no round trip on this path")
        if delay is None
        else Measure.observed(delay),
        Measure.absent(hidden or "no DATA acknowledged on this path")
        if speed is None
        else Measure.observed(speed),
    )


@dataclass(frozen=True, slots=True)
class _Use:
    """Which paths a sender's new DATA took: a row is a path in a bin; arrays of shape (n,)."""

    path: Column
    begin_ns: Column
    time_ns: Column
    new_bytes: Column
    new_chunks: Column

    @classmethod
    def of(cls, context: Context, sender: End) -> _Use:
        columns, row = context.bins.columns, context.row
        own = (columns["is_b"] == (sender == "b")) & (columns["new_bytes"] > 0)
        path, start_ns, new_bytes, new_chunks = (
            columns[name][own].astype(np.int64)
            for name in ("path", "start_ns", "new_bytes", "new_chunks")
        )
        bins, places = ranked(start_ns)
        sums = np.bincount(places, new_bytes, len(bins))
        begin_ns = np.maximum(start_ns, row["start_ns"])
        end_ns = np.minimum(start_ns + context.bins.bin_ns, row["end_ns"])
        lasts_ns = np.maximum(end_ns - begin_ns, 0)
        return cls(path, begin_ns, lasts_ns * new_bytes / sums[places], new_bytes, new_chunks)


def _metrics(
    context: Context,
    sender: End,
    paths: Sequence[Path],
    delays: Averages,
    speeds: Averages,
    reason: str,
) -> dict[str, Measure]:
    use = _Use.of(context, sender)
    active = {"active_s": Measure.observed(_seconds(use.time_ns))}
    if len(delays) < 2:
        return active | dict.fromkeys(("judged_s", *DELAY, *RATE), Measure.absent(reason))
    ready = {
        path.number: usable(context, path.number, path.directions[sender].states, use.begin_ns)
        for path in paths
        if path.number in delays
    }
    return (
        active
        | _delay_cost(use, *_compare(use, delays, ready, best=np.fmin))
        | _rate_cost(use, *_compare(use, speeds, ready, best=np.fmax))
    )


def _compare(
    use: _Use, averages: Averages, ready: dict[int, Column], best: np.ufunc
) -> tuple[Column, Column]:
    """Return what was forecast of the path used, and the best of the others; NaN for neither."""
    own = np.full(len(use.path), np.nan)
    others = np.full(len(use.path), np.nan)
    for path, average in averages.items():
        forecast = average.at(use.begin_ns)
        used = use.path == path
        own[used] = forecast[used]
        elsewhere = ~used & ready[path] if path in ready else np.zeros(len(used), bool)
        others[elsewhere] = best(others[elsewhere], forecast[elsewhere])
    return own, others


def _delay_cost(use: _Use, own: Column, others: Column) -> dict[str, Measure]:
    judged = ~np.isnan(own) & ~np.isnan(others)
    measures = {"judged_s": Measure.observed(_seconds(use.time_ns[judged]))}
    if not judged.any():
        return measures | dict.fromkeys(DELAY, Measure.absent(NEVER_JUDGED))
    worse = judged & (others < own)
    chunks = use.new_chunks[worse]
    excess_ns = float(((own - others)[worse] * chunks).sum())
    return measures | {
        "worse_s": Measure.observed(_seconds(use.time_ns[worse])),
        "worse_chunks": Measure.observed(int(chunks.sum())),
        "worse_bytes": Measure.observed(int(use.new_bytes[worse].sum())),
        "excess_rtt_mean_ns": Measure.observed(excess_ns / int(chunks.sum()))
        if worse.any()
        else Measure.absent("no DATA on a worse path"),
        "excess_rtt_s": Measure.observed(excess_ns / NS_PER_S),
    }


def _rate_cost(use: _Use, own: Column, others: Column) -> dict[str, Measure]:
    judged = ~np.isnan(own) & ~np.isnan(others)
    if not judged.any():
        why = Measure.absent("no other path had carried DATA while DATA was sent")
        return dict.fromkeys(RATE, why)
    slower = judged & (others > own)
    lost_bits = ((others - own)[slower] * use.time_ns[slower]).sum() / NS_PER_S
    return {
        "slower_s": Measure.observed(_seconds(use.time_ns[slower])),
        "slower_bytes": Measure.observed(float(lost_bits) / 8),
    }


def _seconds(times_ns: Column) -> float:
    return float(times_ns.sum()) / NS_PER_S
