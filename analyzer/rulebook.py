"""Every rule for what looks wrong: what it means, where that is written, and what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from .model import Severity

Scope = Literal["association", "flow"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes
    ----------
    name
        As findings have it.
    scope
        Whether it is about an SCTP association, or about a TCP or UDP flow.
    meaning
        What has been seen.
    source
        The RFC section that it follows; a dash for what no RFC speaks of.
    remedy
        What to do about it.
    """

    name: str
    scope: Scope
    severity: Severity
    meaning: str
    source: str
    remedy: str


RULEBOOK = (
    Rule(
        "abort", "association", "error",
        "An end aborted the association, for the causes named.",
        "RFC 9260 3.3.7",
        "Read the cause; User-Initiated Abort is the application's own.",
    ),
    Rule(
        "error", "association", "warning",
        "An end reported an error, for the causes named.",
        "RFC 9260 3.3.10",
        "Read the cause: the other end sent what this one cannot take.",
    ),
    Rule(
        "restart", "association", "warning",
        "The association took the place of one between the same ends: one of them had lost its"
        " state.",
        "RFC 9260 5.2.4",
        "Find out why that host or process went away; what was outstanding is lost.",
    ),
    Rule(
        "setup-unanswered", "association", "error",
        "INIT was never answered.",
        "RFC 9260 5.1",
        "Check that the peer listens and that firewalls and NATs pass protocol 132, or encapsulate"
        " in UDP.",
    ),
    Rule(
        "init-ack-address", "association", "warning",
        "INIT ACK came from another address than INIT went to.",
        "RFC 9260 5.1",
        "Bind the server to the addresses that clients know: NATs and firewalls drop such answers.",
    ),
    Rule(
        "address-never-used", "association", "warning",
        "An announced address neither sent nor received a packet: it is not probed, so it cannot"
        " take over.",
        "RFC 9260 5.4",
        "Check that HEARTBEATs are on and that the address can be reached.",
    ),
    Rule(
        "address-never-confirmed", "association", "warning",
        "None of the HEARTBEATs to or from an announced address was answered.",
        "RFC 9260 5.4",
        "Check routes and firewalls of that address: the path would fail when it is needed.",
    ),
    Rule(
        "stalled-while-alive", "association", "warning",
        "No DATA was acknowledged for a second or longer, while HEARTBEATs were.",
        "RFC 9260 8.1, 8.2; RFC 7829",
        "Lower Path.Max.Retrans or RTO.Max, or use RFC 7829: `pathscope explain` says what that"
        " would save.",
    ),
    Rule(
        "sacks-to-dead-path", "association", "warning",
        "SACKs went on over a path that swallows them; what they acknowledge was sent again on"
        " another path.",
        "RFC 9260 6.4",
        "Answer on the path that DATA arrived on, and fix the way back of the other one.",
    ),
    Rule(
        "rto-below-sack-delay", "association", "warning",
        "T3-rtx expired while the SACK was on its way, put off by its sender.",
        "RFC 9260 6.2, 6.3.1",
        "Raise RTO.Min above the peer's SACK delay (200 ms as a rule) and the round trip, or lower"
        " that delay.",
    ),
    Rule(
        "zero-window", "association", "warning",
        "A receiver had no room left, and its peer had to stop.",
        "RFC 9260 6.1",
        "Let the application read faster, or give the socket a larger buffer.",
    ),
    Rule(
        "stream-beyond-negotiated", "association", "error",
        "DATA in a stream that the handshake did not open, without RE-CONFIG.",
        "RFC 9260 5.1.1, 6.5",
        "Use streams below the number that the socket reports after the handshake.",
    ),
    Rule(
        "overlapping-gap-blocks", "association", "warning",
        "SACKs have gap blocks that overlap or are not in ascending order.",
        "RFC 9260 3.3.4",
        "Report it to the maker of the receiver's SCTP.",
    ),
    Rule(
        "spurious-retransmissions", "association", "warning",
        "At least half of the retransmitted chunks had arrived before.",
        "RFC 9260 6.3.1, 7.2.4",
        "Look at the way back, where SACKs are lost or late, and at RTO.Min.",
    ),
    Rule(
        "heartbeats-unanswered", "association", "note",
        "Some HEARTBEATs on a path that answered others were not answered.",
        "RFC 9260 8.3",
        "Expected while a link is down; otherwise the path loses packets.",
    ),
    Rule(
        "concurrent-paths", "association", "note",
        "New DATA goes over several paths at once: handovers are not looked for.",
        "-",
        "Nothing; handover metrics do not apply to concurrent multipath transfer.",
    ),
    Rule(
        "captured-at-receiver", "association", "note",
        "The capture was taken where most DATA arrives.",
        "-",
        "Capture at the sender for timers and retransmissions, or at both ends.",
    ),
    Rule(
        "unauthenticated-chunks", "association", "warning",
        "Chunks without AUTH of a type that the receiver wants authenticated: it discards them.",
        "RFC 4895 6.3",
        "Turn authentication on at the sender, or off at the receiver.",
    ),
    Rule(
        "zero-checksum", "association", "note",
        "Packets without a checksum, as negotiated.",
        "RFC 9653 5",
        "Nothing.",
    ),
    Rule(
        "uncovered-zero-checksum", "association", "warning",
        "Some packets carry no checksum although nothing allows that.",
        "RFC 9653 5.2",
        "Capture outside the sending host to tell a fault from offload.",
    ),
    Rule(
        "checksum-offload", "association", "note",
        "All packets of one end have a wrong checksum or none: it was captured before the network"
        " card filled it in.",
        "-",
        "Nothing; to have checksums checked, turn transmit checksum offload off while capturing.",
    ),
    Rule(
        "bad-checksum", "association", "warning",
        "Packets have a wrong CRC32c, and their sender showed no right one on that way.",
        "RFC 9260 6.8",
        "Capture outside the sending host to tell damage from offload.",
    ),
    Rule(
        "damaged-packets", "association", "warning",
        "Packets have a wrong CRC32c though others of their sender are right.",
        "RFC 9260 6.8",
        "Look for a bad link or a middle box that changes packets.",
    ),
    Rule(
        "adler32-checksum", "association", "note",
        "Packets carry the checksum of RFC 2960, which RFC 3309 replaced.",
        "RFC 3309",
        "Nothing with an old capture; else update that SCTP, which others do not understand.",
    ),
    Rule(
        "duplicated-frames", "association", "note",
        "The capture has frames twice.",
        "-",
        "Nothing; capture on one interface instead of `any`, or on one port of a mirror.",
    ),
    Rule(
        "truncated-packets", "association", "note",
        "The capture cut packets.",
        "-",
        "Capture with a larger snap length to have chunks and checksums read.",
    ),
    Rule(
        "oversized-packets", "association", "note",
        "Packets are larger than any Ethernet frame.",
        "-",
        "Turn GRO and GSO off while capturing to count packets of the wire.",
    ),
    Rule(
        "clock-step", "association", "warning",
        "The capture's clock went back by more than a minute.",
        "-",
        "Keep the clock from being set while capturing; split the capture there.",
    ),
    Rule(
        "clock-jump", "association", "warning",
        "Nothing was captured for a time in which T3-rtx must have expired, and did not.",
        "RFC 9260 6.3.3",
        "Distrust times across the jump: the clock was set forward, or the capture paused.",
    ),
    Rule(
        "setup-unanswered", "flow", "error",
        "SYN was never answered.",
        "RFC 9293 3.5",
        "Check that the peer listens and that firewalls pass it.",
    ),
    Rule(
        "setup-refused", "flow", "error",
        "The peer answered SYN with RST.",
        "RFC 9293 3.5.2",
        "Start the server, or correct the port.",
    ),
    Rule(
        "reset", "flow", "warning",
        "An end reset the connection.",
        "RFC 9293 3.10.7; RFC 8684 3.6",
        "Ask that end's application or firewall why; MPTCP gives a reason.",
    ),
    Rule(
        "icmp-error", "flow", "warning",
        "A router or host reported that it could not deliver packets.",
        "RFC 792; RFC 4443",
        "Follow what it says: routes, MTU, closed port.",
    ),
    Rule(
        "zero-window", "flow", "warning",
        "A receiver had no room left, and its peer had to stop.",
        "RFC 9293 3.8.6",
        "Let the application read faster, or give the socket a larger buffer.",
    ),
    Rule(
        "spurious-retransmissions", "flow", "warning",
        "At least half of the retransmitted segments had arrived before.",
        "RFC 2883",
        "Look at the way back, where ACKs are lost or late.",
    ),
    Rule(
        "segmentation-offload", "flow", "note",
        "Segments are larger than their receiver takes.",
        "RFC 9293 3.7.1",
        "Turn GRO and TSO off while capturing to count packets of the wire.",
    ),
    Rule(
        "duplicated-frames", "flow", "note",
        "The capture has frames twice.",
        "-",
        "Nothing; capture on one interface instead of `any`, or on one port of a mirror.",
    ),
    Rule(
        "truncated-packets", "flow", "note",
        "The capture cut packets.",
        "-",
        "Capture with a larger snap length.",
    ),
)  # fmt: skip
