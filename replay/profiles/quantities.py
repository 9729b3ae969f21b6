"""Numbers with units, as tc and tcconfig write them."""

from __future__ import annotations

import re

NUMBER = re.compile(r"([0-9]*\.?[0-9]+(?:[eE][-+]?[0-9]+)?)\s*([A-Za-z%/]*)")

MILLISECONDS = {
    "ns": 1e-6, "nsec": 1e-6, "us": 1e-3, "usec": 1e-3, "ms": 1.0, "msec": 1.0,
    "s": 1e3, "sec": 1e3, "min": 60e3, "m": 60e3,
}  # fmt: skip

PREFIXES = {"": 1, "k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12}
BINARY_PREFIXES = {f"{prefix}i": 1024.0**power for power, prefix in enumerate("kmgt", 1)}

KILOBITS = 1000

LARGEST = 1e15
"""No link has more of anything; and what is rounded later is not infinite."""


class QuantityError(ValueError):
    """A number, or its unit, that is none."""


def milliseconds(text: str) -> float:
    """Return a time in milliseconds.

    A number alone is in microseconds to tc, and in milliseconds to tcconfig, and refused here.
    """
    value, unit = _split(text)
    if unit.lower() not in MILLISECONDS:
        raise QuantityError(f"expected a time such as 10ms, found {text!r}")
    return rounded(value * MILLISECONDS[unit.lower()])


def percent(text: str) -> float:
    """Return a share in percent."""
    value, unit = _split(text)
    if unit != "%":
        raise QuantityError(f"expected a share such as 1%, found {text!r}")
    return rounded(value)


def tc_kilobits(text: str) -> float:
    """Return a rate of tc's in kbit/s: to tc `bps` are bytes a second."""
    value, unit = _split(text)
    lower = unit.lower()
    for ending, bits in (("bit", 1), ("bps", 8), ("", 1)):
        factor = (PREFIXES | BINARY_PREFIXES).get(lower.removesuffix(ending))
        if lower.endswith(ending) and factor is not None:
            return rounded(value * factor * bits / KILOBITS)
    raise QuantityError(f"expected a rate such as 10mbit, found {text!r}")


def kilobits(text: str) -> float:
    """Return a rate of tcconfig's in kbit/s: to it `bps` are bits a second."""
    value, unit = _split(text)
    lower = unit.lower()
    for ending in ("bit/s", "bps", "bit", "b", ""):
        factor = (PREFIXES | BINARY_PREFIXES).get(lower.removesuffix(ending))
        if lower.endswith(ending) and factor is not None:
            return rounded(value * factor / KILOBITS)
    raise QuantityError(f"expected a rate such as 1Mbps, found {text!r}")


def rounded(value: float) -> float:
    """Return a number to a millionth, whole ones without a fraction."""
    found = round(value, 6)
    return int(found) if found == int(found) else found


def _split(text: str) -> tuple[float, str]:
    found = NUMBER.fullmatch(text.strip())
    if found is None:
        raise QuantityError(f"expected a number, found {text[:40]!r}")
    value = float(found[1])
    if value > LARGEST:
        raise QuantityError(f"expected a number below {LARGEST:g}, found {text[:40]!r}")
    return value, found[2]
