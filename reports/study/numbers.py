"""Numbers of a study in text, with as many digits as say something."""

from __future__ import annotations

from math import floor, isfinite, log10
from typing import Any

DIGITS = 4
"""Significant ones."""


def number(value: float | None, digits: int = DIGITS) -> str:
    """Return a number with so many significant digits, and every digit before the point.

    >>> number(3.187097), number(0.000123456), number(15000.0), number(0), number(None)
    ('3.187', '0.0001235', '15000', '0', '-')
    """
    if value is None:
        return "-"
    if value == 0 or not isfinite(value):
        return f"{value:g}"
    decimals = digits - 1 - floor(log10(abs(value)))
    return f"{value:.{min(max(decimals, 0), 12)}f}"


def interval(low: float | None, high: float | None) -> str:
    """Return the two ends of an interval, with three digits of its width.

    >>> interval(0.99123, 1.0123), interval(None, None)
    ('0.9912 to 1.0123', '-')
    """
    if low is None or high is None:
        return "-"
    width = abs(high - low)
    decimals = 3 if width == 0 else min(max(2 - floor(log10(width)), 0), 12)
    return f"{low:.{decimals}f} to {high:.{decimals}f}"


def named(value: Any, name: str, unit: str | None) -> str:
    """Return the value of an axis with its name and unit.

    >>> named(500, "RTO", "ms"), named("tcp", "protocol", None)
    ('RTO 500 ms', 'protocol tcp')
    """
    return f"{name} {plain(value)} {unit or ''}".strip()


def plain(value: Any) -> str:
    """Return a value of an axis as it is written in a study.

    >>> plain(1.5), plain(25.0), plain(True), plain("tcp")
    ('1.5', '25', 'true', 'tcp')
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
