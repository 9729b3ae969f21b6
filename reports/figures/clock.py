"""The axis of time: figures, tables, addresses and Wireshark all count from frame 1 of a capture.

So an instant has one number wherever it stands, and is found again by it.
"""

from __future__ import annotations

SECONDS = "seconds since frame 1"
"""Unit of what counts from there, in words."""

TITLE = "time since frame 1 [s]"
"""Title of its axis: short enough for a screen in the hand."""

DIGITS = 9
"""Decimals of seconds that a capture's nanoseconds have; a float of less than 11 days keeps all."""


def written(at_s: float) -> str:
    """Return a time with every digit, as tables and Wireshark write it.

    >>> written(10.99646592)
    '10.996465920'
    """
    return f"{at_s:.{DIGITS}f}"
