"""An end that sends what was recorded, over the kernel's own sockets."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pathscope.replay.lab import messages
from pathscope.replay.lab.messages import Message
from pathscope.replay.lab.player import Player

MS = 1_000_000

Said = list[dict[str, Any]]


@contextmanager
def pair(kind: int) -> Iterator[tuple[socket.socket, socket.socket]]:
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    with one, other:
        yield one, other


def player(
    sock: socket.socket,
    role: str,
    protocol: str,
    sent: Sequence[Message],
    place: Path,
    last_s: float,
) -> tuple[threading.Thread, Said, threading.Event]:
    """Start an end, and return what it says."""
    file = place / messages.file_name(role)
    file.write_text("".join(messages.lines(sent)), encoding="ascii")
    orders = {"protocol": protocol, "role": role, "sender": "client", "messages": str(file)}
    said: Said = []
    stop = threading.Event()

    def say(event: str, **facts: Any) -> None:
        said.append({"event": event, **facts})

    end = Player(sock, orders, stop, time.monotonic() + last_s, say)
    thread = threading.Thread(target=end.play, daemon=True)
    thread.start()
    return thread, said, stop


def of(said: Said, event: str) -> dict[str, Any]:
    (found,) = (one for one in said if one["event"] == event)
    return found


@pytest.mark.parametrize(
    ("protocol", "kind"), [("tcp", socket.SOCK_STREAM), ("udp", socket.SOCK_DGRAM)]
)
def test_both_ends_send_and_receive(protocol: str, kind: int, tmp_path: Path) -> None:
    with pair(kind) as (one, other):
        ours = [Message(at * 10 * MS, 0, True, 0, 100) for at in range(10)]
        theirs = [Message(35 * MS, 0, True, 0, 7000)]
        started = time.monotonic()
        client, said, stop = player(one, "client", protocol, ours, tmp_path, 0.3)
        server, heard, stop_server = player(other, "server", protocol, theirs, tmp_path, 0.3)
        client.join(5)
        assert time.monotonic() - started >= 0.3  # the one that leads stays for its time
        stop.set()
        stop_server.set()
        server.join(5)
        assert of(said, "closed")["sent"] == 10
        assert of(heard, "closed") == {
            "event": "closed", "unsent": 0, "sent": 1, "sent_bytes": 7000,
            "waited_for_room": 0, "longest_wait_ns": 0,
        }  # fmt: skip
        assert of(heard, "received")["received_bytes"] == 1000
        assert of(said, "received")["received_bytes"] == 7000


def test_messages_leave_at_their_times(tmp_path: Path) -> None:
    with pair(socket.SOCK_DGRAM) as (one, other):
        at_ms = (0, 50, 120)
        sent = [Message(at * MS, 0, True, 0, 10 + at) for at in at_ms]
        begun = time.monotonic()
        thread, _, stop = player(one, "client", "udp", sent, tmp_path, 0.2)
        seen = {len(other.recv(1 << 16)): time.monotonic() - begun for _ in sent}
        assert [size - 10 for size in seen] == list(at_ms)
        for size, after_s in seen.items():
            # Never early; how late is a matter of the machine.
            assert (size - 10) / 1000 <= after_s < (size - 10) / 1000 + 0.5
        stop.set()
        thread.join(5)


def test_a_socket_without_room_is_counted(tmp_path: Path) -> None:
    with pair(socket.SOCK_STREAM) as (one, other):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        sent = [Message(0, 0, True, 0, 60_000) for _ in range(20)]
        thread, said, stop = player(one, "client", "tcp", sent, tmp_path, 0.1)
        time.sleep(0.2)
        total = 0
        while total < 20 * 60_000:
            total += len(other.recv(1 << 16))
        other.close()
        thread.join(5)
        stop.set()
        closed = of(said, "closed")
        assert closed["sent"] == 20
        assert closed["waited_for_room"] >= 1
        assert closed["longest_wait_ns"] >= 100 * MS  # nobody read for longer than that


def test_what_the_end_of_the_run_leaves_unsent_is_counted(tmp_path: Path) -> None:
    with pair(socket.SOCK_STREAM) as (one, _other):
        sent = [Message(0, 0, True, 0, 10), *(Message(3_600_000 * MS, 0, True, 0, 10),) * 4]
        thread, said, stop = player(one, "client", "tcp", sent, tmp_path, 3600)
        time.sleep(0.1)
        stop.set()
        thread.join(15)
        closed = of(said, "closed")
        assert (closed["sent"], closed["unsent"]) == (1, 4)
