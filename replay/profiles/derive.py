"""A profile from captures: what was measured of each path, as steps over time.

docs/profiles-derived.md defines every number.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...analyzer.ends.run import find_ends
from ...dissectors.ledger import SIGHTINGS
from .derived import both, single
from .derived.cautions import cautions
from .derived.document import document
from .derived.model import NS_PER_MS, Derived, Resolution
from .derived.series import series
from .derived.text import summary, write

if TYPE_CHECKING:
    from ...analyzer.ends.run import Ends
    from ...api import Analysis

__all__ = ["Derived", "Resolution", "derive", "summary", "write"]

SEED = 1


def derive(
    analysis: Analysis, *, resolution: Resolution | None = None, one_clock: bool = False
) -> Derived:
    """Derive a profile from an analysis.

    Parameters
    ----------
    analysis
        Of one capture: then delay, loss and outages are inferred from what one place saw. Or of
        two of both ends, as `analyze_two` gives it, read with `ReadOptions(sightings=True)`: then
        every packet's delay and fate are known.
    resolution
        What counts as a change; None for the defaults.
    one_clock
        Whether both captures are known to have been taken by one clock, as in the lab. Else their
        clocks are estimated, and delays are off by as much as these may be.

    Raises
    ------
    ValueError
        When there is nothing to derive a profile from: captures of both ends that were read
        without sightings, or one capture without any association.
    """
    resolution = resolution or Resolution()
    base_ns = int(analysis.ledger.capture["start_ns"] or 0)
    if analysis.other is None:
        found = single.evidence(analysis.result, analysis.ledger, base_ns, resolution)
    else:
        ends = _ends(analysis, one_clock=one_clock)
        routes = series(analysis.result, ends, base_ns)
        found = both.evidence(routes, resolution, _error_ms(ends))
    if not found:
        raise ValueError(f"{analysis.ledger.path}: nothing to derive a profile from: {_NOTHING}")
    names = " and ".join(Path(one.path).name for one in analysis.ledgers)
    whole, told = document(found, f"Derived from {names}.", SEED)
    up = tuple(one.established.ns for one in analysis.associations)
    return Derived(
        document=whole,
        evidence=tuple(found),
        warnings=(*analysis.warnings, *cautions(found), *told),
        duration_ns=int(analysis.ledger.capture["end_ns"] or 0) - base_ns,
        established_ns=tuple(None if at is None else at - base_ns for at in up),
    )


_NOTHING = "one capture says something of SCTP associations alone, two of every packet in both"


def _ends(analysis: Analysis, *, one_clock: bool) -> Ends:
    if any(SIGHTINGS not in one.tables for one in analysis.ledgers):
        raise ValueError("a profile needs captures that were read with ReadOptions(sightings=True)")
    # The tables are taken out of the ledgers, which others still need.
    first, second = (replace(one, tables=dict(one.tables)) for one in analysis.ledgers)
    return find_ends(first, second, forced=True, one_clock=one_clock)


def _error_ms(ends: Ends) -> float | None:
    error = ends.error
    return None if error.offset_ns is None else (error.offset_ns + error.drift_ns) / NS_PER_MS
