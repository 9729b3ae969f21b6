"""The application at one end of a run: a process in the end's namespace.

It takes its orders as a JSON object in its first argument and further requests as JSON lines on
standard input, and tells what happens as JSON lines on standard output, each with the kernel's
time. It needs nothing but the standard library, and knows nothing of scenarios.
"""

from __future__ import annotations

import contextlib
import json
import select
import socket
import struct
import sys
import threading
import time
from ipaddress import ip_address
from typing import Any

from . import rtp, sctp_socket
from .player import Player

CHUNK = 1 << 16

PATIENCE_S = 0.2
"""How often a wait looks whether the run is over; and how long a lost UDP answer is waited for."""


def say(event: str, **facts: Any) -> None:
    """Tell that something has just happened."""
    sys.stdout.write(json.dumps({"t_ns": time.time_ns(), "event": event, **facts}) + "\n")
    sys.stdout.flush()


def open_socket(orders: dict[str, Any]) -> socket.socket:
    """Return a socket that is bound as the orders say: `protocol`, `own` addresses, `bind_port`."""
    version = ip_address(orders["own"][0]).version
    is_sctp = orders["protocol"] == "sctp"
    if is_sctp:
        sock = sctp_socket.open_socket(version)
        sctp_socket.set_streams(sock, orders["streams"])
        if orders["interleaving"]:
            sctp_socket.offer_interleaving(sock)
        if orders["no_delay"]:
            sock.setsockopt(sctp_socket.SOL_SCTP, sctp_socket.NODELAY, 1)
    else:
        family = socket.AF_INET6 if version == 6 else socket.AF_INET
        kind = socket.SOCK_DGRAM if orders["protocol"] == "udp" else socket.SOCK_STREAM
        sock = socket.socket(family, kind)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if orders["protocol"] == "tcp" and orders["no_delay"]:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    for name, option in (("send", socket.SO_SNDBUF), ("receive", socket.SO_RCVBUF)):
        if f"{name}_buffer_bytes" in orders:
            sock.setsockopt(socket.SOL_SOCKET, option, orders[f"{name}_buffer_bytes"])
    sock.bind((orders["own"][0], orders["bind_port"]))
    if is_sctp and len(orders["own"]) > 1:
        sctp_socket.add_addresses(sock, orders["own"][1:], sock.getsockname()[1])
    return sock


