"""Packet replay on interfaces that the user names: where routes leave, and are impaired."""

from __future__ import annotations

import os
import re
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from .interfaces.commands import InterfaceError, table
from .lab import tables
from .lab.events import EventLog
from .lab.network import WHOLE_FRAME_BYTES
from .lab.recorders import Tap, recording
from .lab.run import LabError
from .packets.orders import DIRECTIONS
from .perform import Performance
from .prepare import destinations
from .routes import HERE, NEAR
from .run import made, stoppable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from .fidelity.tolerances import Tolerances
    from .interfaces.session import Session
    from .request import Replay
    from .routes import Places, Route
    from .run import Outcome

WORD = re.compile(r"(?P<path>[^=]+?)(\.(?P<direction>to_server|to_client))?=(?P<device>[^=/\s]+)")


def places(words: Iterable[str], paths: Sequence[str]) -> Places:
    """Read `NAME=IFACE` and `NAME.DIRECTION=IFACE`.

    Raises
    ------
    ValueError
        When one is not of that form, names a path or an interface that is not there, or says
        something else than one before.
    """
    found: Places = {}
    for word in words:
        match = WORD.fullmatch(word)
        if match is None:
            raise ValueError(f"--interface {word}: expected NAME=IFACE or NAME.to_server=IFACE")
        path, asked, device = match["path"], match["direction"], match["device"]
        if path not in paths:
            raise ValueError(f"--interface {word}: no path {path} here, only {', '.join(paths)}")
        mtu = _mtu(device)
        for direction in DIRECTIONS:
            if asked not in (None, direction):
                continue
            if found.setdefault((path, direction), (device, mtu)) != (device, mtu):
                raise ValueError(f"--interface {word}: {path}.{direction} has another already")
    return found


def _mtu(device: str) -> int:
    try:
        return int(table("ip", "-j", "link", "show", "dev", device)[0]["mtu"])
    except InterfaceError as error:
        raise ValueError(f"{device}: no interface that can be used: {error}") from error


class Interfaces:
    """The network of a replay on given interfaces; what `perform.Network` asks of it."""

    def __init__(self, session: Session, ways: Mapping[Route, tuple[str, bool]]) -> None:
        self.session = session
        self.ways = ways

    def impair(self, changes: Sequence[tuple[Route, tuple[str, ...]]]) -> None:
        """Give the interfaces of routes netem's full set of arguments."""
        for route, words in changes:
            device, leaves = self.ways[route]
            apply = self.session.apply if leaves else self.session.apply_ingress
            apply(device, words)

    def counters(self) -> dict[str, Any]:
        """Return what the kernel counts, all of it of one host, and by route where netem is."""
        found: dict[str, Any] = {
            name: {HERE: rows} for name, rows in self.session.counters().items()
        }
        found["ports"] = {
            ".".join(route): self.session.tap(device, "egress" if leaves else "ingress")
            for route, (device, leaves) in self.ways.items()
        }
        return found

    def held_packets(self) -> int:
        """Return how many packets are in the qdiscs that impair."""
        qdiscs = self.session.counters()["qdiscs"]
        return sum(qdisc.get("qlen", 0) for qdisc in qdiscs if qdisc["kind"] == "netem")


def ways(asked: Replay) -> dict[Route, tuple[str, bool]]:
    """Return where each route is impaired: the interface, and whether it leaves there.

    The direction of a path that is not replayed is what its interface receives from elsewhere.

    Raises
    ------
    ValueError
        When two routes share an interface: its impairment could be that of one only.
    """
    sent = {(outlet.path, outlet.direction): outlet.device for outlet in asked.orders.outlets}
    found: dict[Route, tuple[str, bool]] = {route: (device, True) for route, device in sent.items()}
    for (path, direction), device in sent.items():
        (other,) = set(DIRECTIONS) - {direction}
        found.setdefault((path, other), (device, False))
    owner: dict[tuple[str, bool], Route] = {}
    for route, way in found.items():
        first = owner.setdefault(way, route)
        if first != route:
            raise ValueError(
                f"{way[0]}: {'.'.join(first)} and {'.'.join(route)} cannot be impaired apart there:"
                " give each an interface of its own"
            )
    return found


def on_interfaces(
    asked: Replay, out: Path, tolerances: Tolerances, *, allow_live: bool, force: bool = False
) -> Outcome:
    """Replay on given interfaces, leave them as they were, and measure how true it was.

    Raises
    ------
    ValueError
        When two routes cannot be impaired apart.
    InterfaceError
        When an interface cannot be used: its kinds and the message say why. Nothing was touched.
    FolderError, StoppedError, LabError
        As `run.in_lab`.
    """
    from .interfaces.safety import Destinations
    from .interfaces.session import open_session

    impaired = ways(asked) if asked.steps() else {}
    with (
        _tables(asked) as tables_folder,
        open_session(
            [(one.path, one.direction, one.device) for one in asked.orders.outlets],
            egress={device for device, leaves in impaired.values() if leaves},
            ingress={device for device, leaves in impaired.values() if not leaves},
            destinations=Destinations(addresses=destinations(asked.orders)),
            allow_live=allow_live,
            tables=tables_folder,
        ) as session,
    ):

        def perform() -> None:
            try:
                _perform(asked, out, Interfaces(session, impaired))
            except InterfaceError as error:
                raise LabError(str(error)) from error

        outcome = made(asked, out, "interfaces", tolerances, perform, force=force)
    return replace(outcome, notes=tuple(session.notes))


@contextmanager
def _tables(asked: Replay) -> Iterator[Path | None]:
    """The folder with the profile's own distributions, for as long as the block lasts."""
    if asked.profile is None or not asked.profile.distributions:
        yield None
        return
    with TemporaryDirectory(prefix="tc-") as name:
        tables.write(Path(name), asked.profile.distributions)
        yield Path(name)


def _perform(asked: Replay, folder: Path, network: Interfaces) -> None:
    kernel = os.uname()
    (folder / "logs" / "kernel").write_text(f"{kernel.sysname} {kernel.release} {kernel.version}\n")
    steps = [step for step in asked.steps() if (step.path, step.direction) in network.ways]
    taps = {Tap(NEAR[one.direction], one.device, here=True) for one in asked.orders.outlets}
    with ExitStack() as stack:
        events = EventLog(folder / "events.jsonl")
        stack.callback(events.close)
        ordered = sorted(taps, key=lambda tap: tap.name)
        stack.enter_context(recording(ordered, folder, WHOLE_FRAME_BYTES, prompt=False))
        with stoppable(folder):
            performance = Performance(folder, network, events, steps)
            performance.run(asked.orders, asked.command, asked.seed)
