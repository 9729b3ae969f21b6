"""What the kernel makes of netem's arguments, tried in a guest: `python -m netem_guest FOLDER`.

`orders.json` says what to try, `answers.json` what came of it. Two namespaces are joined by a
cable, and netem is replaced at the sender's end again and again, never removed: what one set
leaves behind, the next one shows.
"""

from __future__ import annotations

import json
import socket
import struct
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from pathscope.replay.lab import tc

SENDER, RECEIVER = "10.7.0.1", "10.7.0.2"
PORT = 7000
PAYLOAD_BYTES = 100
LOST_S = 15.0
"""No packet comes later: a guest may stand still for a second on a machine with much to do."""

SO_TIMESTAMPNS = 35
"""socket(7); Python has no name for it."""


def run(*words: str) -> str:
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def wire() -> None:
    for name in ("near", "far"):
        run("ip", "netns", "add", name)
        run("ip", "-n", name, "link", "set", "dev", "lo", "up")
        # No packet but ours: one of the kernel's own, caught by a rate of a byte a second, would
        # hold up for a minute what is to keep its order behind it.
        for which in ("all", "default"):
            file = f"/proc/sys/net/ipv6/conf/{which}/disable_ipv6"
            run("ip", "netns", "exec", name, "sh", "-c", f"echo 1 >{file}")
    run(
        *[
            "ip",
            "-n",
            "near",
            "link",
            "add",
            "cable",
            "type",
            "veth",
            "peer",
            "name",
            "cable",
            "netns",
            "far",
        ]
    )
    for name, address in (("near", SENDER), ("far", RECEIVER)):
        run("ip", "-n", name, "address", "add", f"{address}/24", "dev", "cable")
        run("ip", "-n", name, "link", "set", "dev", "cable", "up")
    run(*f"ip -n near neigh replace {RECEIVER} dev cable lladdr".split(), far_mac())


def far_mac() -> str:
    (link,) = json.loads(run(*["ip", "-j", "-n", "far", "link", "show", "dev", "cable"]))
    return str(link["address"])


def shown() -> dict[str, Any]:
    """What the kernel says of the netem that it has, without its counters."""
    (found,) = json.loads(run(*["tc", "-j", "-n", "near", "qdisc", "show", "dev", "cable"]))
    return {"kind": found["kind"], **found["options"]}


def sockets() -> tuple[socket.socket, socket.socket]:
    """A socket in each namespace: one that is entered by a thread stays that thread's."""
    made: dict[str, socket.socket] = {}

    def make(name: str) -> None:
        with Path(f"/run/netns/{name}").open("rb") as file:
            enter(file.fileno())
        made[name] = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    for name in ("near", "far"):
        thread = threading.Thread(target=make, args=(name,))
        thread.start()
        thread.join()
    made["far"].bind((RECEIVER, PORT))
    made["far"].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 23)
    made["far"].setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    return made["near"], made["far"]


def enter(descriptor: int) -> None:
    import ctypes

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.setns(descriptor, 0) != 0:
        raise OSError(ctypes.get_errno(), "setns")


def stamp_ns(ancillary: list[tuple[int, int, bytes]]) -> int:
    """When the kernel had the packet: this program may be late to ask for it."""
    ((_, _, data),) = ancillary
    seconds, nanoseconds = struct.unpack("qq", data[:16])
    return int(seconds * 1_000_000_000 + nanoseconds)


def probe(count: int, every_us: int) -> list[tuple[int, int]]:
    """Send packets; return number and delay in nanoseconds of each, in the order of arrival."""
    near, far = sockets()
    far.settimeout(LOST_S)
    arrived: list[tuple[int, int]] = []

    def listen() -> None:
        while len(arrived) < count:
            try:
                data, ancillary, _, _ = far.recvmsg(2048, 64)
            except TimeoutError:
                return
            sent_ns = int.from_bytes(data[8:16], "big")
            arrived.append((int.from_bytes(data[:8], "big"), stamp_ns(ancillary) - sent_ns))

    thread = threading.Thread(target=listen)
    thread.start()
    due = time.monotonic_ns()
    for number in range(count):
        due += every_us * 1000
        if (left := due - time.monotonic_ns()) > 0:
            time.sleep(left / 1e9)
        head = number.to_bytes(8, "big") + time.time_ns().to_bytes(8, "big")
        near.sendto(head.ljust(PAYLOAD_BYTES, b"\0"), (RECEIVER, PORT))
    thread.join()
    near.close()
    far.close()
    return arrived


def main() -> None:
    folder = Path(sys.argv[1])
    orders = json.loads((folder / "orders.json").read_text())
    answers = []
    wire()
    with tc.running("near", orders["distributions"]) as keeper:
        keeper.netem("add", [("cable", ["limit", "1000"])])
        for order in orders["tries"]:
            answer: dict[str, Any] = {}
            try:
                keeper.netem("replace", [("cable", order["arguments"])])
                answer["shown"] = shown()
                if "count" in order:
                    answer["arrived"] = probe(order["count"], order["every_us"])
            except tc.TcError as error:
                answer["refused"] = str(error)
            answers.append(answer)
    (folder / "answers.json").write_text(json.dumps(answers))


if __name__ == "__main__":
    main()
