"""What tshark says about a TCP segment, in the words of our table of segments."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator

from conformance.packet import Packet, Row, joined
from conformance.pdml import Fields, address, children, number, text

NUMBERS = {
    "source_port": "tcp.srcport",
    "destination_port": "tcp.dstport",
    "sequence": "tcp.seq_raw",
    "acknowledgement": "tcp.ack_raw",
    "flags": "tcp.flags",
    "window": "tcp.window_size_value",
    "header_bytes": "tcp.hdr_len",
    "payload_bytes": "tcp.len",
    "urgent": "tcp.urgent_pointer",
}
# 4 is "illegal": no checksum over IPv6, which RFC 6935 allows to tunnels.
VERDICTS = {"0": "bad", "1": "valid", "2": "unchecked", "3": "zero", "4": "zero"}

END, NO_OPERATION, MSS, SCALE, SACK_PERMITTED, SACK, TIMESTAMPS, MPTCP = 0, 1, 2, 3, 4, 5, 8, 30


def read(ends: Row, tcp: ET.Element) -> Packet | None:
    """Read one segment; None when its header is not all there."""
    fields = children(tcp)
    if any(name not in fields for name in NUMBERS.values()):
        return None
    header: Row = {**ends, **{ours: number(fields, name) for ours, name in NUMBERS.items()}}
    header["window_bytes"] = window_bytes(fields)
    header["checksum"] = VERDICTS[text(fields, "tcp.checksum.status")]
    found = fields.get("tcp.options", [])
    header["options"] = joined((word for node in found for word in options(node)), ";")
    return Packet("tcp", header)


def window_bytes(fields: Fields) -> int | None:
    """Return the scaled window, if tshark saw the handshake; it says -1 where it did not."""
    scale = fields.get("tcp.window_size_scalefactor")
    if scale is not None and scale[0].get("show") == "-1":
        return None
    return number(fields, "tcp.window_size")


def options(node: ET.Element) -> Iterator[str]:
    """Yield the options in words, those left out whose length is impossible or which are cut."""
    for option in node:
        fields = children(option)
        if "tcp.option_kind" not in fields:
            continue
        kind = number(fields, "tcp.option_kind")
        if kind in (END, NO_OPERATION) or not is_whole(option, fields):
            continue
        try:
            yield WORDS.get(kind, other)(option, fields)
        except KeyError:
            # A field that its kind must have is not there.
            continue


def is_whole(option: ET.Element, fields: Fields) -> bool:
    """Tell whether an option has a length that its kind can have (RFC 9293, section 3.2)."""
    if "tcp.option_len" not in fields:
        return False
    if not 2 <= number(fields, "tcp.option_len") <= int(str(option.get("size"))):
        return False
    return option.find(".//field[@name='tcp.option.len.invalid']") is None


def mss(_: ET.Element, fields: Fields) -> str:
    """RFC 9293, section 3.7.1."""
    return f"mss={number(fields, 'tcp.options.mss_val')}"


def scale(_: ET.Element, fields: Fields) -> str:
    """RFC 7323, section 2."""
    return f"ws={number(fields, 'tcp.options.wscale.shift')}"


def sack_permitted(_: ET.Element, __: Fields) -> str:
    """RFC 2018, section 2."""
    return "sack-permitted"


def sack(_: ET.Element, fields: Fields) -> str:
    """RFC 2018, section 3."""
    edges = (fields.get(f"tcp.options.sack_{edge}", []) for edge in ("le", "re"))
    blocks = (f"{left.get('show')}-{right.get('show')}" for left, right in zip(*edges, strict=True))
    return f"sack={','.join(blocks)}"


def timestamps(_: ET.Element, fields: Fields) -> str:
    """RFC 7323, section 3."""
    value, echo = (number(fields, f"tcp.options.timestamp.{name}") for name in ("tsval", "tsecr"))
    return f"ts={value},{echo}"


def other(option: ET.Element, fields: Fields) -> str:
    """Name an option by its kind, with its value as it is on the wire."""
    value = str(option.get("value"))[4:]
    kind = number(fields, "tcp.option_kind")
    return f"kind-{kind}={value}" if value else f"kind-{kind}"


def multipath(option: ET.Element, fields: Fields) -> str:
    """RFC 8684, and RFC 6824 where it differs."""
    prefix = "tcp.options.mptcp."

    def value(name: str) -> int | None:
        return number(fields, prefix + name) if prefix + name in fields else None

    def flag(name: str) -> bool:
        found = option.find(f".//field[@name='{prefix}{name}.flag']")
        return found is not None and int(str(found.get("show")), 0) != 0

    def named(name: str, *words: str | None) -> str:
        said = joined((word for word in words if word is not None), ",")
        return f"{name}={said}" if said else name

    def part(word: str, name: str, form: str = "d") -> str | None:
        found = value(name)
        return None if found is None else f"{word}:{found:{form}}"

    match value("subtype"):
        case 0:
            return named(
                "mp_capable",
                part("version", "version"),
                part("flags", "flags", "#04x"),
                part("sender_key", "sendkey", "#018x"),
                part("receiver_key", "recvkey", "#018x"),
                part("length", "datalvllen"),
            )
        case 1:
            return named(
                "mp_join",
                part("address_id", "addrid"),
                "backup" if flag("backup") else None,
                part("token", "recvtok", "#010x"),
            )
        case 2:
            return named(
                "dss",
                "fin" if flag("datafin") else None,
                part("ack", "rawdataack"),
                part("sequence", "rawdataseqno"),
                part("subflow", "subflowseqno"),
                part("length", "datalvllen"),
            )
        case 3:
            advertised = fields.get(prefix + "ipv4", fields.get(prefix + "ipv6"))
            return named(
                "add_addr",
                part("address_id", "addrid"),
                "echo" if value("echo") else None,
                f"address:{address(str(advertised[0].get('show')))}" if advertised else None,
                part("port", "port"),
            )
        case 4:
            ids = fields.get(prefix + "addrid", [])
            return named("remove_addr", *(f"address_id:{one.get('show')}" for one in ids))
        case 5:
            backup = "backup" if flag("backup") else None
            return named("mp_prio", backup, part("address_id", "addrid"))
        case 6:
            return named("mp_fail", part("sequence", "rawdataseqno"))
        case 7:
            return named("mp_fastclose", part("receiver_key", "recvkey", "#018x"))
        case 8:
            bits = sum(flag(f"flag_{name}") << place for place, name in enumerate("TWVU"))
            return named("mp_tcprst", f"flags:{bits:#x}", part("reason", "rst_reason"))
        case subtype:
            return f"mptcp-{subtype}"


WORDS: dict[int, Callable[[ET.Element, Fields], str]] = {
    MSS: mss,
    SCALE: scale,
    SACK_PERMITTED: sack_permitted,
    SACK: sack,
    TIMESTAMPS: timestamps,
    MPTCP: multipath,
}
