"""What tshark says about a UDP datagram, in the words of our table of datagrams."""

from __future__ import annotations

import xml.etree.ElementTree as ET

from conformance.packet import Packet, Row
from conformance.pdml import children, number
from conformance.tcp_fields import VERDICTS

NUMBERS = {
    "source_port": "udp.srcport",
    "destination_port": "udp.dstport",
    "length": "udp.length",
}


def read(ends: Row, udp: ET.Element) -> Packet | None:
    """Read one datagram; None when its header is not all there."""
    fields = children(udp)
    # Of an absent checksum the verdict stands inside the field.
    verdict = udp.find(".//field[@name='udp.checksum.status']")
    if verdict is None or any(name not in fields for name in NUMBERS.values()):
        return None
    header: Row = {**ends, **{ours: number(fields, name) for ours, name in NUMBERS.items()}}
    header["payload_bytes"] = number(fields, "udp.length") - 8
    header["checksum"] = VERDICTS[str(verdict.get("show"))]
    return Packet("udp", header)
