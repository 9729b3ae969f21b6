"""Verdicts over all rows of a replay: what chance explains does not fail.

Many rows have an interval of 95 % each, and one in twenty misses what was asked for by chance. A
row fails when its own chance, after Holm's correction over all rows of the replay, is
below the level: so a replay in which all went as asked for fails with that chance at most.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...analyzer.compare.holm import holm
from .model import Check, Row

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .impairments import Finding
    from .model import Verdict


@dataclass(frozen=True, slots=True)
class Placed:
    """A finding, and where it is: a route, and the number of a step there or None for all."""

    route: int
    step: int | None
    finding: Finding


def judged(placed: Sequence[Placed], level: float) -> list[Row]:
    """Return a row with a verdict for each finding, in the same order."""
    chances = [one.finding.estimate.p for one in placed if one.finding.estimate is not None]
    adjusted = iter(holm(chances))
    return [
        _row(one, next(adjusted) if one.finding.estimate is not None else None, level)
        for one in placed
    ]


def _row(placed: Placed, p_adjusted: float | None, level: float) -> Row:
    finding, estimate = placed.finding, placed.finding.estimate
    verdict, why = _verdict(finding, p_adjusted, level)
    return Row(
        placed.route,
        placed.step,
        finding.quantity,
        finding.asked,
        finding.n,
        verdict,
        why,
        finding.count if estimate is None else estimate.value,
        None if estimate is None else estimate.low,
        None if estimate is None else estimate.high,
        finding.tolerance,
        None if estimate is None else estimate.p,
        p_adjusted,
    )


def _verdict(finding: Finding, p_adjusted: float | None, level: float) -> tuple[Verdict, str]:
    if finding.wrong:
        return "fail", finding.wrong
    if p_adjusted is not None and p_adjusted < level:
        return "fail", f"p {p_adjusted:.2g} after Holm's correction, below {level:g}"
    if finding.weak:
        return "no verdict", finding.weak
    if finding.asked is None:
        return "no verdict", "nothing was asked for"
    return "pass", ""


def held(
    quantity: str, value: float | None, limit: float, why_absent: str, route: int | None = None
) -> Check:
    """Hold a number to the most that it may be; None where it is not known."""
    if value is None:
        return Check(quantity, None, limit, "no verdict", why_absent, route)
    over = value > limit
    return Check(quantity, value, limit, "fail" if over else "pass", "", route)
