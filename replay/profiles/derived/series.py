"""What two captures of one run say crossed each route."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ....analyzer.ends.sightings import FLOWS, NO_PATH
from .model import DIRECTIONS, Series

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ....analyzer.ends.between import Sent
    from ....analyzer.ends.run import Ends
    from ....analyzer.model import Association, CaptureResult, End, Path
    from .model import Direction

Route = tuple[str, "Direction"]


def series(result: CaptureResult, ends: Ends, base_ns: int) -> list[Series]:
    """Put together what every association and flow sent on a route; paths in order of sight.

    Parameters
    ----------
    result
        The analysis of the first capture, whose names of paths count.
    ends
        How the second fits to it.
    base_ns
        Time 0.
    """
    routes = named(result)
    found: dict[Route, list[Sent]] = {}
    for (group, path, sender), sent in ends.ways.items():
        if (route := routes.get((group, path, sender))) is not None:
            found.setdefault(route, []).append(sent)
    order = {route: at for at, route in enumerate(dict.fromkeys(routes.values()))}
    return [_joined(route, found[route], base_ns) for route in sorted(found, key=order.__getitem__)]


def named(result: CaptureResult) -> dict[tuple[int, int, End], Route]:
    """Return the route of each way: by association or flow (`FLOWS` on), path, and sender.

    The client of the capture is end a of its first association, else of its first flow. What
    another host opened towards it has it as end b.
    """
    ways = [
        (one.number, path.number, link(path, one), path.a_address, path.b_address)
        for one in result.associations
        for path in one.paths
    ]
    ways += [
        (
            FLOWS + one.number,
            NO_PATH,
            one.label,
            one.endpoints["a"].address,
            one.endpoints["b"].address,
        )
        for one in result.flows
    ]
    if not ways:
        return {}
    clients = {a for number, _, _, a, _ in ways if number == ways[0][0]}
    found: dict[tuple[int, int, End], Route] = {}
    for number, path, label, a, b in ways:
        turned = b in clients and a not in clients
        to_server, to_client = DIRECTIONS[::-1] if turned else DIRECTIONS
        found[number, path, "a"] = (label, to_server)
        found[number, path, "b"] = (label, to_client)
    return found


def link(path: Path, association: Association) -> str:
    """Name the link that a path takes: its label.

    Where the capture tells interfaces apart, paths of other addresses over the same one share it.
    """
    if len({one.interface for one in association.paths}) < 2:
        return path.label
    return path.label.removesuffix(f" {path.a_address}-{path.b_address}")


def _joined(route: Route, parts: list[Sent], base_ns: int) -> Series:
    packets = [one.packets for one in parts]
    sent_ns = np.concatenate([one.sent_ns for one in packets])
    order = np.argsort(sent_ns, kind="stable")
    arrived = Series(
        *route,
        sent_ns[order] - base_ns,
        np.concatenate([one.arrived_ns for one in packets])[order],
        np.concatenate([one.wire_bytes for one in packets])[order].astype(np.int64),
        _total(one.duplicated for one in packets),
        sum(one.outside for one in parts),
        sum(one.unsent for one in parts),
    )
    arrived.arrived_ns[arrived.arrived] -= base_ns
    return arrived


def _total(counts: Iterable[int | None]) -> int | None:
    known = list(counts)
    return None if None in known else sum(count for count in known if count is not None)
