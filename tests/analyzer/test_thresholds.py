"""Files of limits: what they say, and what is wrong with them, by line and key."""

from __future__ import annotations

import pytest
from pathscope.analyzer.lines import line_of
from pathscope.analyzer.thresholds import BUILT_IN, Limit, parse_thresholds
from pathscope.reports import names

TEXT = """\
# What we promise.
[[limits]]
metric = "handover_delay_s"
max = 0.1

[[limits]]
metric = "goodput_bps"
in = "totals"
sender = "a"
path = "wlan"
min = 1e6
max = 2_000_000
"""


def parsed(text: str) -> tuple[Limit, ...]:
    return parse_thresholds(text, "mine.toml", names.metrics(), names.places()).limits


def test_limits() -> None:
    assert parsed(TEXT) == (
        Limit("handover_delay_s", high=0.1),
        Limit("goodput_bps", 1e6, 2_000_000, "totals", "wlan", "a"),
    )


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("handover_delay_s", "handover_delay", "3: limits[1].metric: there is no metric 'hando"),
        ('"goodput_bps"', "7", "7: limits[2].metric: expected a name, found 7"),
        ('metric = "goodput_bps"\n', "", "6: limits[2]: metric is missing"),
        ('"totals"', '"total"', "8: limits[2].in: there is no key in the result 'total',"),
        ("max = 0.1", "maximum = 0.1", "4: limits[1].maximum: there is no key 'maximum'"),
        ("max = 0.1\n", "", "2: limits[1]: expected max or min"),
        ("max = 0.1", "max = nan", "4: limits[1].max: expected a finite number, found nan"),
        ("max = 0.1", "max = true", "4: limits[1].max: expected a finite number, found True"),
        ("min = 1e6", "min = 1e7", "11: limits[2].min: it is above max"),
        ('"wlan"', "1", "10: limits[2].path: expected a label, found 1"),
        ('"a"', '"c"', """9: limits[2].sender: expected "a" or "b", found 'c'"""),
        ("[[limits]]\nmetric = \"h", "[[limit]]\nmetric = \"h", "2: limit: there is no such key"),
        ("# What we promise.", "limits = 3", " Cannot"),
    ],
)  # fmt: skip
def test_a_mistake_names_line_and_key(old: str, new: str, message: str) -> None:
    assert old in TEXT
    with pytest.raises(ValueError, match=r"^mine\.toml:") as caught:
        parsed(TEXT.replace(old, new, 1))
    assert str(caught.value).startswith(f"mine.toml:{message}")


@pytest.mark.parametrize("text", ["", "limits = []", "limits = 1"])
def test_no_limits(text: str) -> None:
    with pytest.raises(ValueError, match=r"^mine\.toml:1: the file: expected \[\[limits\]\]"):
        parsed(text)


def test_a_limit_that_is_no_table() -> None:
    with pytest.raises(ValueError, match=r"limits\[1\]: expected a table"):
        parsed("limits = [1]")


def test_the_set_of_the_itu() -> None:
    """Study W calls a delay of up to 100 ms and a jitter of up to 50 ms good."""
    limits = {limit.metric: (limit.low, limit.high) for limit in BUILT_IN["itu"].limits}
    assert limits == {
        "one_way_delay_mean_ns": (None, 100 * 10**6),
        "jitter_w_ns": (None, 50 * 10**6),
    }


def test_a_key_in_quotes_has_its_line() -> None:
    assert line_of('a = 1\n"b\\n" = 2\n', ("b\n",)) == 2
    assert line_of("a = 1\n'b\\n' = 2\n", ("b\\n",)) == 2
