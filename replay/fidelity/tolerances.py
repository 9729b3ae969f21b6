"""What a replay may be off by before it fails: built in, or from a TOML file.

late_share = 0.01      # one key a line, by the names below; what is left out stays as built in
delay_ms = 0.5
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from ...analyzer.lines import document_of, line_of


@dataclass(frozen=True, slots=True)
class Tolerances:
    """What is allowed, in the unit that each name ends in; shares are of 1.

    Where chance decides (see `level`), a quantity may be off by its tolerance and by chance on top.
    """

    late_ms: float = 1.0
    """A frame sent later than this is late."""
    late_share: float = 0.01
    """Of all frames handed over, those that may be late."""
    lateness_p99_us: float = 1000.0
    drift_us: float = 1000.0
    """Over the whole run: lateness that grows is a clock that goes wrong."""
    refused_share: float = 0.0
    """Frames that the device's queue refused (ENOBUFS), of those planned."""
    dropped_share: float = 0.0
    """Frames dropped because they were late, of those planned."""
    delay_ms: float = 0.5
    distribution_distance: float = 0.05
    """Kolmogorov and Smirnov's distance of the delays from netem's table."""
    loss_percent: float = 0.0
    loss_burst_packets: float = 0.0
    duplicate_percent: float = 0.0
    corrupt_percent: float = 0.0
    reorder_percent: float = 0.0
    rate_share: float = 0.03
    """Of the rate asked for."""
    step_ms: float = 50.0
    """From when a step was asked for to when it is in effect."""
    guard_ms: float = 1.0
    """Frames sent so shortly before a change may meet it: they are left out."""
    unexplained_packets: float = 0.0
    """What two counts of the same thing may differ by without an explanation."""
    level: float = 0.01
    """The chance that a replay in which all went as asked for fails, by Holm's correction."""


def parse_tolerances(text: str, name: str) -> Tolerances:
    """Read tolerances from TOML.

    Parameters
    ----------
    text
        The document.
    name
        What it is called in messages: its file.

    Raises
    ------
    ValueError
        When it is none; the message names file, line and key.
    """
    document = document_of(text, name)
    known = [one.name for one in fields(Tolerances)]
    for key, value in document.items():
        what = _mistake(key, value, known)
        if what:
            raise ValueError(f"{name}:{line_of(text, (key,))}: {key}: {what}")
    return Tolerances(**document)


def _mistake(key: str, value: Any, known: list[str]) -> str:
    if key not in known:
        close = get_close_matches(key, known, 1)
        return "there is no such key" + (f", did you mean {close[0]}?" if close else "")
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value) or value < 0:
        return f"expected a number, 0 or more, found {value!r}"
    if key == "level" and not 0 < value < 1:
        return f"expected a number between 0 and 1, found {value!r}"
    return ""
