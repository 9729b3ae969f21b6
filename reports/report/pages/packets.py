"""Packets: the chunk table and its like, row by row, and one frame decoded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..blocks import Choices, FrameView, Link, Packets
from . import common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..blocks import Block
    from ..view import View

TABLES = {
    "chunks": "SCTP chunks",
    "messages": "user messages",
    "segments": "TCP segments",
    "datagrams": "UDP datagrams",
    "frames": "frames",
    "retransmissions": "retransmissions",
    "heartbeats": "HEARTBEATs",
    "control": "control chunks",
    "problems": "problems",
    "comments": "comments",
}
"""Tables of docs/ledger.md that are looked at row by row."""


def table_of(view: View) -> str:
    """Return the table that is asked for, or the first; no other than these is ever read."""
    asked = view.state.table
    return asked if asked in TABLES else next(iter(TABLES))


def blocks(view: View) -> Iterator[Block]:
    """Yield what the page is made of."""
    if view.case is None:
        yield common.nothing("No capture to show packets of")
        return
    if view.case.analysis is None:
        yield common.nothing(
            "No packets in a stored result",
            "Name the capture itself: pathscope report CAPTURE.",
        )
        return
    table = table_of(view)
    here = view.state
    options = tuple(Link(title, here.to("packets", table=name)) for name, title in TABLES.items())
    yield Choices("Table", options, here.to("packets", table=table))
    yield from common.damage(view.case.document)
    yield Packets(table)
    yield FrameView()
