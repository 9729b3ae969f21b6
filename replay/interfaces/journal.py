"""What a session is about to do to interfaces, on disk before it does it.

A file for each session in a folder, locked by the session for as long as it lives: one that nobody
locks is that of a session that ended before it had undone all. All changes are known from the
start, so it is written once. The commands that a session starts hold the lock, too: when it is
killed, one may still be at work, and what it does would come after all had been undone.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from .commands import InterfaceError
from .diversion import Diversion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FORMAT = "pathscope.interfaces/1"

SO_NETNS_COOKIE = 71
"""<asm-generic/socket.h>; since Linux 5.14."""

LAST_COMMAND_S = 10
"""How long a command may go on when its session is gone; one takes milliseconds."""

PAUSE_S = 0.01

BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True)
class Device:
    """What is done to an interface: `adds_clsact` where it had none; `before`: what `tc` showed."""

    name: str
    index: int
    adds_clsact: bool
    ways: tuple[Diversion, ...]
    before: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Journal:
    """What a session does, in which namespace, and the mark that its filters bear."""

    mark: str
    boot: str
    namespace: int
    process: int
    devices: tuple[Device, ...]


def here() -> tuple[str, int]:
    """Return which boot this is, and the number of this network namespace, which no other gets.

    Raises
    ------
    InterfaceError
        When the kernel does not say.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as any_socket:
        try:
            cookie = any_socket.getsockopt(socket.SOL_SOCKET, SO_NETNS_COOKIE, 8)
        except OSError as error:
            raise InterfaceError("impairing interfaces needs Linux 5.14 or newer") from error
    return BOOT.read_text(encoding="ascii").strip(), int.from_bytes(cookie, "little")


def default_folder() -> Path:
    """Return where journals are kept; root's are gone at the next boot, as what they tell of is."""
    if os.geteuid() == 0:
        return Path("/run/pathscope/interfaces")
    base = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "pathscope" / "interfaces"


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Let nobody else write, or undo, what is in the folder meanwhile.

    Raises
    ------
    InterfaceError
        When the folder cannot be made.
    """
    with _named(folder):
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
        yield
    finally:
        os.close(place)


def path(folder: Path, journal: Journal) -> Path:
    """Return where a journal is kept."""
    return folder / f"{journal.mark}.json"


@contextmanager
def kept(path: Path, journal: Journal) -> Iterator[None]:
    """Write a journal, and hold its lock until the block ends.

    Raises
    ------
    InterfaceError
        When it cannot be written.
    """
    with _named(path), alone(path.parent):
        file = path.open("x", encoding="utf-8")
        # In the folder's lock: nobody finds it before it is locked itself.
        fcntl.flock(file, fcntl.LOCK_EX)
    with file:
        os.set_inheritable(file.fileno(), True)
        with _named(path):
            json.dump({"format": FORMAT, **asdict(journal)}, file, indent=1)
            file.flush()
            os.fsync(file.fileno())
            _sync(path.parent)
        yield


def remove(path: Path) -> None:
    """Remove a journal: all that it tells of is undone."""
    path.unlink(missing_ok=True)
    _sync(path.parent)


@contextmanager
def of_dead_session(path: Path) -> Iterator[Journal | None]:
    """Hold the journal of a session that is gone; None for one that lives, or is undone by now.

    One that was not written to its end told of nothing yet: changes come after it. It is removed.

    Raises
    ------
    InterfaceError
        When it is of another format.
    """
    try:
        file = path.open(encoding="utf-8")
    except FileNotFoundError:
        yield None
        return
    with file:
        if not _lock(file):
            yield None
            return
        try:
            document = json.load(file)
        except ValueError:
            remove(path)
            yield None
            return
        yield _read(document, path)


def _lock(file: TextIO) -> bool:
    """Lock a journal, once the last command of its session has ended; False when that lives."""
    until = time.monotonic() + LAST_COMMAND_S
    while True:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if _lives(file) or time.monotonic() > until:
                return False
            time.sleep(PAUSE_S)
        else:
            return True


def _lives(file: TextIO) -> bool:
    """Whether the process of a journal is there; one that is being written tells of none yet."""
    file.seek(0)
    text = file.read()
    file.seek(0)
    try:
        status = Path(f"/proc/{int(json.loads(text)['process'])}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return False
    except (ValueError, LookupError, TypeError):
        return True
    # "1234 (name) Z ...": ended, and its parent has not asked yet.
    return status.rpartition(b")")[2].split()[0] not in (b"Z", b"X")


@contextmanager
def _named(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise InterfaceError(f"{path}: no place for a journal: {error.strerror}") from error


def _read(document: dict[str, Any], path: Path) -> Journal:
    if document.pop("format", None) != FORMAT:
        raise InterfaceError(f"{path}: expected a journal of {FORMAT}")
    with suppress(KeyError, TypeError):
        devices = tuple(
            Device(**{**known, "ways": tuple(Diversion(**way) for way in known["ways"])})
            for known in document["devices"]
        )
        return Journal(**{**document, "devices": devices})
    raise InterfaceError(f"{path}: expected the fields of {FORMAT}")


def _sync(folder: Path) -> None:
    place = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(place)
    finally:
        os.close(place)
