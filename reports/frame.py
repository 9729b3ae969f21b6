"""One frame for people and programs: its layers as indented text, as JSON, as a hex dump."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..dissectors.frame import Frame

INDENT = "  "
DUMP_BYTES = 16
"""To a line of the dump."""


def lines(frame: Frame, *, dump: bool) -> Iterator[str]:
    """Yield the lines of the text."""
    for layer in frame.layers:
        yield from _node(layer, 0, of_tshark=frame.decoder == "tshark")
    if frame.packet is not None:
        yield from known_lines(frame.packet, frame.chunks)
    if dump:
        yield "Bytes"
        yield from _dump(frame.data)
        if frame.reassembled is not None:
            yield "Bytes of the reassembled datagram"
            yield from _dump(frame.reassembled)


def document(frame: Frame, *, dump: bool) -> dict[str, Any]:
    """Return the frame as JSON's types."""
    found: dict[str, Any] = {
        "frame": frame.number,
        "decoder": frame.decoder,
        "layers": frame.layers,
        "packet": frame.packet,
        "chunks": frame.chunks,
    }
    if dump:
        found["bytes"] = frame.data.hex()
        found["reassembled_bytes"] = frame.reassembled and frame.reassembled.hex()
    return found


def _node(node: dict[str, Any], depth: int, *, of_tshark: bool) -> Iterator[str]:
    if of_tshark and depth:
        # Wireshark's words have name and value in them.
        text = node["meaning"]
    else:
        text = node["name"]
        if "value" in node:
            text += f": {node['value']}"
        if "meaning" in node:
            text += f" ({node['meaning']})"
        if "offset" in node:
            text += f"  [{node['offset']}, {node['length']} bytes]"
    yield INDENT * depth + text
    for field in node.get("fields", ()):
        yield from _node(field, depth + 1, of_tshark=of_tshark)


def known_lines(packet: dict[str, Any], chunks: list[dict[str, Any]]) -> Iterator[str]:
    """Yield what the tracker knows of a packet and of its chunks."""
    yield "In the capture"
    if packet["association"] is None:
        yield f"{INDENT}of no association"
    else:
        place = f"association {packet['association']}, sent by {packet['sender']}"
        path = "" if packet["path"] is None else f" on path {packet['path']}"
        yield f"{INDENT}{place}{path}"
    if packet["duplicate_frame"]:
        yield f"{INDENT}a copy of an earlier frame"
    for chunk in chunks:
        if chunk["transmission"] is not None:
            yield f"{INDENT}TSN {chunk['tsn']}: {_transmission(chunk['transmission'])}"


def _transmission(number: int) -> str:
    match number:
        case 0:
            return "sent again, how often is not known"
        case 1:
            return "sent for the first time"
        case _:
            return f"transmission {number}"


def _dump(data: bytes) -> Iterator[str]:
    for offset in range(0, len(data), DUMP_BYTES):
        row = data[offset : offset + DUMP_BYTES]
        letters = "".join(chr(byte) if 0x20 <= byte < 0x7F else "." for byte in row)
        yield f"{INDENT}{offset:06x}  {row.hex(' '):<{3 * DUMP_BYTES - 1}}  {letters}"
