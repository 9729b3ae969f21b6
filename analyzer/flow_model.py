"""What an analysis says of TCP and UDP flows, MPTCP connections and ICMP errors: plain data.

Field names are those of the result contract (docs/result.md); a sender is "a" or "b".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .measure import Instant, Measure
    from .model import End, Finding


@dataclass(frozen=True, slots=True)
class Socket:
    """One end of a flow."""

    address: str
    port: int


@dataclass(frozen=True, slots=True)
class Numbering:
    """What numbers the packets of one direction of a UDP flow.

    `stream` is the SSRC of RTP (RFC 3550) or the flow identifier of D-ITG; `payload_type` is RTP's.
    """

    protocol: Literal["rtp", "d-itg"]
    stream: int
    payload_type: int | None


@dataclass(frozen=True, slots=True)
class FlowDirection:
    """What one end of a flow sent.

    `sack_permitted` and `timestamps` are None for UDP and where the capture has nothing of this
    end; `address_id` is the MPTCP address identifier (RFC 8684). `transit` is None without a
    capture of the other end.
    """

    metrics: dict[str, Measure]
    sack_permitted: bool | None
    timestamps: bool | None
    numbering: Numbering | None
    address_id: int | None
    transit: dict[str, Measure] | None = None


@dataclass(frozen=True, slots=True)
class Flow:
    """One TCP or UDP flow, or MPTCP subflow."""

    number: int
    protocol: Literal["tcp", "udp"]
    endpoints: dict[End, Socket]
    interface: str | None
    label: str
    start: Instant
    end: Instant
    established: Instant
    seen_handshake: bool
    how_it_ended: str
    ended_by: End | None
    closed: Instant
    reset_reason: str | None
    restart_of: int | None
    connection: int | None
    subflow: Literal["capable", "join"] | None
    backup: bool
    duplicate_frames: int
    truncated_packets: int
    icmp_errors: int
    metrics: dict[str, Measure]
    directions: dict[End, FlowDirection]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Subflow:
    """One flow of an MPTCP connection.

    `end_a` is the end of the connection that the flow's end a is; `senders` is by the
    connection's ends.
    """

    flow: int
    label: str
    kind: Literal["capable", "join"]
    backup: bool
    end_a: End
    metrics: dict[str, Measure]
    senders: dict[End, dict[str, Measure]]


@dataclass(frozen=True, slots=True)
class Switch:
    """Another subflow carries most of a sender's new payload from here on."""

    from_flow: int
    to_flow: int
    at: Instant


@dataclass(frozen=True, slots=True)
class Timeline:
    """Which subflow carried most of a sender's new payload.

    `first_flow` is None for a sender of no payload. `shared_ratio` is the share of the time bins
    with new payload in which several subflows carried some. A sender that goes back and forth all
    the time is `concurrent`, and its switches are left out.
    """

    first_flow: int | None
    shared_ratio: Measure
    concurrent: bool
    switches: tuple[Switch, ...]


@dataclass(frozen=True, slots=True)
class Connection:
    """One MPTCP connection over all its subflows (RFC 8684)."""

    number: int
    version: int | None
    start: Instant
    end: Instant
    subflows: tuple[Subflow, ...]
    totals: dict[End, dict[str, Measure]]
    timelines: dict[End, Timeline]


@dataclass(frozen=True, slots=True)
class Quoted:
    """The packet that an ICMP error quotes.

    `tag` is SCTP's verification tag; `sender` the end of `flow` or `association` that sent it.
    """

    source: str
    destination: str
    protocol: int
    source_port: int | None
    destination_port: int | None
    tag: int | None
    flow: int | None
    association: int | None
    sender: End | None


@dataclass(frozen=True, slots=True)
class IcmpError:
    """One ICMP (RFC 792) or ICMPv6 (RFC 4443) error; `quoted` is None where that is cut off."""

    name: str
    at: Instant
    source: str
    destination: str
    version: Literal[4, 6]
    icmp_type: int
    code: int
    mtu_bytes: int | None
    quoted: Quoted | None
