"""What a user says of the pace, such as `10k` frames or `2.5M` bits a second, as orders."""

from __future__ import annotations

import math
import re

from .orders import BitRate, Original, Pace, PacketRate, TopSpeed

NUMBER = re.compile(r"(\d+(?:\.\d+)?)([kMG]?)", re.ASCII)

FACTORS = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}


def number(text: str) -> float:
    """Read a number above 0, with k, M or G for a thousand, a million, a thousand million.

    Raises
    ------
    ValueError
        When it is none.
    """
    found = NUMBER.fullmatch(text.strip())
    value = float(found[1]) * FACTORS[found[2]] if found else 0.0
    if not value > 0 or math.isinf(value):
        raise ValueError(f"{text!r}: expected a number above 0 such as 500, 10k, 2.5M or 1G")
    return value


def parse(
    speed: str | float | None = None,
    pps: str | None = None,
    rate: str | None = None,
    *,
    top: bool = False,
) -> Pace:
    """Read the one pace that is asked for; the original times when none is.

    Parameters
    ----------
    speed
        Times the original speed, such as 2 or "0.5".
    pps
        Frames a second, such as "10k".
    rate
        Bits of frames a second, such as "10M".
    top
        As fast as it goes.

    Raises
    ------
    ValueError
        When two are asked for, or one cannot be read.
    """
    asked = {
        "speed": speed is not None,
        "packets a second": pps is not None,
        "a rate": rate is not None,
        "top speed": top,
    }
    names = [name for name, is_asked in asked.items() if is_asked]
    if len(names) > 1:
        raise ValueError(f"one pace at a time, not {' and '.join(names)}")
    if pps is not None:
        return PacketRate(number(pps))
    if rate is not None:
        return BitRate(number(rate))
    if top:
        return TopSpeed()
    return Original() if speed is None else Original(number(str(speed)))
