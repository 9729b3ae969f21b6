"""The console report at any width, and with names that mean mischief."""

from __future__ import annotations

import io
import re

import pathscope
import pytest
from pathscope.reports.console import INSTANT_WORDS, METRIC_WORDS, report
from rich.console import Console
from running import ASCONF, FAILOVER


def rendered(analysis: pathscope.Analysis, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False).print(report(analysis.result))
    return stream.getvalue()


@pytest.mark.parametrize("width", [80, 100, 120, 140, 250])
@pytest.mark.parametrize("capture", [FAILOVER, ASCONF], ids=["failover", "asconf"])
def test_no_number_is_lost_in_a_narrow_terminal(capture: object, width: int) -> None:
    analysis = pathscope.analyze(str(capture))
    text = rendered(analysis, width)
    assert all(len(line) <= width for line in text.splitlines())
    (association,) = analysis.associations
    for path in association.paths:
        assert path.a_address in text
        assert path.b_address in text
        assert text.count(path.label) >= 1
        for direction in path.directions.values():
            packets = direction.metrics["packets"].value
            assert re.search(rf"\b{packets}\b", text)


def test_every_word_is_of_a_number_that_exists() -> None:
    (association,) = pathscope.analyze(FAILOVER).associations
    for handover in association.handovers:
        assert set(INSTANT_WORDS) <= set(handover.instants)
        assert set(METRIC_WORDS) <= set(handover.metrics)


def test_each_present_instant_has_a_line_with_its_frame() -> None:
    analysis = pathscope.analyze(FAILOVER)
    text = rendered(analysis, 140)
    for handover in analysis.associations[0].handovers:
        for name, words in INSTANT_WORDS.items():
            instant = handover.instants[name]
            if instant.frame is not None:
                assert re.search(rf"{words} +{instant.frame} +observed", text), name


def test_brackets_in_a_name_are_no_markup() -> None:
    name = "[/red][bold]x[link=http://example.org]"
    text = rendered(pathscope.analyze(FAILOVER, labels=[f"2001:db8:1::/64={name}"]), 250)
    assert name in text
