"""A profile from captures: what was measured of each path, as steps over time.

docs/profiles-derived.md defines every number.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from ...analyzer.ends.run import find_ends
from ...dissectors.ledger import SIGHTINGS
from .derived import both
from .derived.document import document
from .derived.model import NS_PER_MS, Derived, Resolution
from .derived.series import series

if TYPE_CHECKING:
    from ...analyzer.ends.run import Ends
    from ...api import Analysis
    from .derived.model import RouteEvidence

SEED = 1


def derive(
    analysis: Analysis, *, resolution: Resolution | None = None, one_clock: bool = False
) -> Derived:
    """Derive a profile from an analysis.

    Parameters
    ----------
    analysis
        Of one capture; or of two of both ends, as `analyze_two` gives it, read with `sightings`:
        then every packet's delay and fate are known.
    resolution
        What counts as a change; None for the defaults.
    one_clock
        Whether both captures are known to have been taken by one clock, as in the lab. Else their
        clocks are estimated, and delays are off by as much as these may be.

    Raises
    ------
    ValueError
        When the captures of both ends were read without sightings.
    """
    resolution = resolution or Resolution()
    ends = _ends(analysis, one_clock=one_clock)
    base_ns = int(analysis.ledger.capture["start_ns"])
    found = both.evidence(series(analysis.result, ends, base_ns), resolution, _error_ms(ends))
    return _derived(analysis, found, base_ns)


def _ends(analysis: Analysis, *, one_clock: bool) -> Ends:
    if any(SIGHTINGS not in one.tables for one in analysis.ledgers):
        raise ValueError("a profile needs captures that were read with ReadOptions(sightings=True)")
    # The tables are taken out of the ledgers, which others still need.
    first, second = (replace(one, tables=dict(one.tables)) for one in analysis.ledgers)
    return find_ends(first, second, forced=True, one_clock=one_clock)


def _error_ms(ends: Ends) -> float | None:
    error = ends.error
    return None if error.offset_ns is None else (error.offset_ns + error.drift_ns) / NS_PER_MS


def _derived(analysis: Analysis, evidence: list[RouteEvidence], base_ns: int) -> Derived:
    names = " and ".join(Path(one.path).name for one in analysis.ledgers)
    whole = document(evidence, f"Derived from {names}.", SEED)
    up = tuple(one.established.ns for one in analysis.associations)
    return Derived(
        document=whole,
        evidence=tuple(evidence),
        warnings=analysis.warnings,
        duration_ns=int(analysis.ledger.capture["end_ns"]) - base_ns,
        established_ns=tuple(None if at is None else at - base_ns for at in up),
    )
