"""Columns read from Arrow's buffers are those that Arrow's own functions give."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.analyzer.columns import filled, is_letter, present, to_numpy

ABSENT = -(2**63)


@pytest.mark.parametrize("kind", [pa.int64(), pa.uint32(), pa.uint64()], ids=str)
@given(values=st.lists(st.none() | st.integers(0, 2**31)), cut=st.integers(0, 20))
def test_numbers(kind: pa.DataType, values: list[int | None], cut: int) -> None:
    column = pa.chunked_array([pa.array(values, kind)]).slice(cut)
    values = values[cut:]
    assert present(column).tolist() == [value is not None for value in values]
    wanted = [ABSENT if value is None else value for value in values]
    assert filled(column, ABSENT).tolist() == wanted
    if None not in values:
        assert to_numpy(column).tolist() == values


@given(letters=st.lists(st.sampled_from("ab")), cut=st.integers(0, 20))
def test_letters(letters: list[str], cut: int) -> None:
    column = pa.chunked_array([pa.array(letters, pa.string())]).slice(cut)
    assert is_letter(column, "b").tolist() == [letter == "b" for letter in letters[cut:]]
