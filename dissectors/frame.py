"""One frame of a capture, decoded: by tshark where it is installed, else by our own decoder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from . import _core, tshark
from . import ledger as ledgers
from .index import REGISTERED_PORTS, Index, UnfitIndexError

if TYPE_CHECKING:
    from .ledger import ReadOptions, Row

Decoder = Literal["auto", "tshark", "own"]
DECODERS: tuple[Decoder, ...] = ("auto", "tshark", "own")

KNOWN = ("association", "sender", "path", "duplicate_frame", "checksum")
"""What the tracker says of a packet."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One frame, decoded.

    Attributes
    ----------
    number
        In the file, from 1.
    decoder
        Who decoded it: `tshark` or `own`.
    layers
        The outermost first: dicts with `name` and, where there are any, `value`, `meaning`,
        `offset` and `length` in bytes, and `fields`, which are such dicts again.
    data
        As captured.
    reassembled
        The payload of the IP datagram that the frame completed, if it was in fragments.
    packet
        What the tracker knows of the SCTP packet: association, sender, path, whether it is a copy
        of an earlier frame, verdict on the checksum; None when it is none.
    chunks
        Its chunks: index, name, TSN and transmission number, None where they have none.
    """

    number: int
    decoder: Literal["tshark", "own"]
    layers: list[dict[str, Any]]
    data: bytes
    reassembled: bytes | None
    packet: dict[str, Any] | None
    chunks: list[dict[str, Any]]


def decode(
    capture: Path,
    number: int,
    options: ReadOptions,
    decoder: Decoder = "auto",
    index_folder: Path | None = None,
) -> Frame:
    """Decode one frame; what the tracker knows of it is added.

    Through the offset index where one is there and fits, else by reading up to the frame.

    Raises
    ------
    ValueError
        When there is no such frame.
    CaptureError
        When the capture cannot be read.
    TsharkError
        When tshark is asked for, and is not there or cannot read the capture.
    """
    try:
        index = Index.find(capture, options, index_folder)
    except (UnfitIndexError, OSError):
        index = None
    ports = list(options.udp_ports or REGISTERED_PORTS)
    own = _core.explain(
        capture,
        number,
        udp_ports=ports,
        reorder_window_ns=options.reorder_window_ns,
        start=None if index is None else (*index.place_before(number), index.descriptions()),
    )
    layers = _by_tshark(capture, number, ports, decoder)
    rows = _chunk_rows(capture, number, options, index) if _is_sctp(own["layers"]) else []
    return Frame(
        number=number,
        decoder="own" if layers is None else "tshark",
        layers=own["layers"] if layers is None else layers,
        data=own["data"],
        reassembled=own["reassembled"],
        packet={name: rows[0][name] for name in KNOWN} if rows else None,
        chunks=[
            {name: row[name] for name in ("index", "chunk_name", "tsn", "transmission")}
            for row in rows
        ],
    )


def _by_tshark(
    capture: Path, number: int, ports: list[int], decoder: Decoder
) -> list[dict[str, Any]] | None:
    """Return tshark's layers; None when our own are to be shown."""
    is_stream = str(capture) == ledgers.STANDARD_INPUT
    if decoder == "own" or (decoder == "auto" and (is_stream or tshark.missing() is not None)):
        return None
    try:
        found = tshark.layers(capture, number, ports)
    except tshark.TsharkError:
        if decoder == "tshark":
            raise
        return None  # a compression that only we read, or a format
    if found is None and decoder == "tshark":
        raise tshark.TsharkError(f"{capture}: tshark finds no frame {number} in it")
    return found


def _is_sctp(layers: list[dict[str, Any]]) -> bool:
    return any(layer["name"] == "SCTP" for layer in layers)


def _chunk_rows(capture: Path, number: int, options: ReadOptions, index: Index | None) -> list[Row]:
    """Return the chunk rows of a frame."""
    if index is not None:
        return index.chunks_of(number)
    if str(capture) == ledgers.STANDARD_INPUT:
        return []  # it has been read already
    from pyarrow import compute as pc

    try:
        for batch in ledgers.stream(capture, ledgers.CHUNKS, options):
            found: list[Row] = batch.filter(pc.equal(batch["frame"], number)).to_pylist()
            if found:
                return found
    except _core.CaptureError:
        pass  # damage after the frame, which has been decoded
    return []
