"""Names from captures in figures: letter by letter, whatever they are made of."""

from __future__ import annotations

from html import unescape

from hypothesis import given
from hypothesis import strategies as st
from pathscope.reports.figures.text import LONGEST, escaped


@given(st.text())
def test_no_name_has_markup(name: str) -> None:
    shown = escaped(name)
    assert not set("<>$") & set(shown)
    assert shown.isprintable()
    shown.encode()


@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=LONGEST))
def test_what_is_shown_is_the_name(name: str) -> None:
    assert unescape(escaped(name)) == name


def test_a_name_is_cut() -> None:
    assert len(unescape(escaped("x" * 65535))) == LONGEST
