"""What the folder of a replay holds as evidence, for the measurement of how true it was."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from . import _native
from .fidelity.counts import Places
from .fidelity.counts import readings as grown
from .fidelity.model import AppliedStep, Received
from .lab.folder import CAPTURES, LOGS
from .lab.scenario import ENDS
from .lab.wires import wires
from .routes import FAR, HERE, NEAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from .fidelity.counts import Counters
    from .packets.orders import Outlet
    from .request import Replay
    from .routes import Route

COLUMNS = {
    "interface": np.int64,
    "time_ns": np.int64,
    "bytes": np.int64,
    "fingerprint": np.uint64,
}


def received(folder: Path, asked: Replay) -> dict[int, Received]:
    """Return what was recorded of each route, by the route's number.

    In the lab that is at its far end, with what leaves there among it. Of a given interface it is
    what left it, after the impairment: what is at the other end, nobody here knows.
    """
    seen = {
        (end, device): frames
        for end in ENDS
        if (folder / CAPTURES[end]).is_file()
        for device, frames in _by_interface(folder, end).items()
    }
    found = {}
    for number, outlet in enumerate(asked.orders.outlets):
        ends = NEAR if outlet.netns is None else FAR
        found[number] = seen[ends[outlet.direction], outlet.device]
    return found


def _by_interface(folder: Path, end: str) -> dict[str, Received]:
    """What the capture of an end has of each interface."""
    place = folder / CAPTURES[end]
    batches = [pa.record_batch(batch) for batch in _native.fingerprints(str(place))]
    columns = {name: _column(batches, name) for name in COLUMNS}
    numbers = columns.pop("interface")
    return {
        device: Received(**{name: column[numbers == number] for name, column in columns.items()})
        for number, device in enumerate(recorded(folder, end))
    }


def recorded(folder: Path, end: str) -> list[str]:
    """Return the interfaces of an end that were recorded, in the order of its capture."""
    counts = json.loads((folder / LOGS / "recordings.json").read_text(encoding="utf-8"))
    return [name.removeprefix(f"{end}-") for name in counts if name.startswith(f"{end}-")]


def _column(batches: Iterable[pa.RecordBatch], name: str) -> Any:
    parts = [batch.column(name).to_numpy(zero_copy_only=False) for batch in batches]
    kind = COLUMNS[name]
    return np.concatenate(parts).astype(kind) if parts else np.empty(0, kind)


def applied(
    events: Iterable[Mapping[str, Any]], asked: Replay, base_realtime_ns: int
) -> Iterator[AppliedStep]:
    """Yield how the routes were impaired, each between two instants since the replay's base.

    What given interfaces receive is impaired, too, and no route of this replay.
    """
    routes = {(outlet.path, outlet.direction) for outlet in asked.orders.outlets}
    for event in events:
        if event["event"] == "impair" and (event["link"], event["direction"]) in routes:
            yield AppliedStep(
                at_ns=event["at_ns"],
                before_ns=event["t_before_ns"] - base_realtime_ns,
                after_ns=event["t_ns"] - base_realtime_ns,
                path=event["link"],
                direction=event["direction"],
                impairment=event["impairment"],
            )


def readings(events: Iterable[Mapping[str, Any]], asked: Replay) -> dict[int, Counters]:
    """Return by how much the kernel's counters of each route grew, by the route's number."""
    told = {event["when"]: event for event in events if event["event"] == "counters"}
    if "after" not in told:
        return {}
    ports = wires(asked.mtu_by_path).ports
    impaired = told["after"].get("ports", {})
    return {
        number: grown(
            told["before"],
            told["after"],
            _in_lab(outlet, ports) if outlet.netns is not None else _given(outlet, impaired),
        )
        for number, outlet in enumerate(asked.orders.outlets)
    }


def _given(outlet: Outlet, impaired: Mapping[str, str]) -> Places:
    """Of a given interface: what it counts has passed the impairment, where there is one."""
    port = impaired.get(f"{outlet.path}.{outlet.direction}")
    if port is None:
        return Places(near=(HERE, outlet.device))
    return Places(port=(HERE, port))


def _in_lab(outlet: Outlet, ports: Mapping[Route, str]) -> Places:
    return Places(
        near=(NEAR[outlet.direction], outlet.device),
        far=(FAR[outlet.direction], outlet.device),
        port=("middle", ports[outlet.path, outlet.direction]),
    )


def totals(events: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return what the sender counted: `plan` and `sent`."""
    told = next((event for event in events if event["event"] == "sent"), {})
    return {name: told[name] for name in ("plan", "sent") if name in told}
