"""Fewer points: the first, the last and the extremes stay, and so do breaks."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from pathscope.reports.figures import resample

VALUES = st.lists(st.one_of(st.just(float("nan")), st.floats(-1e9, 1e9)), min_size=0, max_size=300)


@given(VALUES, st.integers(8, 64))
def test_a_line_keeps_its_ends_extremes_and_breaks(values: list[float], most: int) -> None:
    y = np.array(values, float)
    x = np.arange(len(y), dtype=float)
    kept = resample.line(x, y, most)
    assert (np.diff(kept) > 0).all()
    known = np.flatnonzero(~np.isnan(y))
    shown = kept[~np.isnan(y[kept])]
    assert len(shown) <= most + 2
    if len(known):
        assert shown[0] == known[0]
        assert shown[-1] == known[-1]
        assert y[shown].max() == y[known].max()
        assert y[shown].min() == y[known].min()
    for left, right in itertools.pairwise(shown):
        is_broken = bool(np.isnan(y[left:right]).any())
        assert is_broken == bool(np.isnan(y[kept[(kept > left) & (kept < right)]]).any())


@given(st.lists(st.floats(0, 1e6), max_size=300), st.integers(1, 50))
def test_instants_are_thinned_evenly(values: list[float], most: int) -> None:
    x = np.array(values, float)
    kept = resample.events(x, most)
    assert len(kept) <= max(most, 0) or len(x) <= most
    assert len(set(kept.tolist())) == len(kept)
    if len(x):
        assert x[kept].min() == x.min()


@given(
    st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50), st.integers(1, 9)), max_size=60),
    st.integers(0, 60),
)
def test_stretches_lose_no_time_and_no_weight(parts: list[tuple[int, int, int]], gap: int) -> None:
    ends = np.cumsum([pause + length for pause, length, _ in parts]).astype(float)
    start = ends - np.array([length for _, length, _ in parts], float)
    weight = np.array([count for _, _, count in parts], np.int64)
    found = resample.stretches(start, ends, weight, float(gap))
    assert found.weight.sum() == weight.sum()
    assert (found.start[1:] - found.end[:-1] > gap).all()
    for one, other in zip(start, ends, strict=True):
        assert ((found.start <= one) & (other <= found.end)).any()
