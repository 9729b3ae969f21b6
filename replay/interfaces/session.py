"""A replay's hold on interfaces that are given: opened safely, impaired, left as they were."""

from __future__ import annotations

import os
import secrets
from contextlib import ExitStack, contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any

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

    from ..lab.batch import Batch
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
        self._tc: Batch | None = None

    def apply(self, device: str, arguments: Sequence[str]) -> str:
        """Impair what an interface sends, by the full set of netem's arguments.

        Returns when the kernel has done it: what tc shows then of the qdisc.

        Raises
        ------
        InterfaceError
            When the session was not opened for that, or tc refuses.
        """
        return self._apply(device, "egress", arguments)

    def apply_ingress(self, device: str, arguments: Sequence[str]) -> str:
        """Impair what an interface receives, by the full set of netem's arguments.

        Captures on the interface see packets before that; `tap` is where they are seen after it.

        Raises
        ------
        InterfaceError
            As `apply`.
        """
        return self._apply(device, "ingress", arguments)

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

    def counters(self) -> dict[str, list[dict[str, Any]]]:
        """Return the rows of `ip -s -j link` and `tc -s -j qdisc`: `interfaces` and `qdiscs`.

        Of these interfaces, and of those of `tap`, where the impairing qdiscs are. One that has
        vanished has none.
        """
        there = links.read()
        found: dict[str, list[dict[str, Any]]] = {"interfaces": [], "qdiscs": []}
        for name in (*self.devices, *self._ifbs.values()):
            if name in there:
                found["interfaces"] += commands.table("ip", "-s", "-j", "link", "show", "dev", name)
                rows = commands.table("tc", "-s", "-j", "qdisc", "show", "dev", name)
                found["qdiscs"] += [{"dev": name, **row} for row in rows]
        return found

    def _apply(self, device: str, hook: Hook, arguments: Sequence[str]) -> str:
        ifb = self.tap(device, hook)
        if self._tc is None:
            raise InterfaceError(f"{device}: the session is closed")
        qdisc = f"qdisc replace dev {ifb} root handle 1: netem {' '.join(arguments)}"
        try:
            return self._tc.do(qdisc, f"qdisc show dev {ifb}")
        except InterfaceError as error:
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
            with commands.kept_tc(tables) as self._tc:
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
            notes += _beside(done)
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


def _beside(done: Journal) -> list[str]:
    """Return where filters of others come before ours."""
    return [
        f"{device.name}: it has {way.hook} filters, and what they decide on is not impaired"
        for device in done.devices
        for way in device.ways
        if device.before.get(f"{way.hook} filters")
    ]
