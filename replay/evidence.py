"""What the folder of a replay holds as evidence, for the measurement of how true it was."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from . import _native
from .fidelity.model import AppliedStep, Received
from .routes import FAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa

COLUMNS = {"time_ns": np.int64, "bytes": np.int64, "fingerprint": np.uint64}


def received(folder: Path, outlets: Sequence[Mapping[str, Any]]) -> dict[int, Received]:
    """Return what was recorded at the far end of each route, by the route's number.

    What leaves there is among it.

    A route has none where nobody recorded it, as with interfaces that lead out of this machine.
    """
    found = {}
    for number, outlet in enumerate(outlets):
        place = folder / f"{FAR[outlet['direction']]}-{outlet['path']}.pcap"
        if place.is_file():
            batches = list(_native.fingerprints(str(place)))
            found[number] = Received(**{name: _column(batches, name) for name in COLUMNS})
    return found


def _column(batches: Iterable[pa.RecordBatch], name: str) -> Any:
    parts = [batch.column(name).to_numpy(zero_copy_only=False) for batch in batches]
    kind = COLUMNS[name]
    return np.concatenate(parts).astype(kind) if parts else np.empty(0, kind)


def applied(events: Iterable[Mapping[str, Any]], base_realtime_ns: int) -> Iterator[AppliedStep]:
    """Return the impairments that were set, each between two instants since the replay's base."""
    for event in events:
        if event["event"] == "impair":
            yield AppliedStep(
                at_ns=event["at_ns"],
                before_ns=event["t_before_ns"] - base_realtime_ns,
                after_ns=event["t_ns"] - base_realtime_ns,
                path=event["link"],
                direction=event["direction"],
                impairment=event["impairment"],
            )


def counters(events: Iterable[Mapping[str, Any]]) -> dict[str, Mapping[str, Any]]:
    """Return what interfaces and qdiscs counted: `before` and `after`."""
    return {event["when"]: event for event in events if event["event"] == "counters"}
