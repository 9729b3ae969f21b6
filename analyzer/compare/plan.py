"""How many runs it takes to see a change: of each number of a baseline, from its own spread."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .power import Need, needed_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .model import Sample

CHANGE = re.compile(r"(?P<number>[0-9]{1,15}(?:\.[0-9]{1,15})?)(?P<percent> ?%)?")


@dataclass(frozen=True, slots=True)
class Change:
    """A change to be seen: a share of the mean, or an amount in the metric's unit."""

    amount: float
    is_share: bool

    def of(self, mean: float) -> float:
        """Return what a number of this mean changes by."""
        return self.amount * abs(mean) if self.is_share else self.amount


@dataclass(frozen=True, slots=True)
class Planned:
    """One number of a baseline; `need` is None where `why` says that nothing can be told."""

    group: str
    sample: Sample
    mean: float | None
    change: float | None
    need: Need | None
    why: str


def parse_change(text: str) -> Change:
    """Read a change.

    Raises
    ------
    ValueError
        When it is none.
    """
    match = CHANGE.fullmatch(text.strip())
    number = float(match["number"]) if match else 0.0
    if match is None or number == 0:
        raise ValueError(f"{text}: expected a change such as 5% or 0.25, above 0")
    return Change(number / 100, True) if match["percent"] else Change(number, False)


def planned(
    samples: Sequence[tuple[str, Sample]], change: Change, *, seed: int = 0
) -> list[Planned]:
    """Plan for all numbers together: Holm's correction is over as many rows."""
    return [_one(group, sample, change, len(samples), seed) for group, sample in samples]


def _one(group: str, sample: Sample, change: Change, tests: int, seed: int) -> Planned:
    values = sample.values
    if len(values) < 2:
        return Planned(group, sample, None, None, None, "two runs with this number are needed")
    mean = math.fsum(values) / len(values)
    amount = change.of(mean)
    if amount == 0:
        return Planned(group, sample, mean, 0.0, None, "a share of 0 is no change")
    need = needed_runs(values, amount, tests=tests, seed=seed)
    return Planned(group, sample, mean, amount, need, "")
