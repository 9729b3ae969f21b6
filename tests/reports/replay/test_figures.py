"""The figures show the report's own numbers."""

from __future__ import annotations

from functools import cache

from pathscope.reports.replay.figures import figures, lateness, over_time
from replayed_case import case

once = cache(case)


def test_the_histogram_is_the_reports() -> None:
    (bars,) = lateness(once()).data
    bins = once().pacing.histogram
    assert list(bars.y) == [one.count for one in bins]
    assert sum(bars.y) == sum(route.sent for route in once().routes)


def test_a_line_of_what_was_asked_and_points_of_what_came() -> None:
    drawn = over_time(once(), 0, "loss_percent")
    assert drawn is not None
    asked, *points = drawn.data
    assert asked.name == "asked"
    assert [one for one in asked.y if one is not None] == [1, 1, 1, 1, 100, 100]
    assert {trace.name for trace in points} == {"pass", "fail"}
    shown = sorted(value for trace in points for value in trace.y)
    rows = [row for row in once().rows if (row.route, row.quantity) == (0, "loss_percent")]
    assert shown == sorted(row.achieved or 0 for row in rows if row.step is not None)


def test_there_is_a_figure_of_each_quantity_that_was_asked_for() -> None:
    assert list(figures(once())) == [
        "Lateness",
        "wlan to_server: delay",
        "wlan to_server: loss",
        "wlan to_server: corrupted",
        "cellular to_server: delay",
        "cellular to_server: loss",
    ]
    assert over_time(once(), 1, "rate_kbit") is None
