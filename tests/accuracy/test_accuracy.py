"""Every number with a truth is within its bound, and docs/accuracy.md says what was found."""

from __future__ import annotations

import re

import pytest
from accuracy.comparisons import COMPARISONS, Comparison, bounded, bracketed
from accuracy.report import COMMITTED, ROOT, Case, Set, committed_part, document, lines, with_unit
from accuracy.runs import runs_in
from pathscope.analyzer.measure import Measure

PAGE = ROOT / "docs" / "accuracy.md"


@pytest.fixture(scope="module")
def committed() -> Set:
    return Set.of(COMMITTED, runs_in(COMMITTED))


def test_every_number_is_within_its_bound(committed: Set) -> None:
    assert [line for line in lines(committed) if line.startswith("beyond")] == []


def test_every_comparison_has_a_case(committed: Set) -> None:
    assert [one.metric for one in COMPARISONS if not committed.samples(one)] == []


def test_the_runs_are_those_of_the_repository(committed: Set) -> None:
    assert committed.runs == len(list(COMMITTED.glob("lab-*")))


def test_the_page_is_what_the_command_gives(committed: Set) -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert committed_part(committed) in text, "run `make accuracy WRITE=docs/accuracy.md`"
    assert text.startswith(document(committed, None).partition("## ")[0])


def test_names_are_the_contract_s() -> None:
    """What a line is about has a name of docs/metrics.md or of docs/result.md."""
    known = "".join((ROOT / "docs" / name).read_text() for name in ("metrics.md", "result.md"))
    for one in COMPARISONS:
        name = re.split(r"[,:]", one.metric)[0]
        assert name in known or name == "start of a restarted association", name


def test_a_number_beyond_its_bound_is_told() -> None:
    comparison = Comparison("rto_s", "s", "a setting", "its own bounds", lambda _: iter(()))
    (off,) = bounded(Measure(1.0, "inferred", 0.9, 1.1), 2.0)
    found = Set(1, [Case("run", comparison, off)])
    assert found.beyond
    assert list(lines(found))[-1] == "beyond its bound: run: rto_s: -1 s"
    assert "| `run` | rto_s | -1 s |" in document(found, found)


def test_an_instant_may_be_a_millisecond_off() -> None:
    ms = 1_000_000
    assert bracketed(5 * ms, 4 * ms, 6 * ms).error == 0
    early, late = bracketed(3 * ms, 4 * ms, 6 * ms), bracketed(8 * ms, 4 * ms, 6 * ms)
    assert (early.error, early.within) == (-1, True)
    assert (late.error, late.within) == (2, False)


def test_an_absent_number_is_no_case() -> None:
    assert list(bounded(Measure.absent("no evidence"), 1.0)) == []


def test_errors_are_read_with_their_units() -> None:
    assert [with_unit(*one) for one in ((0, "ms"), (-0.02451, "1"), (0.5, "s"))] == [
        "0 ms", "-0.0245", "+0.5 s",
    ]  # fmt: skip
