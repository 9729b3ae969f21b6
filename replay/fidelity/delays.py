"""What delays an impairment asks for: netem adds a drawn value of a table, times the jitter.

The kernel draws each value on its own, and sends at once what it draws below zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

    Sample = npt.NDArray[np.float64]

SCALE = 8192
"""A table's unit is this part of the jitter (NETEM_DIST_SCALE)."""

REACH = 4
"""Jitters that a table reaches: its values have 16 bits."""

UNIFORM = np.linspace(-1, 1, 4097)[:-1] + 1 / 4097
"""Netem's own without a table: evenly within the jitter on both sides."""

FOLDERS = ("/usr/lib/tc", "/usr/share/tc", "/lib/tc", "/usr/lib64/tc")
"""Where iproute2 keeps its tables, beside the folders of architectures."""


@dataclass(frozen=True, slots=True)
class Delays:
    """Equally likely delays of one impairment, ascending, in ms; not one before 0."""

    values_ms: Sample

    @property
    def median_ms(self) -> float:
        """The delay that half of the frames stay below."""
        return float(np.median(self.values_ms))

    @property
    def low_ms(self) -> float:
        """The shortest."""
        return float(self.values_ms[0])

    @property
    def high_ms(self) -> float:
        """The longest."""
        return float(self.values_ms[-1])


def asked_for(
    impairment: Mapping[str, Any], tables: Mapping[str, Sequence[float]]
) -> Delays | None:
    """Return the delays that an impairment asks for; None when its table is not known.

    Parameters
    ----------
    impairment
        As in the scenario schema.
    tables
        Values of each distribution by name, in units of the jitter, in any order.
    """
    delay_ms, jitter_ms = impairment.get("delay_ms", 0), impairment.get("jitter_ms", 0)
    name = impairment.get("distribution", "uniform")
    if not jitter_ms:
        table = np.zeros(1)
    elif name in tables:
        table = np.clip(np.sort(np.asarray(tables[name], dtype=np.float64)), -REACH, REACH)
    elif name == "uniform":
        table = UNIFORM
    else:
        return None
    return Delays(np.maximum(delay_ms + jitter_ms * table, 0.0))


def tables_of_tc() -> dict[str, list[float]]:
    """Read the tables that come with `tc`, by name; those that this machine has."""
    folders = [Path(one) for one in FOLDERS] + sorted(Path("/usr/lib").glob("*-linux-*/tc"))
    files = [file for folder in folders for file in sorted(folder.glob("*.dist"))]
    return {file.stem: parse_table(file.read_text(encoding="ascii")) for file in files}


def parse_table(text: str) -> list[float]:
    """Return the values of a distribution file of `tc`, in units of the jitter."""
    lines = (line for line in text.splitlines() if not line.startswith("#"))
    return [int(word) / SCALE for line in lines for word in line.split()]
