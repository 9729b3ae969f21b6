"""The application at one end of a run: a process in the end's namespace.

It takes its orders as one JSON object an argument, further requests as JSON lines on standard
input, and tells what happens as JSON lines on standard output, each with the kernel's time. It needs
nothing but the standard library, and knows nothing of scenarios.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import sys
import threading
import time
from ipaddress import ip_address
from typing import Any

from . import sctp_socket

CHUNK = 1 << 16


def say(event: str, **facts: Any) -> None:
    """Tell that something has just happened."""
    now_ns = time.time_ns()
    line = {"t": now_ns / 1e9, "t_ns": now_ns, "event": event, **facts}
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


class Endpoint:
    """One end: opens its socket, sends or receives, and does what it is asked to meanwhile.

    Orders: `role` (client or server), `protocol`, `own` and `peer` (addresses), `port`, and the
    application's settings of the scenario schema; `local_port` of an SCTP client.
    """

    def __init__(self, orders: dict[str, Any]) -> None:
        self.orders = orders
        self.stop = threading.Event()
        self.sock: socket.socket | None = None
        self.random = random.Random(orders.get("seed", 1))  # noqa: S311  (no secret)

    def run(self) -> None:
        """Run until all is sent, the peer closes, or standard input ends."""
        threading.Thread(target=self.listen_to_requests, daemon=True).start()
        client = self.orders["role"] == "client"
        self.sock = self.connect() if client else self.accept()
        say("connected", role=self.orders["role"])
        if self.orders["sender"] == self.orders["role"]:
            self.send_all(self.sock)
        else:
            self.receive_all(self.sock)
        with contextlib.suppress(OSError):
            self.sock.close()

    # -- opening

    def open(self) -> socket.socket:
        orders = self.orders
        version = ip_address(orders["own"][0]).version
        if orders["protocol"] == "sctp":
            sock = sctp_socket.open_socket(version)
            sctp_socket.set_streams(sock, orders["streams"])
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
        port = orders["port"] if orders["role"] == "server" else orders.get("local_port", 0)
        sock.bind((orders["own"][0], port))
        if orders["protocol"] == "sctp" and len(orders["own"]) > 1:
            sctp_socket.add_addresses(sock, orders["own"][1:], sock.getsockname()[1])
        return sock

    def connect(self) -> socket.socket:
        sock = self.open()
        sock.connect((self.orders["peer"][0], self.orders["port"]))
        return sock

    def accept(self) -> socket.socket:
        listener = self.open()
        if self.orders["protocol"] == "udp":
            say("listening")
            return listener
        listener.listen(16)
        say("listening")
        sock, _ = listener.accept()
        if not self.orders.get("again"):
            return sock
        # After a restart the peer's new socket is met by a new one of ours.
        threading.Thread(target=self.receive_all, args=(sock,), daemon=True).start()
        sock, _ = listener.accept()
        return sock

    # -- sending and receiving

    def send_all(self, sock: socket.socket) -> None:
        orders = self.orders
        message = bytes(orders["message_bytes"])
        sent = 0
        start = time.monotonic()
        until = start + orders["duration_s"]
        limit = orders.get("upload_bytes") if orders["kind"] == "upload" else None
        interval = orders["interval_ms"] / 1000 if orders["kind"] != "bulk" else 0
        paced = orders["kind"] in ("fixed-rate", "request-response")
        try:
            while not self.stop.is_set() and time.monotonic() < until:
                if paced:
                    # Deadlines are absolute: a late message does not delay those after it.
                    due = start + sent * interval
                    if due >= until or self.stop.wait(max(0, due - time.monotonic())):
                        break
                self.send_one(sock, message, sent)
                sent += 1
                if orders["kind"] == "request-response":
                    self.receive_exactly(sock, orders["response_bytes"])
                if limit is not None and sent * len(message) >= limit:
                    break
        except OSError as error:
            say("failed", what=str(error), sent=sent)
            return
        say("closed", sent=sent, size=len(message))

    def send_one(self, sock: socket.socket, message: bytes, number: int) -> None:
        orders = self.orders
        if orders["protocol"] == "sctp":
            stream = number % orders["streams"]
            sctp_socket.send(
                sock, message, stream=stream, ordered=orders["ordered"], ppid=orders["ppid"]
            )
        else:
            sock.sendall(message)

    def receive_exactly(self, sock: socket.socket, wanted: int) -> None:
        while wanted > 0:
            received = sock.recv(min(wanted, CHUNK))
            if not received:
                raise OSError("the peer closed")
            wanted -= len(received)

    def receive_all(self, sock: socket.socket) -> None:
        orders = self.orders
        answers = orders["kind"] == "request-response"
        total = waiting = 0
        try:
            while not self.stop.is_set():
                received = sock.recv(CHUNK)
                if not received and orders["protocol"] != "udp":
                    break
                total += len(received)
                waiting += len(received)
                while answers and waiting >= orders["message_bytes"]:
                    waiting -= orders["message_bytes"]
                    self.send_one(sock, bytes(orders["response_bytes"]), 0)
        except OSError as error:
            say("failed", what=str(error), received_bytes=total)
            return
        say("received", received_bytes=total)

    # -- requests

    def listen_to_requests(self) -> None:
        for line in sys.stdin:
            request = json.loads(line)
            if request["do"] == "stop":
                break
            say("asked", what=request["do"], path=request.get("path"))
            try:
                self.do(request)
            except OSError as error:
                say("failed", what=request["do"], why=str(error))
            else:
                say(request["do"], path=request.get("path"))
        self.stop.set()
        if self.sock is not None and self.orders["sender"] != self.orders["role"]:
            with contextlib.suppress(OSError):
                self.sock.shutdown(socket.SHUT_RDWR)

    def do(self, request: dict[str, Any]) -> None:
        sock = self.sock
        if sock is None:
            raise OSError("not connected yet")
        role = self.orders["role"]
        other = "server" if role == "client" else "client"
        own, peer = request[role], request[other]
        port, peer_port = sock.getsockname()[1], sock.getpeername()[1]
        match request["do"]:
            case "address-add":
                sctp_socket.add_addresses(sock, [own], port)
            case "address-delete":
                sctp_socket.remove_address(sock, own, port)
            case "set-primary":
                sctp_socket.set_primary(sock, peer, peer_port)
            case "set-peer-primary":
                sctp_socket.ask_peer_primary(sock, own, port)
            case unknown:
                raise OSError(f"unknown request {unknown}")


def main() -> None:
    """Run an end as its first argument says."""
    Endpoint(json.loads(sys.argv[1])).run()


if __name__ == "__main__":
    main()
