"""What tshark says about every frame of a capture, in the words of our tables.

Of the packets in a frame it is the one that pathscope reads: through tunnels the innermost,
SCTP in UDP on the port of RFC 6951, and never one that an ICMP error quotes, which is no packet
of this capture's.
"""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

from conformance import pdml, sctp_fields, tcp_fields, udp_fields
from conformance.packet import Frame, Row
from conformance.pdml import address, children, number, text

READERS = {"tcp": tcp_fields.read, "udp": udp_fields.read, "sctp": sctp_fields.read}
NETWORK = ("ip", "ipv6")
QUOTING = ("icmp", "icmpv6")
TUNNEL_PORTS = {"gtp": 2152, "vxlan": 4789, "geneve": 6081}
"""Tunnels in UDP, by tshark's name, with the destination port that pathscope knows them by."""
G_PDU = "0xff"
"""The message of GTP-U that carries a packet (3GPP TS 29.281, section 6.1)."""
ENCAPSULATION_PORT = 9899
STOPPED = {"_ws.malformed", "_ws.short"}


def frames(capture: Path) -> Iterator[Frame]:
    """Yield every frame of a capture in file order.

    Raises TsharkError after the last one when tshark reports a failure.
    """
    packets = (element for element in pdml.frames(capture) if is_packet(element))
    return (read(number, element) for number, element in enumerate(packets, 1))


def is_packet(element: ET.Element) -> bool:
    """Tell packets from the custom blocks of pcapng, which tshark numbers with them."""
    return element.find("proto[@name='frame']/field[@name='frame.encap_type']") is not None


def read(number: int, element: ET.Element) -> Frame:
    """Read one frame."""
    protos = element.findall("proto")
    names = [str(proto.get("name")) for proto in protos]
    shown = children(protos[names.index("frame")])
    frame = Frame(number, account=text(shown, "frame.protocols"), marks=marks(element))
    network, transport = layers(protos)
    if network is None or transport is None:
        return frame
    protocol = str(transport.get("name"))
    # After a DATA chunk tshark opens another "sctp" for the next ones.
    rest = protos[protos.index(transport) + 1 :]
    again = [proto for proto in rest if protocol == "sctp" and proto.get("name") == "sctp"]
    frame.packet = READERS[protocol](ends(network), transport, *again)
    if frame.packet is not None:
        frame.packet.gave_up = not STOPPED.isdisjoint(frame.marks)
    return frame


def marks(element: ET.Element) -> frozenset[str]:
    """Return what tshark finds about a frame: its own words, names of expert infos, fragments."""
    found = {str(proto.get("name")) for proto in element.findall("proto")} & STOPPED
    for expert in element.iter("field"):
        if expert.get("name") == "_ws.expert":
            found.update(str(field.get("name")) for field in expert)
    if any(is_fragment(element)):
        found.add("fragment")
    return frozenset(name for name in found if name in STOPPED or not name.startswith("_ws."))


def is_fragment(element: ET.Element) -> Iterator[bool]:
    """Yield for every IP header whether it is a fragment's (RFC 791, section 3.2)."""
    for name in ("ip.flags.mf", "ip.frag_offset", "ipv6.fraghdr.more", "ipv6.fraghdr.offset"):
        for field in element.iter("field"):
            if field.get("name") == name:
                yield field.get("show") not in ("0", "False")


def ends(network: ET.Element) -> Row:
    """Return the addresses of an IP header."""
    family = str(network.get("name"))
    fields = children(network)
    return {
        "source": address(text(fields, f"{family}.src")),
        "destination": address(text(fields, f"{family}.dst")),
    }


def layers(protos: list[ET.Element]) -> tuple[ET.Element | None, ET.Element | None]:
    """Return the IP header and the transport that pathscope reads of a frame."""
    network: ET.Element | None = None
    udp: ET.Element | None = None
    outer: ET.Element | None = None
    for proto in protos:
        name = str(proto.get("name"))
        if udp is not None:
            if not continues(udp, proto):
                return outer, udp
            udp = None
        if name in NETWORK:
            network = proto
        elif name in QUOTING:
            return None, None
        elif network is not None and name in ("tcp", "sctp"):
            return network, proto
        elif network is not None and name == "udp":
            udp, outer = proto, network
    return outer, udp


def continues(udp: ET.Element, above: ET.Element) -> bool:
    """Tell whether what stands above a UDP header carries a packet that counts instead."""
    name = above.get("name")
    fields = children(udp)
    ports = [
        number(fields, f"udp.{end}port") for end in ("src", "dst") if f"udp.{end}port" in fields
    ]
    if name == "sctp":
        return ENCAPSULATION_PORT in ports
    if name == "gtp" and G_PDU not in (field.get("show") for field in above):
        return False
    return name in TUNNEL_PORTS and ports[-1:] == [TUNNEL_PORTS[name]]
