"""The address bar: what it says, whatever stands in it."""

import doctest

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pathscope.reports.report import cells, state
from pathscope.reports.report.state import FIELDS, LARGEST_NUMBER, PAGES, State, parse

NUMBERS = st.integers(0, LARGEST_NUMBER)
COUNTED = st.integers(1, LARGEST_NUMBER)
WORDS = st.from_regex(r"[a-z0-9_]{1,64}", fullmatch=True)
TIMES = st.integers(-(10**19) + 1, 10**19 - 1)


@st.composite
def states(draw: st.DrawFn) -> State:
    window = sorted(draw(st.lists(TIMES, min_size=2, max_size=2, unique=True)))
    start, end = (draw(st.sampled_from((one, None))) for one in window)
    return State(
        page=draw(st.sampled_from(PAGES)),
        case=draw(st.none() | WORDS),
        association=draw(st.none() | NUMBERS),
        handover=draw(st.none() | COUNTED),
        flow=draw(st.none() | NUMBERS),
        replay=draw(st.none() | COUNTED),
        path=draw(st.none() | NUMBERS),
        sender=draw(st.sampled_from((None, "a", "b"))),
        from_ns=start,
        to_ns=end,
        table=draw(st.none() | WORDS),
        filter=draw(st.none() | st.text(st.characters(codec="utf-8"), max_size=60)),
        sort=draw(st.none() | WORDS.map(lambda word: f"{word}:desc")),
        frame=draw(st.none() | COUNTED),
        metric=draw(st.none() | WORDS),
    )


def test_doctests() -> None:
    for module in (state, cells):
        assert doctest.testmod(module).failed == 0


@given(states())
def test_an_address_says_the_whole_state(one: State) -> None:
    assert parse(one.address()) == state.Parsed(one)
    assert parse(f"http://127.0.0.1:8050{one.address()}").state == one


@given(st.text(max_size=300))
@example("http://[")
@example("/../../etc/passwd?case=..%2f..")
@example("/?from=1e999&to=nan")
@example("/?frame=٣")
@example("/?filter=%ff")
def test_any_text_gives_a_state(text: str) -> None:
    found = parse(text)
    assert found.state.page in PAGES
    assert parse(found.state.address()) == state.Parsed(found.state)


@given(st.dictionaries(st.sampled_from(sorted(FIELDS)), st.text(max_size=40), max_size=6))
def test_any_values_give_a_state_or_a_reason(values: dict[str, str]) -> None:
    from urllib.parse import urlencode

    found = parse(f"/packets?{urlencode(values)}")
    said = {key for key in values if any(p.startswith(key) for p in found.problems)}
    for key in values:
        field = FIELDS[key][0]
        if getattr(found.state, field) is None and key not in ("from", "to"):
            assert key in said


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("/nowhere", "there is no page 'nowhere'"),
        ("/?color=red", "'color': not known"),
        ("/?frame=0", "frame '0': these are counted from 1"),
        ("/?sender=c", "sender 'c': expected a or b"),
        ("/?from=5&to=5", "the window ends before it begins: all is shown"),
        ("/?path=1&path=2", "path: given twice, the first one counts"),
        ("/?case=../../etc", "case '../../etc': expected a word of small letters, digits and _"),
    ],
)
def test_what_cannot_be_read_is_told(address: str, problem: str) -> None:
    assert parse(address).problems == (problem,)


def test_pages_share_the_selection() -> None:
    here = State("association", "2", 1, path=0, sender="b", from_ns=1, to_ns=9, metric="x")
    there = here.to("handover", handover=3)
    assert there == State("handover", "2", 1, 3, path=0, sender="b", from_ns=1, to_ns=9)
