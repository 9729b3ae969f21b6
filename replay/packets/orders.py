"""What the native sender is told (`replay/native/src/orders.rs` reads it)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Direction = Literal["to_server", "to_client"]

DIRECTIONS: tuple[Direction, Direction] = ("to_server", "to_client")

SCTP_TUNNELING = 9899
"""The UDP port registered for SCTP (RFC 6951)."""

SPIN_NS = 100_000
"""Before a deadline, to look at the clock: waking up from a sleep is late by some 50 us."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two addresses of the trace with a path between them: what `a` sent goes to the server."""

    a: str
    b: str
    path: str


@dataclass(frozen=True, slots=True)
class Outlet:
    """The interface that one direction of a path goes out of.

    `netns` is a name under /run/netns, None the namespace of the process; `mtu` is in bytes.
    """

    path: str
    direction: Direction
    device: str
    netns: str | None = None
    mtu: int = 1500


@dataclass(frozen=True, slots=True)
class Mapping:
    """What becomes of addresses, ports and MACs: pairs of what is in the trace and what is sent.

    Addresses are single ones or prefixes of one length. `mac_ends` has source and destination of
    all that goes in a direction, and stands instead of `macs`.
    """

    addresses: tuple[tuple[str, str], ...] = ()
    ports: tuple[tuple[int, int], ...] = ()
    macs: tuple[tuple[str, str], ...] = ()
    mac_ends: dict[Direction, tuple[str, str]] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return the mapping as orders have it."""
        macs = self.mac_ends or self.macs
        return {"addresses": self.addresses, "ports": self.ports, "macs": macs}


@dataclass(frozen=True, slots=True)
class Original:
    """The times of the trace, `speed` times as fast."""

    speed: float = 1.0


@dataclass(frozen=True, slots=True)
class PacketRate:
    """So many frames a second, evenly."""

    pps: float


@dataclass(frozen=True, slots=True)
class BitRate:
    """So many bits a second, of frames from the Ethernet header on."""

    bps: float


@dataclass(frozen=True, slots=True)
class TopSpeed:
    """One frame after the other, as fast as the interfaces take them."""


Pace = Original | PacketRate | BitRate | TopSpeed

_MODES = {Original: "original", PacketRate: "pps", BitRate: "rate", TopSpeed: "top"}


@dataclass(frozen=True, slots=True)
class Late:
    """What becomes of frames that are late by more than `limit_ns`.

    `send`: they go out at once and are counted, the deadlines of others stay. `drop`: they are left
    out, and logged as such.
    """

    policy: Literal["send", "drop"] = "send"
    limit_ns: int = 1_000_000


@dataclass(frozen=True, slots=True)
class Orders:
    """A replay, as the native sender takes it.

    Attributes
    ----------
    trace
        Capture files, whose frames are merged by time.
    pairs
        Which addresses belong to which path.
    outlets
        Where each direction of each path goes out; the log's `route` is an index of this.
    taken
        Of each file the direction that is taken from it, where the files are captures of both ends
        on one clock: what its end sent itself. Empty: everything is taken from all files.
    epoch_ns
        What `from_ns` and `to_ns` count from, in ns since 1970; None: the trace's first frame.
    from_ns, to_ns
        Since then; None for the trace's beginning and end. Replay time 0 is `from_ns`.
    loops, loop_gap_ns
        How often the trace is replayed, and the time between the end of a loop and the next.
    filter
        A libpcap expression for frames as they are in the trace; None for all.
    udp_ports
        UDP ports that carry SCTP.
    pace
        When frames are due.
    mapping
        What addresses, ports and MACs become.
    keep_bad_checksums
        Whether a checksum that was wrong stays as wrong as it was.
    above_mtu, truncated
        What becomes of frames that are larger than their outlet's MTU, and of those of which the
        capture kept less than there was.
    late
        What becomes of frames that cannot be sent at their time.
    spin_ns
        How long before a deadline sleeping ends and looking at the clock begins.
    """

    trace: tuple[str, ...]
    pairs: tuple[Pair, ...]
    outlets: tuple[Outlet, ...]
    taken: tuple[Direction, ...] = ()
    epoch_ns: int | None = None
    from_ns: int | None = None
    to_ns: int | None = None
    loops: int = 1
    loop_gap_ns: int = 0
    filter: str | None = None
    udp_ports: tuple[int, ...] = (SCTP_TUNNELING,)
    pace: Pace = field(default_factory=Original)
    mapping: Mapping = field(default_factory=Mapping)
    keep_bad_checksums: bool = False
    above_mtu: Literal["refuse", "split"] = "refuse"
    truncated: Literal["refuse", "pad"] = "refuse"
    late: Late = field(default_factory=Late)
    spin_ns: int = SPIN_NS

    def to_dict(self) -> dict[str, Any]:
        """Return the orders as plain data."""
        return asdict(self) | {
            "pace": {"mode": _MODES[type(self.pace)], **asdict(self.pace)},
            "mapping": self.mapping.to_dict(),
        }

    def to_json(self) -> str:
        """Return the orders as the native sender reads them."""
        return json.dumps(self.to_dict())
