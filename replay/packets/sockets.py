"""Sockets to send frames on, in whatever network namespace their interfaces are."""

from __future__ import annotations

import ctypes
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from .orders import Outlet

NAMESPACES = Path("/run/netns")
"""Where `ip netns` keeps their names."""

CLONE_NEWNET = 0x4000_0000
SO_SNDBUFFORCE = 32

BUFFER_BYTES = 256 << 20
"""Of frames that wait in the queues of the interface: these are to be full before the socket is,
whatever delay they hold frames for."""


class OutletError(RuntimeError):
    """An interface that cannot be sent on; the message says which and why."""


@contextmanager
def opened(outlets: Iterable[Outlet]) -> Iterator[list[int]]:
    """Open a socket on the interface of every outlet; give their numbers, in that order.

    Outlets of one interface share a socket, so that frames of several can be handed over together.
    Frames sent on them take the ordinary way through the interface's queueing discipline. The
    sockets receive nothing.

    Raises
    ------
    OutletError
        When a namespace or an interface is not there or down, or privileges are missing.
    """
    made: dict[tuple[str | None, str], int] = {}
    with ExitStack() as stack:
        numbers = []
        for outlet in outlets:
            place = (outlet.netns, outlet.device)
            if place not in made:
                made[place] = stack.enter_context(_open(outlet)).fileno()
            numbers.append(made[place])
        yield numbers


def _open(outlet: Outlet) -> socket.socket:
    try:
        if outlet.netns is None:
            return _bound(outlet.device)
        # A thread has a namespace of its own, and takes it along when it ends; a socket stays in
        # the one that it was made in.
        with ThreadPoolExecutor(max_workers=1) as thread:
            return thread.submit(_bound_within, outlet.netns, outlet.device).result()
    except PermissionError as error:
        raise OutletError(f"{_name(outlet)}: sending frames takes CAP_NET_RAW") from error
    except OSError as error:
        raise OutletError(f"{_name(outlet)}: {error.strerror}") from error


def _name(outlet: Outlet) -> str:
    where = "" if outlet.netns is None else f" in the namespace {outlet.netns}"
    return f"interface {outlet.device}{where}"


def _bound_within(netns: str, device: str) -> socket.socket:
    enter(netns)
    return _bound(device)


def enter(netns: str) -> None:
    """Move this thread into a network namespace, for the rest of its life.

    Raises
    ------
    OSError
        When there is no such namespace, or privileges are missing.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    namespace = os.open(NAMESPACES / netns, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if libc.setns(namespace, CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number))
    finally:
        os.close(namespace)


def _bound(device: str) -> socket.socket:
    nothing_received = 0
    sender = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, nothing_received)
    try:
        try:
            sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, BUFFER_BYTES)
        except PermissionError:  # as much as the machine allows anyone
            sender.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        sender.bind((device, nothing_received))
    except OSError:
        sender.close()
        raise
    return sender
