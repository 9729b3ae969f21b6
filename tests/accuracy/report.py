"""What comparing with the truth gave: lines for a terminal, and docs/accuracy.md."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from accuracy.comparisons import COMPARISONS, Comparison, Sample
from accuracy.runs import Run

ROOT = Path(__file__).parents[2]
COMMITTED = ROOT / "fixtures" / "captures"

HEAD = ("metric", "truth", "n", "median error", "largest error", "bound", "within")


@dataclass(frozen=True)
class Case:
    """One number of one run, held against the truth."""

    run: str
    comparison: Comparison
    sample: Sample


@dataclass(frozen=True)
class Set:
    """Runs, and every case that the comparisons found in them."""

    runs: int
    cases: list[Case]

    @classmethod
    def of(cls, place: Path, runs: Iterable[Run]) -> Set:
        """Compare all that can be compared in the runs of a folder."""
        number, cases = 0, []
        for number, run in enumerate(runs, 1):  # noqa: B007
            name = str(run.place.relative_to(place))
            cases += [Case(name, one, sample) for one in COMPARISONS for sample in one.samples(run)]
        return cls(number, cases)

    @property
    def beyond(self) -> list[Case]:
        """The cases that are not within their bounds."""
        return [case for case in self.cases if not case.sample.within]

    def samples(self, comparison: Comparison) -> list[Sample]:
        """Return the cases of one line."""
        return [case.sample for case in self.cases if case.comparison is comparison]


def cells(one: Comparison, samples: list[Sample]) -> tuple[str, ...]:
    """Return a line of the table."""
    if not samples:
        return one.metric, one.truth, "0", "", "", one.bound, ""
    errors = [sample.error for sample in samples]
    within = sum(sample.within for sample in samples)
    return (
        one.metric,
        one.truth,
        str(len(samples)),
        with_unit(median(errors), one.unit),
        with_unit(max(errors, key=abs), one.unit),
        one.bound,
        f"{within} of {len(samples)}",
    )


def with_unit(error: float, unit: str) -> str:
    """Return an error as people read it: three digits, and its sign."""
    text = f"{error:+.3g}" if error else "0"
    return text if unit == "1" else f"{text} {unit}"


def rows(found: Set) -> Iterator[tuple[str, ...]]:
    """Yield the lines of the table."""
    return (cells(one, found.samples(one)) for one in COMPARISONS)


def lines(found: Set) -> Iterator[str]:
    """Yield the table for a terminal, and what is beyond its bound."""
    shown = [(row[0], *row[2:5], row[6]) for row in (HEAD, *rows(found))]
    widths = [max(len(row[column]) for row in shown) for column in range(len(shown[0]))]
    yield f"{found.runs} runs"
    for row in shown:
        line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        yield line.rstrip()
    for case in found.beyond:
        error = with_unit(case.sample.error, case.comparison.unit)
        yield f"beyond its bound: {case.run}: {case.comparison.metric}: {error}"


def table(head: tuple[str, ...], body: Iterable[tuple[str, ...]]) -> Iterator[str]:
    """Yield a table in Markdown."""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in body:
        yield f"| {' | '.join(row)} |"


def committed_part(found: Set) -> str:
    """Return what docs/accuracy.md says of the runs in the repository."""
    title = f"## The {found.runs} runs of the repository\n"
    return "\n".join((title, *table(HEAD, rows(found)), ""))


def document(committed: Set, more: Set | None) -> str:
    """Return docs/accuracy.md."""
    parts = [INTRODUCTION, committed_part(committed)]
    if more is not None:
        head = ("run", "metric", "error")
        beyond = (
            (
                f"`{case.run}`",
                case.comparison.metric,
                with_unit(case.sample.error, case.comparison.unit),
            )
            for case in more.beyond
        )
        parts.append("\n".join((f"## {more.runs} more runs\n", MORE, *table(HEAD, rows(more)), "")))
        if more.beyond:
            parts.append("\n".join((BEYOND, *table(head, beyond), "")))
    return "\n".join(parts)


INTRODUCTION = """\
# How far the numbers are from the truth

*How far are the numbers from the truth?*

The lab ([lab.md](lab.md)) knows what happened in its runs: it reads the clock before and after
everything that it does, it set the timers and the links, its applications count what they send and
get, and both ends are captured. This page holds the numbers of [metrics.md](metrics.md) against
that. `make accuracy` prints it for the runs in the repository, `make accuracy DIR=...` for runs of
your own, too; `WRITE=docs/accuracy.md` writes this page.

Errors are measured less true; the largest is the one farthest from 0, with its sign. Where the
truth is between two readings of the clock, the error is the distance from them. The bound of an
observed instant is 1 ms, that of an inferred number the one that the result gives with it (`low`
and `high`): there, the error is that of its value. All numbers are of the client's capture alone;
inferred instants are those that it gives without the lab's events and names.
"""

MORE = """\
They are not in the repository, for their size: the SCTP runs of `pathscope lab reproduce bokor`
([lab-studies.md](lab-studies.md)), parameter sweeps on links that are often full.
"""

BEYOND = """\
Beyond their bounds, and not explained yet. A one-way delay below that of its link may be one of
packets that are the same byte for byte, of which one copy was taken for another.
"""
