"""The figure of a profile."""

from __future__ import annotations

from typing import Any

import pytest
from pathscope.replay.profiles.plot import COLOURS, Measured, figure, page
from pathscope.replay.profiles.profile import parse

S = 10**9

PROFILE = parse(
    {
        "description": "A walk.",
        "paths": {
            "wlan": {
                "both": {"delay_ms": 20, "jitter_ms": 5},
                "to_client": {"rate_kbit": 2000},
                "steps": [
                    {"at_s": 2, "direction": "to_server", "loss_percent": 100},
                    {"at_s": 3, "loss_percent": 1, "delay_ms": 30},
                ],
            }
        },
    }
)


def named(drawn: Any, name: str) -> list[Any]:
    return [trace for trace in drawn.data if trace.name == name and trace.mode == "lines"]


def test_delay_loss_and_rate_of_every_route() -> None:
    drawn = figure(PROFILE, ["wlan"], 5 * S)
    delay, loss = named(drawn, "wlan to server")
    assert (list(delay.x), list(delay.y)) == ([0, 2, 3, 5], [20, 20, 30, 30])
    assert list(loss.y) == [0, 100, 1, 1]
    _, _, rate = named(drawn, "wlan to client")
    assert list(rate.y) == [2000, 2000, 2000]
    assert drawn.layout.title.text == "A walk."


def test_without_a_rate_there_is_no_row_for_it() -> None:
    drawn = figure(parse({"paths": {"wlan": {"both": {"delay_ms": 9}}}}), ["wlan"], S)
    assert drawn.layout.yaxis2.title.text == "loss [%]"
    assert "yaxis3" not in drawn.layout


def test_jitter_is_a_band_around_the_delay() -> None:
    drawn = figure(PROFILE, ["wlan"], 5 * S)
    (band,) = [trace for trace in drawn.data if trace.name == "wlan to server: range"]
    ends = list(zip(band.x, band.y, strict=True))
    assert ends[:6] == [(0, 25), (2, 25), (2, 25), (3, 25), (3, 35), (5, 35)]
    assert ends[6:] == [(5, 25), (3, 25), (3, 15), (2, 15), (2, 15), (0, 15)]


def test_where_it_is_down_is_shaded() -> None:
    drawn = figure(PROFILE, ["wlan"], 5 * S)
    assert {(shape.x0, shape.x1) for shape in drawn.layout.shapes} == {(2, 3)}
    assert [note.text for note in drawn.layout.annotations] == ["wlan to server down"]


def test_a_path_that_is_down_both_ways_is_shaded_once() -> None:
    steps = [{"at_s": 2, "loss_percent": 100}, {"at_s": 2.5, "delay_ms": 9}]
    drawn = figure(parse({"paths": {"*": {"steps": steps}}}), ["wlan", "lte"], 5 * S)
    assert {(shape.x0, shape.x1) for shape in drawn.layout.shapes} == {(2, 5)}
    assert [note.text for note in drawn.layout.annotations] == ["wlan, lte down"]


def test_what_was_measured_is_beside_it_in_its_colour() -> None:
    points = Measured("wlan", "to_client", [0.5, 1.0], [21.0, 19.0])
    drawn = figure(PROFILE, ["wlan"], 5 * S, [points])
    (cloud,) = [trace for trace in drawn.data if trace.mode == "markers"]
    assert list(cloud.y) == [21, 19]
    assert cloud.marker.color == COLOURS[0]


def test_a_page_needs_no_network() -> None:
    text = page(figure(PROFILE, ["wlan"], 5 * S))
    assert "<script src=" not in text
    assert "wlan to server" in text


@pytest.mark.parametrize("name", ["<script>alert(1)</script>", "</script><b>"])
def test_a_hostile_name_is_text(name: str) -> None:
    profile = parse({"description": name, "paths": {name: {"both": {"delay_ms": 1}}}})
    text = page(figure(profile, [name], S))
    assert name not in text
