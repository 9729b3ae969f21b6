"""Tables of netem's distributions."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from statistics import fmean, pstdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.lab import tables

ascending = st.lists(st.floats(-6, 6), min_size=2, max_size=300).map(sorted)


def read(file: Path) -> list[int]:
    """As tc reads it: lines with # are left out, all else is numbers."""
    lines = file.read_text().splitlines()
    return [int(word) for line in lines if not line.startswith("#") for word in line.split()]


@given(ascending)
def test_entries_are_sixteen_bits_ascending(values: list[float]) -> None:
    made = tables.entries(values)
    assert len(made) == tables.ENTRIES
    assert all(one <= other for one, other in pairwise(made))
    assert made[0] >= -32768
    assert made[-1] <= 32767


@given(ascending)
def test_moments_are_those_of_the_entries(values: list[float]) -> None:
    made = [entry / tables.SCALE for entry in tables.entries(values)]
    mean, deviation = tables.moments(values)
    assert fmean(made) == pytest.approx(mean, abs=0.01)
    assert pstdev(made) == pytest.approx(deviation, abs=0.02)


def test_a_table_as_long_as_netem_s_longest_is_kept() -> None:
    assert len(tables.entries([number / 16384 for number in range(16384)])) == 16384


def test_the_folder_has_tc_s_own_tables_too(tmp_path: Path) -> None:
    tables.write(tmp_path, {"mine": [-1.732, 1.732]})
    made = read(tmp_path / "mine.dist")
    assert len(made) == tables.ENTRIES
    assert pstdev(made) == pytest.approx(tables.SCALE, rel=0.01)
    normal = read(tmp_path / "normal.dist")
    assert pstdev(normal) == pytest.approx(tables.SCALE, rel=0.02)


def test_it_is_said_where_tc_s_own_were_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "PLACES", ("/nowhere",))
    with pytest.raises(tables.TablesError, match="are in none of /nowhere"):
        tables.write(Path("/tmp"), {})  # noqa: S108 - nothing is written