class Endpoint:
    """One end: opens its socket, sends or receives, and does what it is asked to meanwhile.

    Orders: `role` (client or server), `own` and `peer` (addresses, the first paths first),
    `primary` (the peer's address of the sender's primary path, or None), `bind_port`, the server's
    `port`, and the application's settings of the scenario schema.
    """

    def __init__(self, orders: dict[str, Any]) -> None:
        self.orders = orders
        self.stop = threading.Event()
        self.sock: socket.socket | None = None
        self.restart = threading.Event()
        self.reachable = threading.Event()

    @property
    def sends(self) -> bool:
        """Whether this is the end that sends data, or requests."""
        return bool(self.orders["sender"] == self.orders["role"])

    @property
    def is_recorded(self) -> bool:
        """Whether both ends send what was recorded."""
        return bool(self.orders["kind"] == "recorded")

    def run(self) -> None:
        """Run until all is sent, the peer closes, or standard input ends."""
        threading.Thread(target=self.listen_to_requests, daemon=True).start()
        self.sock = self.connect() if self.orders["role"] == "client" else self.accept()
        self.until = time.monotonic() + self.orders["duration_s"]
        say("connected", role=self.orders["role"])
        while True:
            if self.is_recorded:
                Player(self.sock, self.orders, self.stop, self.until, say).play()
            elif self.sends:
                self.send_all(self.sock)
            else:
                self.receive_all(self.sock)
            if not self.restart.is_set():
                break
            self.sock = self.connect_anew(self.sock)
        with contextlib.suppress(OSError):
            self.sock.close()

    # -- opening

    def connect(self) -> socket.socket:
        """Open and connect; an association's primary path is that of the first addresses."""
        sock = open_socket(self.orders)
        sock.connect((self.orders["peer"][0], self.orders["port"]))
        self.choose_primary(sock)
        return sock

    def accept(self) -> socket.socket:
        """Open, and wait for the client; of UDP there is nothing to wait for."""
        listener = open_socket(self.orders)
        if self.orders["protocol"] == "udp":
            say("listening")
            if self.is_recorded:
                self.await_peer(listener)
            return listener
        listener.listen(16)
        say("listening")
        sock, _ = listener.accept()
        self.choose_primary(sock)
        return sock

    def await_peer(self, sock: socket.socket) -> None:
        """Wait for the first datagram, from which this end's times count; it stays to be read."""
        poller = select.poll()
        poller.register(sock, select.POLLIN)
        while not poller.poll(PATIENCE_S * 1000):
            if self.stop.is_set():
                return
        _, peer = sock.recvfrom(0, socket.MSG_PEEK)
        sock.connect(peer)

    def choose_primary(self, sock: socket.socket) -> None:
        """Make the path that the orders name the primary one."""
        if self.orders["protocol"] == "sctp" and self.orders["primary"] is not None:
            sctp_socket.set_primary(sock, self.orders["primary"], sock.getpeername()[1])

    def connect_anew(self, sock: socket.socket) -> socket.socket:
        """Forget the association without a word, as a host that restarts does, and set it up again.

        The stage has cut this host off meanwhile, so that the ABORT reaches nobody.
        """
        port = sock.getsockname()[1]
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        sock.close()
        say("gone")
        self.restart.clear()
        self.reachable.wait()
        self.reachable.clear()
        self.orders["bind_port"] = port
        made = self.connect()
        say("restarted")
        return made

    # -- sending and receiving

    def send_all(self, sock: socket.socket) -> None:
        """Send what the application sends, until its time is over, all is sent, or a restart."""
        orders = self.orders
        interval = orders["interval_ms"] / 1000
        left = orders["upload_bytes"] if orders["kind"] == "upload" else None
        message = bytes(orders["message_bytes"])
        start, sent = time.monotonic(), 0
        try:
            while not self.over() and left != 0:
                size = len(message) if left is None else min(left, len(message))
                self.send_one(sock, message[:size], sent)
                sent += 1
                if left is not None:
                    left -= size
                if orders["kind"] == "request-response":
                    self.wait_for_answer(sock)
                    self.stop.wait(interval)
                elif orders["kind"] == "fixed-rate":
                    # Deadlines are absolute: a late message does not delay those after it.
                    self.stop.wait(max(0, start + sent * interval - time.monotonic()))
        except OSError as error:
            if not self.restart.is_set():
                say("failed", what=str(error), sent=sent)
            return
        if not self.restart.is_set():
            say("closed", sent=sent, size=len(message))

    def over(self) -> bool:
        """Whether there is nothing more to send."""
        return self.stop.is_set() or self.restart.is_set() or time.monotonic() >= self.until

    def send_one(
        self, sock: socket.socket, message: bytes, number: int, to: Any | None = None
    ) -> None:
        """Send a message; SCTP's take the streams in turn."""
        orders = self.orders
        if orders["protocol"] == "sctp":
            stream = number % orders["streams"]
            sctp_socket.send(
                sock, message, stream=stream, ordered=orders["ordered"], ppid=orders["ppid"]
            )
        elif to is not None:
            sock.sendto(message, to)
        elif orders["protocol"] == "udp":
            sock.send(rtp.numbered(message, number, time.monotonic()))
        else:
            sock.sendall(message)

    def wait_for_answer(self, sock: socket.socket) -> None:
        """Read an answer; a lost one of UDP is not waited for forever."""
        is_udp = self.orders["protocol"] == "udp"
        sock.settimeout(PATIENCE_S if is_udp else None)
        wanted = self.orders["response_bytes"]
        while wanted > 0:
            try:
                received = sock.recv(CHUNK if is_udp else min(wanted, CHUNK))
            except TimeoutError:
                return
            if not received:
                raise OSError("the peer closed")
            wanted -= len(received)

    def receive_all(self, sock: socket.socket) -> None:
        """Receive, and answer requests, until the peer closes or the run is over."""
        orders = self.orders
        is_udp = orders["protocol"] == "udp"
        sock.settimeout(PATIENCE_S if is_udp else None)
        total = waiting = answers = 0
        try:
            while not self.stop.is_set():
                try:
                    received, peer = sock.recvfrom(CHUNK)
                except TimeoutError:
                    continue
                if not received and not is_udp:
                    break
                total += len(received)
                waiting += len(received)
                while orders["kind"] == "request-response" and waiting >= orders["message_bytes"]:
                    waiting -= orders["message_bytes"]
                    answer = bytes(orders["response_bytes"])
                    self.send_one(sock, answer, answers, peer if is_udp else None)
                    answers += 1
        except OSError as error:
            if not self.restart.is_set():
                say("failed", what=str(error), received_bytes=total)
            return
        if not self.restart.is_set():
            say("received", received_bytes=total)

    # -- requests

    def listen_to_requests(self) -> None:
        """Do what standard input asks for, until it ends."""
        for line in sys.stdin:
            request = json.loads(line)
            if request["do"] == "stop":
                break
            try:
                self.do(request)
            except OSError as error:
                say("failed", what=request["do"], why=str(error))
        self.stop.set()
        if self.is_recorded or not self.sends:
            self.wake()

    def wake(self) -> None:
        """End a wait for the peer's data, or for room to send."""
        if self.sock is not None:
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)

    def do(self, request: dict[str, Any]) -> None:
        """Do one thing, and tell of it before and after: packets leave in between."""
        does, path = request["do"], request.get("path")
        if does == "forget":
            self.restart.set()
            self.wake()  # nothing of it leaves this host: the stage has cut it off
            return
        if does == "return":
            self.reachable.set()
            return
        sock = self.sock
        if sock is None:
            raise OSError("not connected yet")
        is_client = self.orders["role"] == "client"
        own = request["client" if is_client else "server"]
        peer = request["server" if is_client else "client"]
        port, peer_port = sock.getsockname()[1], sock.getpeername()[1]
        before_ns = time.time_ns()
        match does:
            case "address-add":
                sctp_socket.add_addresses(sock, [own], port)
            case "address-delete":
                sctp_socket.remove_address(sock, own, port)
            case "set-primary":
                sctp_socket.set_primary(sock, peer, peer_port)
            case "heartbeat":
                sctp_socket.send_heartbeat(sock, peer, peer_port)
            case "set-peer-primary":
                sctp_socket.ask_peer_primary(sock, own, port)
            case unknown:
                raise OSError(f"unknown request {unknown}")
        say(does, path=path, t_before_ns=before_ns)


def main() -> None:
    """Run an end as its first argument says."""
    Endpoint(json.loads(sys.argv[1])).run()


if __name__ == "__main__":
    main()
