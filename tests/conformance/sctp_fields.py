"""What tshark says about an SCTP packet, in the words of our table of chunks."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import chain

from conformance.packet import Packet, Row, joined
from conformance.pdml import Fields, address, children, number, text

# Chunk and parameter types of RFC 9260 and its extensions that need a rule of their own below.
INIT, INIT_ACK, ABORT, ERROR, I_DATA, ASCONF_ACK, RE_CONFIG, ASCONF = 1, 2, 6, 9, 64, 128, 130, 193
IPV4, IPV6, ADD_IP, DELETE_IP, ERROR_CAUSE, SET_PRIMARY = 5, 6, 0xC001, 0xC002, 0xC003, 0xC004

# tshark's name for a number that stands directly in a chunk, and ours.
NUMBERS = {
    "sctp.chunk_type": "chunk_type",
    "sctp.chunk_flags": "flags",
    "sctp.chunk_length": "length",
    "sctp.data_tsn_raw": "tsn",
    "sctp.ecne_lowest_tsn": "tsn",
    "sctp.cwr_lowest_tsn": "tsn",
    "sctp.data_sid": "stream",
    "sctp.data_ssn": "sequence",
    "sctp.data_mid": "sequence",
    "sctp.data_payload_proto_id": "ppid",
    "sctp.data_fsn": "fragment_sequence",
    "sctp.sack_cumulative_tsn_ack_raw": "cumulative_tsn",
    "sctp.nr_sack_cumulative_tsn_ack": "cumulative_tsn",
    "sctp.shutdown_cumulative_tsn_ack": "cumulative_tsn",
    "sctp.forward_tsn_tsn": "cumulative_tsn",
    "sctp.i_forward_tsn_tsn": "cumulative_tsn",
    "sctp.sack_a_rwnd": "a_rwnd",
    "sctp.nr_sack_a_rwnd": "a_rwnd",
    "sctp.init_credit": "a_rwnd",
    "sctp.initack_credit": "a_rwnd",
    "sctp.init_initiate_tag": "initiate_tag",
    "sctp.initack_initiate_tag": "initiate_tag",
    "sctp.init_nr_out_streams": "outbound_streams",
    "sctp.initack_nr_out_streams": "outbound_streams",
    "sctp.init_nr_in_streams": "inbound_streams",
    "sctp.initack_nr_in_streams": "inbound_streams",
    "sctp.init_initial_tsn": "initial_tsn",
    "sctp.initack_initial_tsn": "initial_tsn",
    "sctp.asconf_seq_nr_number": "serial",
    "sctp.asconf_ack_seq_nr_number": "serial",
}
LISTS = ("gaps", "duplicates", "addresses", "causes", "parameters")
CHUNK_FIELDS = (*dict.fromkeys(NUMBERS.values()), *LISTS)


def read(ends: Row, sctp: ET.Element, *more: ET.Element) -> Packet | None:
    """Read one packet, whose chunks may go on in `more`; None when it has no whole chunk."""
    fields = children(sctp)
    if "sctp.verification_tag" not in fields:
        return None
    header: Row = {
        **ends,
        "source_port": number(fields, "sctp.srcport"),
        "destination_port": number(fields, "sctp.dstport"),
        "verification_tag": number(fields, "sctp.verification_tag"),
        "checksum": checksum(fields),
    }
    packet = Packet("sctp", header)
    for proto in (sctp, *more):
        for node in proto:
            found = children(node)
            if "sctp.chunk_type" in found and is_whole(found):
                packet.chunks.append(read_chunk(node, found))
    return packet if packet.chunks else None


def is_whole(fields: Fields) -> bool:
    """Tell whether a chunk's length is possible; with a bad one it is none (RFC 9260, 3.2)."""
    if "sctp.chunk_length" not in fields or number(fields, "sctp.chunk_length") < 4:
        return False
    length = fields["sctp.chunk_length"][0]
    return length.find(".//field[@name='sctp.chunk_length.bad']") is None


