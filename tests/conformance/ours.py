"""What pathscope says about every frame of a capture, out of its streamed tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, TypeAlias

import pathscope
from conformance.packet import HEADERS, Frame, Packet, Row
from conformance.sctp_fields import CHUNK_FIELDS

TABLES = {"sctp": "chunks", "tcp": "segments", "udp": "datagrams"}
Rows: TypeAlias = list[dict[str, Any]]


def frames(capture: Path) -> Iterator[Frame]:
    """Yield every frame of a capture in time order.

    Raises CaptureError after the last one when the capture is damaged.
    """
    # Damage is told by the table of frames.
    tables = {protocol: Table(capture, table) for protocol, table in TABLES.items()}
    for row in rows_of(capture, "frames"):
        account = row["outcome"] if row["reason"] is None else f"{row['outcome']}: {row['reason']}"
        frame = Frame(row["frame"], account=account)
        found = tables[row["protocol"]].rows(frame.number) if row["protocol"] in tables else []
        if found:
            frame.packet = packet(row["protocol"], found)
        yield frame


class Table:
    """A streamed table, whose rows come in the order of the frames they belong to."""

    def __init__(self, capture: Path, name: str) -> None:
        self._groups = groupby(up_to_damage(capture, name), key=itemgetter("frame"))
        self._next = self._advance()

    def _advance(self) -> tuple[int, Rows]:
        number, group = next(self._groups, (0, iter(())))
        return number, list(group)

    def rows(self, frame: int) -> Rows:
        """Return the rows of a frame, if the table has any."""
        number, rows = self._next
        if number != frame:
            return []
        self._next = self._advance()
        return rows


def up_to_damage(capture: Path, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a streamed table that stand before damage in the file."""
    with suppress(pathscope.CaptureError):
        yield from rows_of(capture, table)


def rows_of(capture: Path, table: str) -> Iterator[dict[str, Any]]:
    """Yield the rows of a streamed table."""
    for batch in pathscope.dissect(capture, table):
        yield from batch.to_pylist()


def packet(protocol: str, rows: Rows) -> Packet:
    """Make a packet of its rows: of SCTP one for every chunk."""
    header: Row = {name: rows[0][name] for name in HEADERS[protocol]}
    if protocol != "sctp":
        # tshark has no word for the sum of the pseudo-header alone, which is not the right sum.
        header["checksum"] = "bad" if header["checksum"] == "partial" else header["checksum"]
        return Packet(protocol, header)
    names = (*CHUNK_FIELDS, "truncated")
    return Packet(protocol, header, [{name: row[name] for name in names} for row in rows])
