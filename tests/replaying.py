"""Packet replays for tests: traces that are made, and replays in the lab of what is in a file."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathscope.analyzer.labels import LabelRule
from pathscope.api import read
from pathscope.dissectors.ledger import ReadOptions
from pathscope.replay import prepare, run
from pathscope.replay.fidelity.tolerances import Tolerances
from pathscope.replay.lab.run import kernel_for
from pathscope.replay.packets import routes
from pathscope.replay.packets.orders import Orders
from pathscope.replay.profiles.profile import parse
from scapy.layers.inet import IP, UDP
from scapy.layers.l2 import Ether

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

START_S = 1_700_000_000


@dataclass(frozen=True, slots=True)
class Flow:
    """Datagrams of one length, evenly in time, from 10.0.NUMBER.1 to 10.0.NUMBER.2."""

    number: int
    per_s: float
    frame_bytes: int = 200


def write_flows(path: Path, flows: Iterable[Flow], duration_s: float) -> Path:
    """Write a trace of flows; every frame is different from every other."""
    frames = sorted(
        (round((place + flow.number / 100) / flow.per_s * 1e9), flow.number, place)
        for flow in flows
        for place in range(int(duration_s * flow.per_s))
    )
    heads = {flow.number: _datagram(flow) for flow in flows}
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        for time_ns, number, place in frames:
            # UDP over IPv4 without a checksum: the payload is free to say which one it is.
            data = heads[number][:42] + struct.pack("<I", place) + heads[number][46:]
            seconds, rest = divmod(time_ns, 10**9)
            file.write(struct.pack("<IIII", START_S + seconds, rest, len(data), len(data)) + data)
    return path


def _datagram(flow: Flow) -> bytes:
    ends = {end: f"10.0.{flow.number}.{end}" for end in (1, 2)}
    macs = {end: f"02:00:00:00:{flow.number:02x}:0{end}" for end in (1, 2)}
    head = Ether(src=macs[1], dst=macs[2]) / IP(src=ends[1], dst=ends[2])
    payload = bytes(flow.frame_bytes - 42)
    return bytes(head / UDP(sport=4000, dport=5000, chksum=0) / payload)


def orders(trace: Path, labels: Mapping[str, str] | None = None, **more: Any) -> Orders:
    """Return what the sender is told of a trace, but for the interfaces."""
    ledger = read(trace, ReadOptions(flows=True))
    rules = tuple(LabelRule.parse(f"{net}={name}") for net, name in (labels or {}).items())
    pairs = routes.pairs(routes.find(ledger, rules))
    return Orders(trace=(str(trace.resolve()),), pairs=pairs, outlets=(), **more)


def replay(
    asked: Orders, out: Path, profile: Mapping[str, Any] | None = None, mtu: int | None = None
) -> run.Outcome:
    """Replay in the lab, in the kernel that it needs."""
    parsed = None if profile is None else parse(profile)
    prepared = prepare.for_lab(asked, parsed, ["test"], mtu=mtu).replay
    runner = kernel_for("auto", run.needs(prepared))
    return run.in_lab(prepared, out, runner, Tolerances())


def network(number: int) -> str:
    """Return the network of a flow."""
    return str(ip_address("10.0.0.0") + (number << 8)) + "/24"
