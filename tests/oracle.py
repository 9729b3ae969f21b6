"""tshark as the independent reader that tests hold pathscope against."""

from __future__ import annotations

import subprocess
from decimal import Decimal
from pathlib import Path
from typing import TypeAlias

Fields: TypeAlias = dict[str, list[str]]
"""Of one frame: a field's name to its values in order of occurrence."""

PREFERENCES = (
    "sctp.checksum:Automatic",
    "sctp.reassembly:FALSE",
    "sctp.relative_tsns:FALSE",
    "sctp.ulp_dissection:FALSE",
)


def fields(
    capture: Path,
    names: tuple[str, ...],
    keep: str | None = None,
    *,
    verify: tuple[str, ...] = (),
) -> list[Fields]:
    """Return the named fields of every frame, or of those that a display filter keeps.

    `verify` are preferences on top of the usual ones: tshark leaves most checksums unchecked.
    """
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields", "-E", "occurrence=a"]
    command += ["-E", "separator=/t", "-E", "aggregator=,"]
    for preference in (*PREFERENCES, *verify):
        command += ["-o", preference]
    for name in names:
        command += ["-e", name]
    if keep is not None:
        command += ["-Y", keep]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    rows = (line.split("\t") for line in lines)
    return [
        {name: value.split(",") if value else [] for name, value in zip(names, row, strict=True)}
        for row in rows
    ]


def nanoseconds(epoch: str) -> int:
    """Convert tshark's frame.time_epoch exactly."""
    return int(Decimal(epoch) * 1_000_000_000)


def times_ns(capture: Path) -> list[int]:
    """Return the time of every packet, in file order; what tshark counts besides has none."""
    name = "frame.time_epoch"
    return [nanoseconds(frame[name][0]) for frame in fields(capture, (name,), name)]
