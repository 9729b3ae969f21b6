"""An end that sends what was recorded, each message at its time, and receives meanwhile.

It needs nothing but the standard library.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import messages, sctp_socket

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from .messages import Message

CHUNK = 1 << 16

PATIENCE_MS = 200
"""How often a wait for the peer's data looks whether the run is over."""

CLOSE_S = 10
"""How long the peer's last data is waited for, once this end has sent all of its own."""

CLOSING_S = 0.02
"""How often a closing end looks whether the association is gone."""

NS_PER_S = 1_000_000_000


class Player:
    """Both directions of one end.

    Parameters
    ----------
    sock
        Connected, and blocking.
    orders
        What the end was told: `protocol`, `role`, `sender`, and `messages`, its file.
    stop
        Set when the run is over.
    until
        When this end's time is over, on the monotonic clock in seconds.
    say
        Tells of an event.
    """

    def __init__(
        self,
        sock: socket.socket,
        orders: Mapping[str, Any],
        stop: threading.Event,
        until: float,
        say: Callable[..., None],
    ) -> None:
        self.sock, self.orders, self.stop, self.until, self.say = sock, orders, stop, until, say
        self.heard_all = threading.Event()
        self.sent = self.sent_bytes = self.waited = self.longest_wait_ns = 0
        self.zero_ns = time.monotonic_ns()

    def play(self) -> None:
        """Send and receive until both are done, or the run is over."""
        receiver = threading.Thread(target=self.receive, daemon=True)
        receiver.start()
        try:
            unsent = self.send_all()
        except OSError as error:
            self.say("failed", what=str(error), **self.counts())
        else:
            self.say("closed", unsent=unsent, **self.counts())
        self.finish()
        receiver.join(CLOSE_S)

    def counts(self) -> dict[str, int]:
        """Say what was sent, how often the socket had no room, and for how long at most."""
        return {
            "sent": self.sent,
            "sent_bytes": self.sent_bytes,
            "waited_for_room": self.waited,
            "longest_wait_ns": self.longest_wait_ns,
        }

    def finish(self) -> None:
        """Close this end's direction: the one that leads, when its time is over; then the other."""
        if self.orders["sender"] == self.orders["role"]:
            self.wait(self.until)
        else:
            # Its messages are out; the end that leads says when all is over.
            self.wait(None)
        with contextlib.suppress(OSError):  # the peer was faster
            self.sock.shutdown(socket.SHUT_WR)
        until = time.monotonic() + CLOSE_S
        while self.is_up() and not self.over() and time.monotonic() < until:
            self.heard_all.wait(CLOSING_S)
        self.stop.set()

    def is_up(self) -> bool:
        """Whether the peer may still send; datagrams know no end."""
        protocol = self.orders["protocol"]
        return protocol == "tcp" or (protocol == "sctp" and sctp_socket.is_up(self.sock))

    def wait(self, until: float | None) -> None:
        """Wait until a time (None: for as long as it takes), the peer's end, or the run's."""
        while not self.over() and (until is None or time.monotonic() < until):
            left_s = PATIENCE_MS / 1000 if until is None else until - time.monotonic()
            self.heard_all.wait(max(0.0, min(left_s, PATIENCE_MS / 1000)))

    def over(self) -> bool:
        """Whether nothing more is to be sent."""
        return self.stop.is_set() or self.heard_all.is_set()

    # -- sending

    def send_all(self) -> int:
        """Send every message at its time, and return how many were not: the run was over."""
        unsent = 0
        for message in messages.read(Path(self.orders["messages"])):
            if not self.over():
                self.wait((self.zero_ns + message.at_ns) / NS_PER_S)
            if self.over():
                unsent += 1
                continue
            self.send(message)
        return unsent

    def send(self, message: Message) -> None:
        """Hand one message over; a socket without room is waited for, and that is counted."""
        left = self.hand_over(message, bytes(message.size_bytes), socket.MSG_DONTWAIT)
        if left is not None:
            begun_ns = time.monotonic_ns()
            self.hand_over(message, left, 0)
            self.waited += 1
            self.longest_wait_ns = max(self.longest_wait_ns, time.monotonic_ns() - begun_ns)
        self.sent += 1
        self.sent_bytes += message.size_bytes

    def hand_over(self, message: Message, payload: bytes, flags: int) -> bytes | None:
        """Give the socket a message, and return what it had no room for; None: it took all."""
        try:
            if self.orders["protocol"] == "sctp":
                sctp_socket.send(
                    self.sock,
                    payload,
                    stream=message.stream,
                    ordered=message.ordered,
                    ppid=message.ppid,
                    flags=flags,
                )
            elif self.orders["protocol"] == "udp":
                self.sock.send(payload, flags)
            elif flags:
                taken = self.sock.send(payload, flags)
                return payload[taken:] or None
            else:
                self.sock.sendall(payload)
        except BlockingIOError:
            return payload
        return None

    # -- receiving

    def receive(self) -> None:
        """Receive until the peer closes or the run is over."""
        poller, total = select.poll(), 0
        poller.register(self.sock, select.POLLIN)
        try:
            while not self.stop.is_set():
                if not poller.poll(PATIENCE_MS):
                    continue
                received = self.sock.recv(CHUNK)
                if not received and self.orders["protocol"] != "udp":
                    break
                total += len(received)
        except OSError as error:
            self.say("failed", what=str(error), received_bytes=total)
        else:
            self.say("received", received_bytes=total)
        finally:
            self.heard_all.set()
