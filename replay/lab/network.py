"""The network of a packet replay in the lab: hosts with a wire a path, impaired in the middle."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from . import building, tc
from .ends import StageError
from .recorders import Tap
from .scenario import ENDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ..routes import Route
    from .wires import Wires


WHOLE_FRAME_BYTES = 262144
"""What tcpdump takes for a snapshot length that cuts nothing."""


class Lab:
    """Hosts and wires; what `perform.Network` asks of them."""

    def __init__(self, made: Wires) -> None:
        self.made = made
        self.tc: tc.Tc | None = None

    def build(self) -> None:
        """Make hosts and wires."""
        made = self.made
        building.build(made.hosts, made.links, made.devices, made.sysctls)
        lines = "\n".join(made.hand_over) + "\n"
        building.run("tc", "-netns", "middle", "-batch", "-", given=lines)

    def impair(self, changes: Sequence[tuple[Route, tuple[str, ...]]]) -> None:
        """Give the middle's ports of some routes netem's full set of arguments."""
        if self.tc is None:
            raise StageError("the middle has no tc to impair routes with")
        self.tc.netem("replace", [(self.made.ports[route], words) for route, words in changes])

    def counters(self) -> dict[str, Any]:
        """Return what the kernel counts, by host."""
        return {
            "interfaces": {host: _told("ip", host, "link", "show") for host in self.made.hosts},
            "qdiscs": {host: _told("tc", host, "qdisc", "show") for host in self.made.hosts},
        }

    def held_packets(self) -> int:
        """Return how many packets are in the middle's qdiscs."""
        return sum(qdisc.get("qlen", 0) for qdisc in _told("tc", "middle", "qdisc", "show"))


def _told(program: str, host: str, *words: str) -> list[dict[str, Any]]:
    said = building.run(program, "-netns", host, "-statistics", "-json", *words)
    found: list[dict[str, Any]] = json.loads(said)
    # tc leaves an empty object where a qdisc shows nothing.
    return [entry for entry in found if entry]


def taps(paths: Iterable[str]) -> list[Tap]:
    """Return what is recorded: both ends of each path."""
    return [Tap(host, path) for host in ENDS for path in paths]
