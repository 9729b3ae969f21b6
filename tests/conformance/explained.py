"""Classes of disagreement that are no mistake of either side.

Each asks for a sign of both: pathscope's account of the frame, and what tshark shows or finds
wrong there. Single frames where tshark is wrong stand in allowed.toml.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from conformance.packet import ADDRESSES, Frame, Row, Value

SYN = 0x002


@dataclass(frozen=True)
class Skipped:
    """Frames that pathscope skips though tshark shows a transport header in them."""

    reason: str
    account: str
    """What pathscope says became of the frame."""
    marks: frozenset[str] = frozenset()
    """tshark finds one of these wrong with it ..."""
    within: frozenset[str] = field(default_factory=frozenset)
    """... or shows one of these protocols around the transport."""

    def fits(self, mine: Frame, other: Frame) -> bool:
        """Tell whether a disagreement is of this class."""
        around = self.within.intersection(other.account.split(":"))
        signs = self.marks & other.marks or around
        return mine.account == self.account and mine.packet is None and bool(signs)


SKIPPED = (
    Skipped(
        "RFC 768: the length field is below 8 or goes beyond the IP packet, so no receiver takes "
        "the datagram; tshark shows its header",
        "skipped: malformed udp",
        marks=frozenset({"udp.length.bad", "udp.length.bad_zero"}),
    ),
    Skipped(
        "RFC 791, section 3.1, and RFC 8200, section 3: the length field of IP goes beyond the "
        "frame, so no receiver takes the packet; tshark reads what there is",
        "skipped: malformed ip",
        marks=frozenset({"ip.bogus_ip_length", "ipv6.plen_exceeds_framing"}),
    ),
    Skipped(
        "RFC 791, section 3.2, and RFC 8200, section 4.5: a fragment that the capture cut cannot "
        "be put together; tshark shows what the first one begins with",
        "skipped: truncated ip",
        marks=frozenset({"fragment"}),
    ),
    Skipped(
        "IPComp (RFC 3173) and PIM Register (RFC 7761, section 4.9.3) carry packets that pathscope "
        "does not look into",
        "skipped: another protocol",
        within=frozenset({"ipcomp", "pim"}),
    ),
    Skipped(
        "ARCnet (RFC 1051, RFC 1201) is a link that pathscope does not read",
        "skipped: link type not supported",
        within=frozenset({"arcnet"}),
    ),
)

SCALE_OF_ONE_SYN = (
    "RFC 7323, section 2.2: windows are scaled only when both SYNs say so, and one of them is not "
    "in the capture; pathscope gives no bytes, tshark takes the scale of the other"
)


def frame_reason(mine: Frame, other: Frame) -> str | None:
    """Return why one side reads a packet in a frame and the other does not, if it is known."""
    return next((known.reason for known in SKIPPED if known.fits(mine, other)), None)


class Handshakes:
    """Which ends of which TCP connections have sent a SYN, as tshark shows it."""

    def __init__(self) -> None:
        self._seen: set[tuple[Value, ...]] = set()

    def note(self, header: Row) -> None:
        """Note a segment."""
        if header["flags"] is not None and int(header["flags"]) & SYN:
            self._seen.add(tuple(header[name] for name in ADDRESSES))

    def are_whole(self, header: Row) -> bool:
        """Tell whether both ends of a segment's connection have sent a SYN."""
        one = tuple(header[name] for name in ADDRESSES)
        other = (one[1], one[0], one[3], one[2])
        return {one, other} <= self._seen

    def reason(self, name: str, mine: Row, other: Row) -> str | None:
        """Return why a field of a segment is told differently, if it is the window's scale."""
        if name == "window_bytes" and mine[name] is None and not self.are_whole(other):
            return SCALE_OF_ONE_SYN
        return None
