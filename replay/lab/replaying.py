"""What a packet replay does inside a kernel: hosts and wires, recordings, and the replay itself.

Started as `python -m pathscope.replay.lab.replaying RUN`, where RUN holds `replay.json`; it writes
there `events.jsonl`, `sent.arrows`, two recordings for each end of a wire, and logs. As `stage`, it
needs privileges and clears nothing away.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..packets.sender import sender_of
from ..perform import Performance
from ..request import Replay
from . import building, tc
from .ends import StageError
from .events import EventLog
from .recorders import Tap, recording
from .scenario import ENDS
from .wires import Route, Wires, wires

if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLE_FRAME_BYTES = 262144
"""What tcpdump takes for a snapshot length that cuts nothing."""


class Lab:
    """The network of a replay: hosts with a wire a path, impaired in the middle."""

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
        if self.tc is not None:
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


def taps(paths: Sequence[str]) -> list[Tap]:
    """Return what is recorded: at both ends of each path, what comes in apart from what goes out.

    A frame that comes back to where it was sent would else be taken for one that was sent.
    """
    return [
        Tap(host, path, direction)
        for host in ENDS
        for path in paths
        for direction in ("inbound", "outbound")
    ]


def replay(folder: Path) -> None:
    """Make the replay that a folder says.

    Raises
    ------
    StageError
        When a step fails.
    """
    asked = Replay.of_run(folder)
    made = wires({path: asked.mtu_of(path) for path in asked.paths})
    with ExitStack() as stack:
        events = EventLog(folder / "events.jsonl")
        stack.callback(events.close)
        lab = Lab(made)
        lab.build()
        steps = asked.steps()
        if steps:
            lab.tc = stack.enter_context(tc.running("middle"))
        stack.enter_context(
            recording(taps(asked.paths), folder, WHOLE_FRAME_BYTES, prompt=False)
        )
        sender = stack.enter_context(sender_of(asked.orders))
        Performance(folder, lab, events, steps).run(sender, asked.header())


def main() -> None:
    """Make the replay in the folder that the first argument names."""
    folder = Path(sys.argv[1])
    kernel = os.uname()
    (folder / "logs" / "kernel").write_text(f"{kernel.sysname} {kernel.release} {kernel.version}\n")
    try:
        replay(folder)
    except (StageError, tc.TcError) as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
