"""`pathscope compare --plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..reports.unseen import json_text
from .terminal import echo, show

if TYPE_CHECKING:
    from pathlib import Path


def give_plan(
    baseline: str,
    change: str,
    store: Path | None,
    labels: tuple[str, ...],
    metrics: tuple[str, ...],
    form: str,
    seed: int,
) -> None:
    """Say how many runs a side it takes to see a change.

    Raises
    ------
    ValueError, OSError
        As `comparisons.plan`.
    """
    from ..comparisons import plan
    from ..reports.compare.plan import document, report

    found = plan(baseline, change, metrics=metrics, store=store, labels=labels, seed=seed)
    told = document(found, change, seed)
    if form == "json":
        echo(json_text(told))
    else:
        show(report(told))
