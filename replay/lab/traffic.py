"""Background traffic at one end of a run: a process in the end's namespace, a thread a flow.

Its first argument is a JSON list of flows, each with `role`, `sends` (whether this end does), `own`
and `peer` address, `port`, `start_s`, `stop_s`, and the settings of the scenario schema. It says
`listening` when it can be reached; the run begins when standard input gives a line, and is over
when that ends. At last it says how much it has received.
"""

from __future__ import annotations

import json
import socket
import struct
import sys
import threading
import time
from typing import Any

from . import rtp
from .endpoint import CHUNK, PATIENCE_S, open_socket, say

PLAIN = {"streams": 1, "ordered": True, "ppid": 0, "no_delay": False, "interleaving": False}

APART = (5**0.5 - 1) / 2
"""The golden section, whose multiples fall evenly over the time between two messages."""


class Flow:
    """One flow, as this end sees it."""

    def __init__(self, orders: dict[str, Any], over: threading.Event) -> None:
        self.orders = orders | PLAIN | {"own": [orders["own"]]}
        self.over = over
        self.received_bytes = 0
        is_server = orders["role"] == "server"
        self.orders["bind_port"] = orders["port"] if is_server else 0
        self.listener = open_socket(self.orders) if is_server else None
        if self.listener is not None and orders["protocol"] != "udp":
            self.listener.listen(1)

    def run(self, start: float) -> None:
        """Carry the flow; it ends with its time, or with the run."""
        if self.over.wait(max(0, start + self.orders["start_s"] - time.monotonic())):
            return
        until = start + self.orders["stop_s"]
        try:
            sock = self._connected(until)
            if sock is None:
                return
            with sock:
                if self.orders["sends"]:
                    self._send(sock, until)
                else:
                    self._receive(sock, until)
        except OSError as error:
            # Links fail in a run, and flows with them.
            say("background-failed", port=self.orders["port"], what=str(error))

    def _connected(self, until: float) -> socket.socket | None:
        if self.listener is None:
            sock = open_socket(self.orders)
            sock.connect((self.orders["peer"], self.orders["port"]))
            if self.orders["protocol"] == "udp" and not self.orders["sends"]:
                sock.send(b"\0")  # so that the sender knows where to
            return sock
        self.listener.settimeout(PATIENCE_S)
        while not self._is_over(until):
            try:
                if self.orders["protocol"] == "udp":
                    if self.orders["sends"]:
                        _, peer = self.listener.recvfrom(CHUNK)
                        self.listener.connect(peer)
                    return self.listener
                sock, _ = self.listener.accept()
            except TimeoutError:
                continue
            return sock
        return None

    def _is_over(self, until: float) -> bool:
        return self.over.is_set() or time.monotonic() >= until

    def _send(self, sock: socket.socket, until: float) -> None:
        message = bytes(self.orders["message_bytes"])
        rate = self.orders.get("rate_kbit")
        interval = 0 if rate is None else len(message) * 8 / (rate * 1000)
        # Flows of one rate do not send at once, which no queue would hold.
        self.over.wait(interval * (self.orders["port"] * APART % 1))
        start, sent = time.monotonic(), 0
        _wait_in_the_kernel(sock)
        while not self._is_over(until):
            try:
                # Not `sendall`: what is left of a message at the end does not matter here.
                is_udp = self.orders["protocol"] == "udp"
                sock.send(rtp.numbered(message, sent, time.monotonic()) if is_udp else message)
                sent += 1
            except BlockingIOError:
                continue
            if interval:
                self.over.wait(max(0, start + sent * interval - time.monotonic()))

    def _receive(self, sock: socket.socket, until: float) -> None:
        _wait_in_the_kernel(sock)
        if self.orders["protocol"] == "tcp":
            # Woken less often: what reads is not measured, and takes the time of what is.
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, CHUNK // 2)
        while not self._is_over(until + 1):
            try:
                received = len(sock.recv(CHUNK))
                self.received_bytes += received
                if not received and self.orders["protocol"] != "udp":
                    return
            except BlockingIOError:
                continue


def _wait_in_the_kernel(sock: socket.socket) -> None:
    """Let calls end with BlockingIOError after PATIENCE_S: Python's own time-outs cost a poll."""
    patience = struct.pack("@ll", 0, round(PATIENCE_S * 1_000_000))
    sock.setblocking(True)
    for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
        sock.setsockopt(socket.SOL_SOCKET, option, patience)


def main() -> None:
    """Carry the flows that the first argument lists."""
    over = threading.Event()
    flows = [Flow(orders, over) for orders in json.loads(sys.argv[1])]
    say("listening", flows=len(flows))
    sys.stdin.readline()
    start = time.monotonic()
    threads = [threading.Thread(target=flow.run, args=(start,), daemon=True) for flow in flows]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    over.set()
    for thread in threads:
        thread.join(2)
    say("background-received", received_bytes=sum(flow.received_bytes for flow in flows))


if __name__ == "__main__":
    main()
