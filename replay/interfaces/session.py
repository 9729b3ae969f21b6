"""A replay's hold on interfaces that are given: opened safely, impaired, left as they were."""

from __future__ import annotations

import os
import secrets
import subprocess
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

from ..lab.tc import Tc, TcError
from . import (
    commands,
    diversion,
    exclusive,
    journal,
    keeper,
    links,
    privileges,
    recovery,
    safety,
    signals,
    snapshot,
)
from .commands import InterfaceError
from .diversion import HOOKS
from .journal import Device, Journal
from .safety import Destinations

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from .diversion import Hook

Outlet = tuple[str, str, str]
"""A route and where it leaves: path, direction, device."""

NOWHERE = Destinations()


class Session:
    """Interfaces in use.

    `notes` is what is to be told of them: why they are live, what was found and left by a session
    that is gone, what others changed meanwhile. It is complete when the session is closed.
    """

    def __init__(self, devices: Sequence[str], notes: list[str]) -> None:
        self.devices = tuple(devices)
        self.notes = notes
        self._ifbs: dict[tuple[str, Hook], str] = {}
        self._tc: Tc | None = None

    def apply(self, device: str, arguments: Sequence[str]) -> None:
        """Impair what an interface sends, by the full set of netem's arguments.

        Returns when the kernel has done it.

        Raises
        ------
        InterfaceError
            When the session was not opened for that, or tc refuses.
        """
        self._apply(device, "egress", arguments)

    def apply_ingress(self, device: str, arguments: Sequence[str]) -> None:
        """Impair what an interface receives, by the full set of netem's arguments.

        What captures on the interface see is from before; `tap` is where it can be seen after.

        Raises
        ------
        InterfaceError
            As `apply`.
        """
        self._apply(device, "ingress", arguments)

    def tap(self, device: str, hook: Hook) -> str:
        """Return the interface of ours over which these packets go, once impaired.

        Raises
        ------
        InterfaceError
            When the session was not opened for that.
        """
        try:
            return self._ifbs[device, hook]
        except KeyError:
            raise InterfaceError(f"{device}: not opened to impair its {hook}") from None

    def counters(self) -> dict[str, Any]:
        """Return `interfaces` and `qdiscs` by interface, as `ip -s` and `tc -s` tell them in JSON.

        Those of our own are there under the interface's name and `:egress` or `:ingress`. One that
        has vanished has None.
        """
        named = {device: device for device in self.devices}
        named |= {f"{device}:{hook}": ifb for (device, hook), ifb in self._ifbs.items()}
        return {
            "interfaces": {
                name: _told("ip", "-j", "-s", "link", device=at) for name, at in named.items()
            },
            "qdiscs": {
                name: _told("tc", "-j", "-s", "qdisc", device=at) for name, at in named.items()
            },
        }

    def _apply(self, device: str, hook: Hook, arguments: Sequence[str]) -> None:
        ifb = self.tap(device, hook)
        if self._tc is None:
            raise InterfaceError(f"{device}: the session is closed")
        try:
            self._tc.netem("replace", [(ifb, arguments)])
        except TcError as error:
            raise InterfaceError(f"{device}: {hook}: {error}") from error

    @contextmanager
    def diverted(self, done: Journal, path: Path, tables: Path | None) -> Iterator[None]:
        """Divert what a journal tells of; undo it when the block ends, and remove the journal.

        Raises
        ------
        InterfaceError
            When something cannot be done or undone; in the latter case the journal stays.
        """
        try:
            for device in done.devices:
                for way in device.ways:
                    diversion.make_ifb(way.ifb)
                if device.adds_clsact:
                    commands.run("tc", "qdisc", "add", "dev", device.name, "clsact")
                for way in device.ways:
                    diversion.divert(device.name, way, done.mark)
                    self._ifbs[device.name, way.hook] = way.ifb
            with _tc(tables) as self._tc:
                yield
        finally:
            with signals.held_back():
                self._tc = None
                self.notes += recovery.undo(done)
                journal.remove(path)


@contextmanager
def open_session(
    outlets: Sequence[Outlet],
    *,
    egress: Collection[str] = (),
    ingress: Collection[str] = (),
    destinations: Destinations = NOWHERE,
    allow_live: bool = False,
    state_dir: Path | None = None,
    tables: Path | None = None,
) -> Iterator[Session]:
    """Take interfaces of this network namespace in use, and leave them as they were.

    Parameters
    ----------
    outlets
        The routes that are sent, and the device of each.
    egress, ingress
        The devices whose outgoing or incoming packets `Session.apply` and `apply_ingress` are to
        impair: none when the profile is empty, and then no qdisc or interface is made.
    destinations
        Where the frames go, after mapping.
    allow_live
        Whether the user has allowed live networks (`--allow-live-network`).
    state_dir
        Where the journal is kept; by default `/run/pathscope/interfaces` for root, else the user's
        state folder.
    tables
        A folder of netem's distribution tables (`TC_LIB_DIR` of tc).

    Raises
    ------
    PrivilegeError
        When this process lacks one.
    RefusedError
        When frames would reach a live network, and that is not allowed.
    InterfaceError
        When an interface is not there, in use by another replay, or cannot be impaired or restored.
    """
    privileges.require(impaired=bool(egress or ingress))
    folder = state_dir or journal.default_folder()
    notes = recovery.recover(folder)
    found = links.read()
    devices = list(dict.fromkeys([device for _, _, device in outlets] + [*egress, *ingress]))
    notes += safety.check(devices, destinations, found, links.routes(), allow_live=allow_live)
    with ExitStack() as stack:
        stack.enter_context(signals.unwinding())
        stack.enter_context(exclusive.held(found[device] for device in devices))
        session = Session(devices, notes)
        if egress or ingress:
            done = _planned([found[device] for device in devices], egress, ingress)
            path = journal.path(folder, done)
            stack.enter_context(keeper.beside(path))
            stack.enter_context(journal.kept(path, done))
            stack.enter_context(session.diverted(done, path, tables))
        yield session


def _planned(
    found: Sequence[links.Link], egress: Collection[str], ingress: Collection[str]
) -> Journal:
    """Return what is to be done, with names that nothing here has."""
    mark = secrets.token_hex(4)
    names = (f"{diversion.OURS}{mark}{number}" for number in count())
    devices = []
    for link in found:
        asked = [
            hook for hook, those in zip(HOOKS, (egress, ingress), strict=True) if link.name in those
        ]
        if not asked:
            continue
        kind = diversion.hooks_of(link.name)
        ways = tuple(diversion.plan(link.name, hook, next(names), kind) for hook in asked)
        before = snapshot.take(link.name)
        devices.append(Device(link.name, link.index, kind is None, ways, before))
    boot, namespace = journal.here()
    return Journal(mark, boot, namespace, os.getpid(), tuple(devices))


@contextmanager
def _tc(tables: Path | None) -> Iterator[Tc]:
    """Keep a tc of this namespace for as long as the block lasts."""
    environment = commands.environment()
    if tables is not None:
        environment["TC_LIB_DIR"] = str(tables)
    process = subprocess.Popen(
        # As the lab's, with a process group of its own, which Ctrl-C at the terminal spares.
        ["stdbuf", "-oL", "tc", "-force", "-batch", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env=environment,
        process_group=0,
    )
    try:
        yield Tc(process)
    finally:
        process.communicate()


def _told(*words: str, device: str) -> list[dict[str, Any]] | None:
    program, *rest = words
    try:
        return commands.table(program, *rest, "show", "dev", device)
    except InterfaceError:
        if device in links.read():
            raise
        return None
