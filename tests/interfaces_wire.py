"""What tests of given interfaces share: what tc shows, frames, processes, and the guest."""

from __future__ import annotations

import errno
import os
import re
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pathscope.replay.interfaces.commands import InterfaceError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pathscope.replay.interfaces.session import Session

IN_THE_GUEST = "PATHSCOPE_IN_THE_GUEST"
"""The variable that says that these tests run in the guest kernel."""

ETHERTYPE = 0x88B5  # IEEE 802: for local experiments
EVERY_PROTOCOL = 3  # ETH_P_ALL
FRAME_BYTES = 100
QUIET_S = 5

ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
"""For Python processes: pytest finds the helpers of tests by its settings, others by this."""


def tc(line: str) -> str:
    done = subprocess.run(["tc", *line.split()], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


def tc_takes(line: str) -> bool:
    """Whether the kernel can do this; then it is done."""
    done = subprocess.run(["tc", *line.split()], capture_output=True, check=False)
    return done.returncode == 0


def shown(device: str) -> str:
    """All that tc shows of an interface in detail, and which interfaces there are."""
    views = [f"qdisc show dev {device}", f"class show dev {device}", f"filter show dev {device}"]
    views += [f"filter show dev {device} {hook}" for hook in ("ingress", "egress")]
    found = [
        subprocess.run(["tc", "-d", *view.split()], capture_output=True, text=True, check=False)
        for view in views
    ]
    names = sorted(name for _, name in socket.if_nameindex())
    said = "".join(one.stdout + one.stderr for one in found)
    said = re.sub(r"direct_packets_stat \d+", "", said)
    # The classes of cake are the flows that have packets at the moment.
    lasting = [line for line in said.splitlines() if not line.startswith("class cake ")]
    return "\n".join([*lasting, *names])


def kernel_has(line: str) -> bool:
    """Whether the kernel makes this qdisc; tried on `v0`, and removed again."""
    has = tc_takes(f"qdisc add dev v0 {line}")
    if has:
        tc(f"qdisc del dev v0 {'root' if line.startswith('root') else line}")
    return has


@contextmanager
def suppress_errno(number: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != number:
            raise


def listening(device: str) -> socket.socket:
    """A socket that gets what goes over an interface, as a capture does."""
    receiver = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(EVERY_PROTOCOL))
    receiver.bind((device, EVERY_PROTOCOL))
    receiver.settimeout(QUIET_S)
    return receiver


def send(device: str, count: int, first: int = 0) -> None:
    """Send numbered frames on an interface."""
    head = b"\xff" * 6 + b"\x02\0\0\0\0\1" + ETHERTYPE.to_bytes(2, "big")
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as sender:
        sender.bind((device, 0))
        for number in range(first, first + count):
            # So the kernel says that a filter on the way out has dropped it.
            with suppress_errno(errno.ENOBUFS):
                sender.send((head + number.to_bytes(4, "big")).ljust(FRAME_BYTES, b"\0"))


def numbers(receiver: socket.socket, most: int) -> list[int]:
    """The numbers of the frames that arrive, until so many have or none does for a while."""
    found: list[int] = []
    while len(found) < most:
        try:
            frame = receiver.recv(2048)
        except TimeoutError:
            break
        # Others are of the kernel itself.
        if int.from_bytes(frame[12:14], "big") == ETHERTYPE:
            found.append(int.from_bytes(frame[14:18], "big"))
    return found


def impair(session: Session, device: str) -> None:
    """Impair a device in both directions, with what this kernel has."""
    try:
        session.apply(device, ("limit", "100", "delay", "1ms"))
        session.apply_ingress(device, ("limit", "100", "delay", "1ms"))
    except InterfaceError as error:
        if "qdisc kind is unknown" not in str(error):
            raise
        for hook in ("egress", "ingress"):
            tap = session.tap(device, hook)
            tc(f"qdisc replace dev {tap} root tbf rate 100mbit burst 10k latency 50ms")


def processes(marker: str) -> list[int]:
    """Other living processes with a text in their command lines."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        try:
            words = (entry / "cmdline").read_bytes()
        except OSError:
            continue  # it has ended since
        if marker.encode() in words:
            found.append(int(entry.name))
    return found


def gone(marker: str, within_s: float = 10) -> bool:
    """Whether these processes end within a time."""
    until = time.monotonic() + within_s
    while processes(marker):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True


def started(code: str, *arguments: str, first: Path | None = None) -> subprocess.Popen[str]:
    """A Python process in this namespace that runs some code; programs are found in `first`."""
    path = [str(first)] if first is not None else []
    return subprocess.Popen(
        [sys.executable, "-c", code, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**ENVIRONMENT, "PATH": os.pathsep.join([*path, os.environ["PATH"]])},
    )
