"""The contract `pathscope.fidelity/1` (docs/contract-fidelity.md): report to JSON."""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from ...dissectors import _core

if TYPE_CHECKING:
    from ...replay.fidelity.model import Fidelity, Row

SCHEMA = "pathscope.fidelity/1"


def document(fidelity: Fidelity) -> dict[str, Any]:
    """Return the report of a replay as JSON's types."""
    missed, expected = fidelity.misses
    counts = fidelity.verdicts
    found: dict[str, Any] = {
        "schema": SCHEMA,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "failed": fidelity.failed,
        "verdicts": {name.replace(" ", "_"): count for name, count in counts.items()},
        "replay": dict(fidelity.header),
        "tolerances": asdict(fidelity.tolerances),
        "pacing": asdict(fidelity.pacing),
        "routes": [asdict(route) for route in fidelity.routes],
        "steps": [asdict(step) for step in fidelity.steps],
        "checks": [asdict(check) for check in fidelity.checks],
        "rows": [_row(row) for row in fidelity.rows],
        "intervals": {"tried": round(expected / 0.05), "missed": missed, "expected": expected},
        "balances": [asdict(one) | {"difference": one.difference} for one in fidelity.balances],
        "counters": [{"route": n, **asdict(one)} for n, one in fidelity.counters.items()],
        "totals": dict(fidelity.totals),
        "notes": list(fidelity.notes),
    }
    return found


def _row(row: Row) -> dict[str, Any]:
    """Return a row; a bound that is not finite is none."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in asdict(row).items()
    }
