"""What happened in two sets of runs, as differences."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from pathscope.analyzer.compare.alignment import aligned
from pathscope.analyzer.compare.comparison import structure
from pathscope.analyzer.compare.courses import Move, matched
from sided import finding, group, handover, result, runs, timer

THERE, BACK = handover("wlan", "cellular"), handover("cellular", "wlan", "path-returned")


def test_the_same_on_both_sides_is_no_difference() -> None:
    one = result(THERE, BACK, findings=(finding("abort", 4),), timers={"rto_s": timer(1, 0.9, 1.1)})
    assert structure(group(runs(one, one), runs(one))) == []


def test_a_handover_that_vanished() -> None:
    (found,) = structure(group(runs(*[result(THERE, BACK)] * 3), runs(*[result(THERE)] * 2)))
    assert (found.kind, found.what) == ("handover", "vanished")
    assert found.place == "handover 2 of a, association"
    assert found.baseline.what == "cellular -> wlan, path-returned"
    assert (found.baseline.runs, found.baseline.of) == (3, 3)
    assert found.baseline.evidence is not None
    assert (found.baseline.evidence.run, found.baseline.evidence.frames) == ("run-1", (7, 9))
    assert found.candidate.what is None
    assert found.clear


def test_a_handover_before_the_others_does_not_shift_them() -> None:
    first = handover("cellular", "wlan", "asconf")
    (found,) = structure(group(runs(result(THERE, BACK)), runs(result(first, THERE, BACK))))
    assert (found.what, found.place) == ("appeared", "handover 1 of a, association")


def test_a_handover_with_another_cause_or_to_another_path() -> None:
    three = ("wlan", "cellular", "dsl")
    old = result(THERE, paths=three)
    (found,) = structure(
        group(runs(old), runs(result(handover("wlan", "cellular", "asconf"), paths=three)))
    )
    assert found.what == "changed cause"
    assert found.candidate.what == "wlan -> cellular, asconf"
    (found,) = structure(group(runs(old), runs(result(handover("wlan", "dsl"), paths=three))))
    assert found.what == "changed path"


def test_no_handover_at_all_is_a_course_too() -> None:
    (found,) = structure(group(runs(result()), runs(result(THERE))))
    assert (found.what, found.clear) == ("appeared", True)


def test_courses_that_both_sides_took_are_no_difference() -> None:
    mostly = [result(THERE, BACK), result(THERE, BACK), result(THERE)]
    rarely = [result(THERE), result(THERE), result(THERE, BACK)]
    assert structure(group(runs(*mostly), runs(*rarely))) == []


def test_what_not_all_runs_show_may_be_chance() -> None:
    loud = [result(findings=(finding("abort", 4),)), result()]
    (found,) = structure(group(runs(*loud), runs(result(), result())))
    assert (found.kind, found.what, found.place) == ("finding", "vanished", "association")
    assert (found.baseline.what, found.baseline.runs, found.baseline.of) == ("abort", 1, 2)
    assert not found.clear
    (found,) = structure(group(runs(result()), runs(loud[0], loud[0])))
    assert (found.what, found.clear) == ("appeared", True)


def test_paths_that_only_one_side_has() -> None:
    (found,) = structure(group(runs(result()), runs(result(paths=("wlan", "cellular", "dsl")))))
    assert (found.kind, found.what, found.candidate.what) == ("path", "appeared", "path dsl")


def test_settings_differ_only_where_their_bounds_are_apart() -> None:
    def sides(low: float, high: float) -> list[str]:
        before = result(timers={"rto_s": timer(0.5, 0.45, 0.55)})
        after = result(timers={"rto_s": timer(0.6, low, high)})
        return [one.place for one in structure(group(runs(before), runs(after)))]

    assert sides(0.54, 0.7) == []
    assert sides(0.56, 0.7) == ["rto_s of a, association"]
    absent = result(timers={"rto_s": timer(None)})
    assert structure(group(runs(result(timers={"rto_s": timer(1)})), runs(absent))) == []


MOVES = st.lists(
    st.builds(Move, st.sampled_from("xyz"), st.sampled_from("xyz"), st.sampled_from(["t", "a"])),
    max_size=6,
).map(tuple)


@given(MOVES, MOVES)
def test_every_handover_is_matched_once_and_in_order(
    one: tuple[Move, ...], other: tuple[Move, ...]
) -> None:
    found = matched(one, other)
    assert [m.baseline for m in found if m.baseline is not None] == list(range(len(one)))
    assert [m.candidate for m in found if m.candidate is not None] == list(range(len(other)))
    assert all(m.baseline == m.candidate for m in matched(one, one))


def test_timelines_of_two_runs_start_where_the_link_failed() -> None:
    def failed(ns: int, at_ns: int) -> dict[str, object]:
        fail = {"ns": ns, "frame": None, "basis": "annotated"}
        return result(handover("wlan", "cellular", at_ns=at_ns, t_fail=fail))

    (found,) = aligned(group(runs(failed(100, 1600)), runs(failed(5000, 6000))))
    assert found.origin == "t_fail"
    offsets = {name: (a.offset_ns, b.offset_ns) for name, a, b in found.instants}
    assert offsets == {"t_fail": (0, 0), "t_first_new": (1500, 1000)}
    (found,) = aligned(group(runs(failed(100, 1600)), runs(result(THERE))))
    assert found.origin == "t_first_new"
    assert found.instants[0][2].reason == "nobody said"
    assert aligned(group(runs(failed(1, 2), failed(1, 2)), runs(result(THERE)))) == []
