"""Distributions of delay as tc reads them: files of 16-bit numbers, of which 8192 are a deviation.

tc looks for `NAME.dist` in one folder, so a folder with tables of own needs its standard ones, too.
"""

from __future__ import annotations

import shutil
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

from .impairment import STANDARD

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SCALE = 8192
"""What stands for one standard deviation."""

WIDEST = 32767 / SCALE
"""Standard deviations, as far as 16 bits reach."""

ENTRIES = 4096
"""Of a table made of fewer values, as tc has: netem draws one of them, and nothing between."""

FOLDER = "TC_LIB_DIR"
"""The variable that tells tc where its tables are."""

PLACES = ("/usr/lib/tc", "/usr/lib64/tc", "/usr/share/tc", "/usr/lib/*/tc")
"""Where distributions of Linux keep them; tc knows only its own."""

Moments = tuple[float, float]


class TablesError(RuntimeError):
    """tc's own tables are not where they are known to be."""


def moments(values: Sequence[float]) -> Moments:
    """Return mean and standard deviation of a distribution, as far as netem can hold it.

    `values` are quantiles, ascending and evenly spaced in probability, from the least to the
    greatest: between two of them every delay is as likely.
    """
    held = [_held(value) for value in values]
    parts = len(held) - 1
    mean = sum(a + b for a, b in pairwise(held)) / 2 / parts
    square = sum(a * a + a * b + b * b for a, b in pairwise(held)) / 3 / parts
    return mean, max(0.0, square - mean * mean) ** 0.5


def entries(values: Sequence[float]) -> list[int]:
    """Return a table: numbers of 16 bits, ascending, 4096 of them or as many as there are values.

    What is beyond four deviations is put at their end.
    """
    count = max(ENTRIES, len(values))
    return [round(SCALE * _at(values, (number + 0.5) / count)) for number in range(count)]


def write(folder: Path, distributions: Mapping[str, Sequence[float]]) -> None:
    """Write tables into a folder which tc is then told of by `TC_LIB_DIR`, its own ones among them.

    Raises
    ------
    TablesError
        When tc's own are not found.
    OSError
        When the folder cannot be written.
    """
    source = _standard()
    for name in STANDARD:
        # A copy: the folder may be all that a namespace of its own is shown.
        shutil.copyfile(source / f"{name}.dist", folder / f"{name}.dist")
    for name, values in distributions.items():
        text = "\n".join(map(str, entries(values)))
        (folder / f"{name}.dist").write_text(f"# {name}\n{text}\n", encoding="ascii")


def _standard() -> Path:
    for pattern in PLACES:
        for place in sorted(Path("/").glob(pattern.lstrip("/"))):
            if all((place / f"{name}.dist").is_file() for name in STANDARD):
                return place
    raise TablesError(f"tc's tables ({', '.join(STANDARD)}) are in none of {', '.join(PLACES)}")


def _at(values: Sequence[float], share: float) -> float:
    """The quantile at a share of probability."""
    place = share * (len(values) - 1)
    below = min(int(place), len(values) - 2)
    low, high = _held(values[below]), _held(values[below + 1])
    return low + (high - low) * (place - below)


def _held(value: float) -> float:
    return max(-WIDEST, min(WIDEST, value))
