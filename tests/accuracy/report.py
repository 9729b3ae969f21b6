"""What comparing with the truth gave: lines for a terminal, and docs/accuracy.md."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from accuracy.comparisons import COMPARISONS, Comparison, Sample
from accuracy.runs import Run

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "fixtures" / "captures"

HEAD = ("metric", "truth", "n", "median error", "largest error", "bound", "within")


@dataclass(frozen=True)
class Set:
    """Runs, and every case that each comparison found in them."""

    name: str
    runs: int
    samples: dict[str, list[Sample]]

    @classmethod
    def of(cls, name: str, runs: list[Run]) -> Set:
        """Compare all that can be compared in runs."""
        samples: dict[str, list[Sample]] = {one.metric: [] for one in COMPARISONS}
        for run in runs:
            for one in COMPARISONS:
                samples[one.metric].extend(one.samples(run))
        return cls(name, len(runs), samples)

    @property
    def is_within(self) -> bool:
        """Whether every number is within its bound."""
        return all(sample.within for found in self.samples.values() for sample in found)


def cells(one: Comparison, samples: list[Sample]) -> tuple[str, ...]:
    """Return a line of the table."""
    if not samples:
        return one.metric, one.truth, "0", "", "", one.bound, ""
    errors = [sample.error for sample in samples]
    worst = max(errors, key=abs)
    within = sum(sample.within for sample in samples)
    return (
        one.metric,
        one.truth,
        str(len(samples)),
        _number(median(errors), one.unit),
        _number(worst, one.unit),
        one.bound,
        f"{within} of {len(samples)}",
    )


def _number(error: float, unit: str) -> str:
    text = f"{error:+.3g}" if error else "0"
    return text if unit == "1" else f"{text} {unit}"


def lines(found: Set) -> Iterator[str]:
    """Yield the table for a terminal."""
    rows = [HEAD, *(cells(one, found.samples[one.metric]) for one in COMPARISONS)]
    shown = [(row[0], *row[2:5], row[6]) for row in rows]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    yield f"{found.runs} runs"
    for row in shown:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield line.rstrip()


def table(found: Set) -> str:
    """Return the table in Markdown."""
    rows = [HEAD, ("---",) * len(HEAD)]
    rows += [cells(one, found.samples[one.metric]) for one in COMPARISONS]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def document(sets: list[Set]) -> str:
    return "\n".join(table(one) for one in sets)