def read_chunk(node: ET.Element, fields: Fields) -> Row:
    """Read one chunk's fields into a row of CHUNK_FIELDS."""
    row: Row = dict.fromkeys(CHUNK_FIELDS)
    for name, ours in NUMBERS.items():
        if name in fields:
            row[ours] = number(fields, name)
    kind = row["chunk_type"]
    if kind == I_DATA and row["ppid"] is not None:
        # RFC 8260, section 2.1: a first fragment has the PPID where others have the FSN, and FSN 0.
        row["fragment_sequence"] = 0
    row["gaps"] = joined(gap_blocks(node))
    duplicates = fields.get("sctp.sack_duplicate_tsn", [])
    duplicates = duplicates + fields.get("sctp.nr_sack_duplicate_tsn", [])
    row["duplicates"] = joined(str(e.get("show")) for e in duplicates)
    nodes = parameters(node)
    if kind in (INIT, INIT_ACK):
        row["addresses"] = joined((a for p in nodes for a in addresses(p)), ";")
    if kind == ASCONF:
        # RFC 5061, section 4.1.1: the Address Parameter comes first, then the requests.
        named = nodes[:1] if nodes and parameter_type(nodes[0]) in (IPV4, IPV6) else []
        nodes = nodes[len(named) :]
        asked = (p for p in nodes if parameter_type(p) in (ADD_IP, DELETE_IP, SET_PRIMARY))
        inside = (inner for p in asked for inner in parameters(p)[:1])
        row["addresses"] = joined((a for p in chain(named, inside) for a in addresses(p)), ";")
    if kind in (INIT, INIT_ACK, ASCONF, ASCONF_ACK, RE_CONFIG):
        row["parameters"] = joined(str(parameter_type(p)) for p in nodes)
    if kind in (ABORT, ERROR):
        row["causes"] = joined(cause_codes(node))
    if kind == ASCONF_ACK:
        refused = (p for p in nodes if parameter_type(p) == ERROR_CAUSE)
        row["causes"] = joined(code for p in refused for code in list(cause_codes(p))[:1])
    return row


def gap_blocks(node: ET.Element) -> Iterator[str]:
    """Yield the gap blocks of a SACK or NR-SACK, as offsets."""
    for prefix in ("sack_gap", "nr_sack_gap", "nr_sack_nr_gap"):
        for block in node:
            ends = children(block)
            start, end = f"sctp.{prefix}_block_start", f"sctp.{prefix}_block_end"
            if start in ends and end in ends:
                yield f"{number(ends, start)}-{number(ends, end)}"


def elements(node: ET.Element, name: str) -> list[ET.Element]:
    """Return the parameters or causes that stand directly in a node, up to an impossible length.

    tshark shows the one with the impossible length too; after it nothing can be told.
    """
    found = []
    for child in node:
        fields = children(child)
        if f"sctp.{name}_length" in fields:
            length = number(fields, f"sctp.{name}_length")
            if not 4 <= length <= int(child.get("size", 0)):
                break
            found.append(child)
    return found


def parameters(node: ET.Element) -> list[ET.Element]:
    """Return the parameters that stand directly in a chunk or parameter."""
    return elements(node, "parameter")


def parameter_type(node: ET.Element) -> int:
    """Return the type of a parameter."""
    return number(children(node), "sctp.parameter_type")


def addresses(node: ET.Element) -> Iterator[str]:
    """Yield the address of an address parameter, or nothing."""
    fields = children(node)
    for name in ("sctp.parameter_ipv4_address", "sctp.parameter_ipv6_address"):
        if name in fields:
            yield address(text(fields, name))


def cause_codes(node: ET.Element) -> Iterator[str]:
    """Yield the codes of the error causes that stand directly in a chunk or parameter."""
    for cause in elements(node, "cause"):
        yield str(number(children(cause), "sctp.cause_code"))


def checksum(sctp: Fields) -> str:
    """Return tshark's verdict in our words; it tries Adler-32 (RFC 2960) and CRC32c."""
    tried = sctp["sctp.checksum"]
    verdicts = sctp["sctp.checksum.status"]
    for shown, status in zip(tried, verdicts, strict=False):
        if status.get("show") == "1":
            return "valid" if "CRC32C" in str(shown.get("showname")) else "adler32"
    if any(status.get("show") == "2" for status in verdicts):
        return "unchecked"
    return "zero" if number(sctp, "sctp.checksum") == 0 else "bad"
