"""Events: the lab's lines, wrong lines, and comments in the capture."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from crafting import Pcapng, Record
from hypothesis import given
from hypothesis import strategies as st
from ladder import HANDSHAKE, Ladder, failing, steady
from pathscope import api
from pathscope.analyzer.events import parse_events

GOOD = '{"t": 1795242154.1563883, "event": "link", "link": 1, "note": "down"}'


def test_a_link_event_to_the_digit() -> None:
    """A float would be off by 100 ns and more."""
    (event,) = parse_events([GOOD], "x")
    assert event.ns == 1_795_242_154_156_388_300
    assert (event.up, event.name) == (False, "1")


@given(st.integers(0, 4 * 10**18))
def test_every_nanosecond_is_kept(ns: int) -> None:
    line = f'{{"t": {Decimal(ns).scaleb(-9):f}, "event": "link", "link": "wlan", "note": "up"}}'
    (event,) = parse_events([line], "x")
    assert event.ns == ns


def test_other_events_and_empty_lines_are_passed_over() -> None:
    lines = ['{"t": 1.0, "event": "connected"}', "", "  ", GOOD]
    assert len(parse_events(lines, "x")) == 1


@pytest.mark.parametrize(
    "line",
    [
        "link 1 down",
        "[1, 2]",
        "7",
        GOOD.replace("1795242154.1563883", '"soon"'),
        GOOD.replace("1795242154.1563883", "null"),
        GOOD.replace("1795242154.1563883", "[]"),
        GOOD.replace("1795242154.1563883", "{}"),
        GOOD.replace("1795242154.1563883", "true"),
        GOOD.replace("1795242154.1563883", "NaN"),
        GOOD.replace("1795242154.1563883", "Infinity"),
        GOOD.replace("1795242154.1563883", "1e400"),
        GOOD.replace('"down"', '"sideways"'),
        GOOD.replace('"down"', "[]"),
        GOOD.replace('"link": 1', '"link": null'),
        GOOD.replace('"link": 1', '"link": true'),
        GOOD.replace('"t"', '"time"'),
    ],
)
def test_a_wrong_line_is_named(line: str) -> None:
    with pytest.raises(ValueError, match=r"^log, line 3: expected"):
        parse_events([GOOD, "", line], "log")


def test_comments_in_the_capture_are_events(tmp_path: Path) -> None:
    script = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
    records = Ladder().draw(script + failing(2.5, [1.0, 1.0], tsn=11)).records
    comments = {2_500_000_000: "pathscope: link down path 1", 0: "something else"}
    file = Pcapng().section().interface("path 1").interface("path 2")
    start_ns = records[0].time_ns
    for one in records:
        comment = comments.get(one.time_ns - start_ns)
        file.packet(Record(one.time_ns, one.data, one.interface, comment=comment))
    capture = tmp_path / "commented.pcapng"
    capture.write_bytes(file.bytes())
    (association,) = api.analyze(capture).associations
    fail = association.handovers[0].instants["t_fail"]
    assert (fail.basis, fail.ns) == ("annotated", start_ns + 2_500_000_000)


def test_an_event_about_no_path_is_warned_of(tmp_path: Path) -> None:
    capture, log = tmp_path / "x.pcapng", tmp_path / "events.jsonl"
    capture.write_bytes(Ladder().draw(HANDSHAKE).capture())
    event = json.loads(GOOD) | {"link": "satellite"}
    log.write_text(json.dumps(event) + "\n")
    warnings = api.analyze(capture, events=log).warnings
    assert any("satellite" in warning and "line 1" in warning for warning in warnings)


def test_a_comment_can_tell_its_own_time_and_counts_once(tmp_path: Path) -> None:
    script = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
    records = Ladder().draw(script + failing(2.5, [1.0, 1.0], tsn=11)).records
    told = f"{records[0].time_ns + 2_400_000_007:010d}"
    told = f"{told[:-9]}.{told[-9:]}"
    texts = [f"pathscope: link down path 1 at {told}", f"pathscope: link up satellite at {told}"]
    file = Pcapng().section().interface("path 1").interface("path 2")
    for one, comment in zip(records, [*texts, *[None] * len(records)], strict=False):
        file.packet(Record(one.time_ns, one.data, one.interface, comment=comment))
    capture, log = tmp_path / "commented.pcapng", tmp_path / "events.jsonl"
    capture.write_bytes(file.bytes())
    log.write_text(f'{{"t": {told}, "event": "link", "link": "satellite", "note": "up"}}\n')
    analysis = api.analyze(capture, events=log)
    fail = analysis.associations[0].handovers[0].instants["t_fail"]
    assert (fail.basis, fail.ns) == ("annotated", records[0].time_ns + 2_400_000_007)
    assert sum("satellite" in warning for warning in analysis.warnings) == 1
