"""Stories of ladders whose every instant the test wrote, and of the lab's runs."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import lab
import pathscope
import pytest
from ladder import HANDSHAKE, Ladder, failing, second, steady
from pathscope.analyzer.story.model import Event, Story

GOOD = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
"""26 frames."""
AWAY = failing(2.0, [1.0, 1.0, 1.0], tsn=11)
GONE = '{"event": "link", "t": 1700000001.95, "link": "path 1", "note": "down"}\n'


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    return tmp_path / "ladder.pcapng"


def stories(capture: Path, *scripts: str, events: str = "", **how: object) -> list[Story]:
    capture.write_bytes(Ladder().draw("\n".join(scripts)).capture())
    log = capture.with_suffix(".jsonl")
    log.write_text(events)
    analysis = pathscope.analyze(capture, events=log)
    return pathscope.explain(analysis, **how)  # type: ignore[arg-type]


def kinds(story: Story) -> list[tuple[str, float | None, int | None]]:
    return [(one.kind, second(one.time_ns), one.frame) for one in story.events]


def test_a_failover_in_time_order(capture: Path) -> None:
    (story,) = stories(capture, GOOD, AWAY, events=GONE)
    assert (story.from_label, story.to_label, story.cause) == ("path 1", "path 2", "timeout")
    assert kinds(story) == [
        ("path-working", 1.9, 25),
        ("path-acknowledged", 1.91, 26),
        ("link-failed", 1.95, None),
        ("timer-started", 2.0, 27),
        ("timer-expired", 3.0, 28),
        ("timer-started", 3.001, 29),
        ("other-path-works", 3.04, 30),
        ("timer-expired", 4.001, 31),
        ("timer-started", 4.002, 32),
        ("last-data", 4.002, 32),
        ("other-path-works", 4.041, 33),
        ("timer-expired", 5.002, 34),
        ("moved", 5.003, 35),
        ("acknowledged", 5.042, 36),
        ("recovered", 5.042, 36),
    ]
    bases = {one.kind: one.basis for one in story.events}
    assert (bases["timer-started"], bases["timer-expired"]) == ("inferred", "inferred")
    assert (bases["link-failed"], bases["moved"]) == ("annotated", "observed")


def test_what_an_expiry_says(capture: Path) -> None:
    (story,) = stories(capture, GOOD, AWAY, events=GONE)
    first, *_, last = [one for one in story.events if one.kind == "timer-expired"]
    assert first.values == {"consecutive": 1, "chunks": 1, "elapsed_s": 1.0, "rto_s": 1.0}
    assert "after 1.000 s (RTO 1 s), expiry 1 in a row: 1 chunks are sent again" in first.text
    assert "new DATA stays on path 1" in first.text
    assert "path 1 is given up" in last.text


def test_where_the_time_went(capture: Path) -> None:
    (story,) = stories(capture, GOOD, AWAY, events=GONE)
    assert [(one.name, second(one.end_ns)) for one in story.phases] == [
        ("unnoticed", 2.0),
        ("first-wait", 3.0),
        ("back-off", 4.001),
        ("back-off", 5.002),
        ("moving", 5.003),
        ("recovery", 5.042),
    ]
    assert second(story.phases[0].start_ns) == 1.95
    detection, floor, ceiling = story.why
    assert detection.startswith("3.002 s of 3.092 s (97%)")
    assert "1.000 + 1.000 + 1.000 s" in detection
    assert "RTO.Min of 1 s" in floor
    assert "RTO.Max of 1 s" in ceiling


def test_without_a_log_the_failure_is_inferred_with_bounds(capture: Path) -> None:
    (story,) = stories(capture, GOOD, AWAY)
    (failed,) = [one for one in story.events if one.kind == "link-failed"]
    assert failed.basis == "inferred"
    assert {"low_ns", "high_ns"} == set(failed.values)


def test_back_by_a_heartbeat(capture: Path) -> None:
    back = """
        7.0   a 1  HEARTBEAT 1          # frame 37
        9.0   a 1  HEARTBEAT 2
        9.01  b 1  HEARTBEAT ACK 2
        9.1   a 1  DATA 15
        9.11  b 1  SACK 15
    """
    up = '{"event": "link", "t": 1700000008, "link": "path 1", "note": "up"}\n'
    _, story = stories(capture, GOOD, AWAY, back, events=GONE + up)
    assert story.cause == "path-returned"
    told = [one for one in kinds(story) if "heartbeat" in one[0] or "link" in one[0]]
    assert told == [
        ("heartbeat-unanswered", 7.0, 37),
        ("link-returned", 8.0, None),
        ("heartbeat-answered", 9.01, 39),
    ]
    assert [(one.name, second(one.end_ns)) for one in story.phases][:3] == [
        ("unprobed", 9.0), ("probe", 9.01), ("moving", 9.1),
    ]  # fmt: skip
    assert {tuple(one.given) for one in story.alternatives} >= {(), ("hb_interval",)}


def test_asked_for_by_asconf(capture: Path) -> None:
    asked = "2.0 b 1 ASCONF 1 SET-PRIMARY 10.0.2.2\n2.01 a 1 ASCONF-ACK 1\n2.1 a 2 DATA 11\n"
    (story,) = stories(capture, GOOD, asked, "2.14 b 2 SACK 11\n2.2 a 2 DATA 12\n2.24 b 2 SACK 12")
    assert [one for one in kinds(story) if one[0].startswith("asconf")] == [
        ("asconf-asked", 2.0, 27), ("asconf-answered", 2.01, 28),
    ]  # fmt: skip
    assert [(one.name, second(one.end_ns)) for one in story.phases][:2] == [
        ("request", 2.01), ("moving", 2.1),
    ]  # fmt: skip
    assert story.settings is None
    assert story.alternatives == ()


def test_given_settings_are_tried_together(capture: Path) -> None:
    (story,) = stories(capture, GOOD, AWAY, events=GONE, settings=["pmr=1", "rto_max=2s"])
    assert [one.given for one in story.alternatives] == [{}, {"pmr": 1, "rto_max": 2.0}]
    assert story.alternatives[1].prediction.time_outs_s == pytest.approx((1.0, 2.0))


def test_nothing_to_explain_says_what_there_is(capture: Path) -> None:
    with pytest.raises(ValueError, match="no handover to explain: 1 associations with 2 paths"):
        stories(capture, GOOD)
    with pytest.raises(ValueError, match=r"no association 3 to explain: of 1 there: 0"):
        stories(capture, GOOD, AWAY, association=3)
    with pytest.raises(ValueError, match=r"no handover 2: there are 1, from 1"):
        stories(capture, GOOD, AWAY, handover=2)


@pytest.mark.parametrize("capture", lab.CAPTURES)
def test_stories_of_the_lab_hold_together(capture: str) -> None:
    """Events rise, observed ones are their frames', and the phases leave no gap."""
    time_ns = {frame.number: frame.time_ns for frame in lab.frames(capture)}
    analysis = lab.analysis(capture, events=True)
    if not any(one.handovers for one in analysis.associations):
        pytest.skip("no handover in it")
    for story in pathscope.explain(analysis):
        check(story.events, time_ns)
        for earlier, later in pairwise(story.phases):
            assert earlier.end_ns == later.start_ns
        assert all(one.start_ns < one.end_ns for one in story.phases)
        assert all(story.why)


def check(events: tuple[Event, ...], time_ns: dict[int, int]) -> None:
    assert [one.time_ns for one in events] == sorted(one.time_ns for one in events)
    for one in events:
        if one.frame is not None:
            assert time_ns[one.frame] == one.time_ns, one
        assert one.frame is not None or one.basis != "observed"
