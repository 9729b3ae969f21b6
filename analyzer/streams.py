"""User messages by stream (RFC 9260 section 1.3, RFC 8260): the ledger's rows, one a stream.

The ledger has a row for every payload protocol in a stream; nearly every stream has one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .blocking import describe_waiting
from .context import ENDS, other
from .measure import Instant, Measure
from .model import Stream, StreamProtocol

if TYPE_CHECKING:
    from ..dissectors.ledger import Row
    from .context import Context
    from .model import End
    from .receiver_model import Waiting


def describe_streams(context: Context, vantage: str) -> tuple[Stream, ...]:
    """Describe every stream that carried DATA: those of a first, then by stream identifier.

    `vantage` is where the capture was taken. Streams beyond the ledger's limit are one entry
    without an identifier, the last of its sender.
    """
    found = []
    for end in ENDS:
        groups: dict[int | None, list[Row]] = {}
        for row in context.streams:
            if row["sender"] == end:
                groups.setdefault(row["stream"], []).append(row)
        numbers = sorted(groups, key=lambda number: (number is None, number))
        sacked = bool(context.sent(context.acknowledgements, other(end)))
        found += [
            _stream(
                end,
                number,
                groups[number],
                describe_waiting(context, end, number, vantage, sacked=sacked),
            )
            for number in numbers
        ]
    return tuple(found)


def _stream(end: End, number: int | None, rows: list[Row], waiting: Waiting) -> Stream:
    sizes = [row["largest_message_bytes"] for row in rows if row["complete"]]
    first = min(rows, key=lambda row: row["first_ns"])
    last = max(rows, key=lambda row: row["last_ns"])
    return Stream(
        sender=end,
        number=number,
        protocols=tuple(
            StreamProtocol(row["ppid"], row["ppid_name"], row["messages"], row["user_bytes"])
            for row in rows
        ),
        messages=_sum(rows, "messages"),
        ordered=_sum(rows, "ordered"),
        fragmented=_sum(rows, "fragmented"),
        complete=_sum(rows, "complete"),
        abandoned=_sum(rows, "abandoned"),
        partial=_sum(rows, "partial"),
        open=_sum(rows, "open"),
        chunks=_sum(rows, "chunks"),
        user_bytes=_sum(rows, "user_bytes"),
        largest_message_bytes=Measure.observed(max(sizes))
        if sizes
        else Measure.absent("no complete message"),
        first=Instant.seen(first["first_ns"], first["first_frame"]),
        last=Instant.seen(last["last_ns"], last["last_frame"]),
        waiting=waiting,
    )


def _sum(rows: list[Row], column: str) -> int:
    return sum(row[column] for row in rows)
