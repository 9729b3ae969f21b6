"""Parts of the console report: user messages by protocol, and how packets are protected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from ..analyzer.context import ENDS
from ..analyzer.protection import method_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..analyzer.model import Association, Authentication, Stream

MOST_PROTOCOLS = 12
"""Lines of the table; a user that counts in the PPID would fill the screen."""


def messages(association: Association) -> Table | None:
    """Return messages by sender and payload protocol; None where they say no more than DATA does.

    That is so where each sender uses one stream and one protocol, and a chunk is a message.
    """
    streams = association.streams
    kinds = [(stream.sender, stream.number, p.ppid) for stream in streams for p in stream.protocols]
    plain = len({sender for sender, _, _ in kinds}) == len(kinds)
    if plain and all(stream.messages == stream.complete == stream.chunks for stream in streams):
        return None
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("sender")
    table.add_column("protocol", no_wrap=True)
    table.add_column("streams", overflow="fold")
    for column in ("messages", "bytes"):
        table.add_column(column, justify="right", no_wrap=True)
    table.add_column("", overflow="fold")
    for end in ENDS:
        own = [stream for stream in streams if stream.sender == end]
        rows = _by_protocol(own)
        for name, numbers, count, size in rows[:MOST_PROTOCOLS]:
            table.add_row(end, name, numbers, str(count), str(size), "")
        left = rows[MOST_PROTOCOLS:]
        if left:
            counts = sum(count for _, _, count, _ in left)
            sizes = sum(size for _, _, _, size in left)
            table.add_row(end, f"{len(left)} more", "", str(counts), str(sizes), "")
        words = _in_words(own)
        if words:
            table.add_row(end, "all", "", *(_total(own, what) for what in _TOTALS), words)
    return table


_TOTALS = ("messages", "user_bytes")


def _total(streams: list[Stream], what: str) -> str:
    return str(sum(getattr(stream, what) for stream in streams))


def _by_protocol(streams: list[Stream]) -> list[tuple[str, str, int, int]]:
    """Name, streams, messages and bytes of each protocol, the one with most messages first."""
    found: dict[tuple[int | None, str], tuple[list[int | None], int, int]] = {}
    for stream in streams:
        for one in stream.protocols:
            numbers, count, size = found.get((one.ppid, one.name), ([], 0, 0))
            found[one.ppid, one.name] = (
                [*numbers, stream.number],
                count + one.messages,
                size + one.user_bytes,
            )
    rows = [
        (_protocol(ppid, name), ranges(numbers), count, size)
        for (ppid, name), (numbers, count, size) in found.items()
    ]
    return sorted(rows, key=lambda row: -row[2])


def _protocol(ppid: int | None, name: str) -> str:
    return name if ppid is None else f"{name} ({ppid})"


def ranges(numbers: list[int | None]) -> str:
    """Return stream numbers in short; those beyond the ledger's limit have none.

    >>> ranges([0, 1, 2, 5, None])
    '0-2, 5, others'
    """
    known = sorted(number for number in numbers if number is not None)
    pieces: list[list[int]] = []
    for number in known:
        if pieces and number == pieces[-1][-1] + 1:
            pieces[-1][1:] = [number]
        else:
            pieces.append([number])
    words = ["-".join(map(str, piece)) for piece in pieces]
    return ", ".join(words + ["others"] * (None in numbers))


def _in_words(streams: list[Stream]) -> str:
    """What is special about a sender's messages."""
    largest = max((stream.largest_message_bytes.value or 0 for stream in streams), default=0)
    counts = {
        "in fragments": sum(stream.fragmented for stream in streams),
        "unordered": sum(stream.messages - stream.ordered for stream in streams),
        "abandoned": sum(stream.abandoned for stream in streams),
        "partly in the capture": sum(stream.partial for stream in streams),
        "still open at its end": sum(stream.open for stream in streams),
    }
    words = [f"{count} {what}" for what, count in counts.items() if count]
    if counts["in fragments"] and largest:
        words.append(f"largest {largest} bytes")
    return ", ".join(words)


def protection(association: Association) -> Iterator[str]:
    """Lines on AUTH and on packets without a checksum, where there is something to say."""
    described = {end: association.authentication[end] for end in ENDS}
    for end, one in described.items():
        if one is not None:
            yield f"AUTH: {end} {_authentication(one)}"
    accepting = [
        f"{end} accepts it ({method_name(method)})"
        for end in ENDS
        if (method := association.zero_checksum[end].accepted_method) is not None
    ]
    if accepting:
        uncovered = {end: association.zero_checksum[end].uncovered_packets for end in ENDS}
        counts = ", ".join(
            f"{count} of {end} not allowed" for end, count in uncovered.items() if count
        )
        yield (
            f"zero checksum: {', '.join(accepting)};"
            f" {association.zero_checksums} packets without one" + (f", {counts}" if counts else "")
        )


def _authentication(one: Authentication) -> str:
    announced = (
        f"accepts {', '.join(one.hmacs)}" if one.hmacs else "announced no hash function"
    ) + (f", wants {', '.join(one.chunks)} authenticated" if one.chunks else "")
    if not one.auth_chunks:
        return f"{announced}; sent none"
    keys = ", ".join(map(str, one.used_keys))
    used = f"{', '.join(one.used_hmacs)}, key {keys}" if keys else ", ".join(one.used_hmacs)
    return f"{announced}; sent {one.auth_chunks} ({used})"
