"""Undoing what a session did to interfaces, whoever does it: itself, its keeper, the next start.

Every step looks first whether there is something to undo, so that it may be done again.
"""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from . import diversion, journal, snapshot
from .commands import InterfaceError

if TYPE_CHECKING:
    from pathlib import Path

    from .journal import Device, Journal


def recover(folder: Path | None = None) -> list[str]:
    """Undo what sessions that are gone left in this namespace, and return what was undone.

    Raises
    ------
    InterfaceError
        When something cannot be undone; its journal stays, for the next attempt.
    """
    folder = folder or journal.default_folder()
    if not folder.is_dir():
        return []
    with journal.alone(folder):
        return [words for path in sorted(folder.glob("*.json")) for words in settle(path)]


def settle(path: Path) -> list[str]:
    """Undo what a journal tells of, if its session is gone and was in this namespace.

    The folder's lock is held by the caller. Returns what was undone, and what is to be said of it.

    Raises
    ------
    InterfaceError
        When something cannot be undone; the journal stays.
    """
    with journal.of_dead_session(path) as found:
        if found is None:
            return []
        boot, namespace = journal.here()
        if found.boot == boot and found.namespace != namespace:
            return [f"{path}: not undone, as it tells of another network namespace"]
        said = []
        # What another boot did went with it.
        if found.boot == boot:
            names = ", ".join(device.name for device in found.devices)
            said = [f"{names}: restored after process {found.process}, which is gone", *undo(found)]
        journal.remove(path)
        return said


def undo(done: Journal) -> list[str]:
    """Leave the interfaces of a session as they were; return what is to be said of it.

    Raises
    ------
    InterfaceError
        When one of them cannot be restored; all the others are.
    """
    said, failed = [], []
    for device in done.devices:
        try:
            said += _restore(device, done.mark)
        except InterfaceError as error:
            # It may have vanished at this very moment.
            if _is_there(device):
                failed.append(str(error))
            else:
                said.append(_vanished(device))
    # Last: packets are redirected into nothing as long as a filter leads to an ifb that is gone.
    for device in done.devices:
        for way in device.ways:
            try:
                diversion.remove_ifb(way.ifb)
            except InterfaceError as error:
                failed.append(str(error))
    if failed:
        raise InterfaceError("not restored: " + "; ".join(failed))
    return said


def _restore(device: Device, mark: str) -> list[str]:
    if not _is_there(device):
        return [_vanished(device)]
    # By its number: it may have another name by now.
    name = socket.if_indextoname(device.index)
    for way in device.ways:
        diversion.return_to_normal(name, way, mark)
    said = []
    if device.adds_clsact and not diversion.drop_clsact(name):
        said.append(f"{name}: the clsact stays, as others have put filters in it meanwhile")
    changed = snapshot.differences(device.before, snapshot.take(name))
    if changed:
        said.append(f"{name}: others changed its {' and '.join(changed)} meanwhile")
    return said


def _is_there(device: Device) -> bool:
    return any(index == device.index for index, _ in socket.if_nameindex())


def _vanished(device: Device) -> str:
    return f"{device.name}: vanished meanwhile; there is nothing to restore"
