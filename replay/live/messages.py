"""What each end of a trace sent: messages of SCTP, segments' payload of TCP, datagrams of UDP.

Times count from when the connection was up. Where a capture of one end only is there, the other
end's data was seen later than it was sent, and so was the end of its handshake: the difference
stays the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..lab.messages import Message
from .errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import numpy as np
    import pyarrow as pa


End = Literal["a", "b"]
ENDS: tuple[End, End] = ("a", "b")
HOSTS: dict[End, str] = {"a": "client", "b": "server"}
"""The end that set the connection up is the lab's client."""

MOST_MESSAGES = 2_000_000
"""Of an end: more would keep the lab's processes busy with reading them, not with the network."""

MOST_BYTES = {"sctp": 65_536, "tcp": 1 << 20, "udp": 65_507}
"""Of a message: what an SCTP socket takes at once, twice the largest segment that Linux hands to an
interface, and what a datagram of IPv4 can hold."""

MOST_STREAMS = 65_535

SENT = ("new", "out-of-order")
"""Segments that were sent for the first time, as `sent_as` says."""


@dataclass(frozen=True, slots=True)
class Sent:
    """What one end sent, in time order, and what of it cannot be known.

    Attributes
    ----------
    table
        Columns `at_ns`, `stream`, `ordered`, `ppid`, `bytes`; `at_ns` is since the connection was
        up, and not below 0.
    warnings
        What is not as it was.
    interleaved
        Whether any of it came in I-DATA (RFC 8260).
    """

    table: pa.Table
    warnings: tuple[str, ...] = ()
    interleaved: bool = False

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def messages(self) -> Iterator[Message]:
        """Yield them one by one, in order."""
        for batch in self.table.to_batches(max_chunksize=1 << 16):
            yield from map(
                Message._make, zip(*(batch[n].to_pylist() for n in COLUMNS), strict=True)
            )

    @property
    def user_bytes(self) -> int:
        """Bytes of all messages."""
        return _sum(self.table["bytes"])

    @property
    def last_ns(self) -> int:
        """When the last one was sent; 0 where there is none."""
        return int(self.table["at_ns"][-1].as_py()) if len(self) else 0

    @property
    def streams(self) -> int:
        """How many streams it takes: one more than the highest number."""
        return _most(self.table, "stream") + 1 if len(self) else 1


COLUMNS = ("at_ns", "stream", "ordered", "ppid", "bytes")


def of_association(batches: Iterable[pa.RecordBatch], end: End, zero_ns: int) -> Sent:
    """Return the user messages of one end of an association.

    Parameters
    ----------
    batches
        Of the table `messages`, of one association.
    end
        Whose.
    zero_ns
        When the association was up, on the capture's clock.

    Raises
    ------
    LiveError
        When there are too many, or one is too large.
    """
    import pyarrow as pa

    rows = _rows(batches, lambda part: _equal(part["sender"], end), "first_ns")
    outcomes = rows["outcome"]
    broken = {name: _count(outcomes, name) for name in ("abandoned", "partial", "open")}
    ppid = rows["ppid"].fill_null(0)
    found = _checked("sctp", rows["first_ns"], rows["user_bytes"], zero_ns, end)
    table = found | {
        "stream": rows["stream"],
        "ordered": rows["ordered"].cast(pa.int64()),
        "ppid": ppid,
    }
    told = tuple(_of_messages(HOSTS[end], broken, len(rows)))
    return Sent(_table(table), told, interleaved=_count(rows["interleaved"], True) > 0)


def _of_messages(host: str, broken: Mapping[str, int], messages: int) -> Iterator[str]:
    if messages:
        yield (
            f"{host}: a message's time is that of its first transmission; how long it had waited in"
            " the sender's buffer before, no capture shows"
        )
    for name, text in (
        ("abandoned", "given up by their sender: sent reliably"),
        ("partial", "of which fragments are not in the capture"),
        ("open", "that the capture ends in the middle of"),
    ):
        if broken[name]:
            yield f"{host}: {broken[name]} messages {text}, with the bytes seen"


def of_flow(
    protocol: Literal["tcp", "udp"],
    batches: Iterable[pa.RecordBatch],
    flow: int,
    end: End,
    zero_ns: int,
) -> Sent:
    """Return what one end of a TCP or UDP flow sent: of TCP, the payload of each new segment.

    Parameters
    ----------
    batches
        Of the table `segments` or `datagrams`.
    flow
        Its number.

    Raises
    ------
    LiveError
        As `of_association`.
    """
    import pyarrow.compute as pc

    def wanted(part: pa.RecordBatch) -> pa.Array:
        own = pc.and_(_equal(part["flow"], flow), _equal(part["sender"], end))
        own = pc.and_(own, pc.invert(part["duplicate_frame"]))
        if protocol == "udp":
            return own
        is_new = pc.fill_null(pc.is_in(part["sent_as"], value_set=_strings(SENT)), False)
        return pc.and_(pc.and_(own, is_new), pc.greater(part["payload_bytes"], 0))

    rows = _rows(batches, wanted, "time_ns")
    table = _checked(protocol, rows["time_ns"], rows["payload_bytes"], zero_ns, end)
    host = HOSTS[end]
    told = f"{host}: writes are not visible in a byte stream: each new segment's payload is one"
    return Sent(_table(table), (told,) if protocol == "tcp" and len(rows) else ())


def _rows(
    batches: Iterable[pa.RecordBatch], wanted: Callable[[pa.RecordBatch], pa.Array], time: str
) -> pa.Table:
    """Collect the rows wanted, in time order; too many are refused before they fill memory."""
    import pyarrow as pa

    kept: list[pa.RecordBatch] = []
    schema, count = None, 0
    for batch in batches:
        part = batch.filter(wanted(batch))
        schema, count = batch.schema, count + part.num_rows
        if count > MOST_MESSAGES:
            raise LiveError(f"more than {MOST_MESSAGES} messages of one end; cut the trace")
        kept.append(part)
    rows = pa.Table.from_batches(kept, schema)
    # A stable order: messages of one packet stay as they became complete.
    return rows.take(_order(rows[time]))


def _order(times: pa.ChunkedArray) -> np.ndarray:
    import numpy as np

    return np.argsort(times.to_numpy(), kind="stable")


def _checked(
    protocol: str, times: pa.ChunkedArray, sizes: pa.ChunkedArray, zero_ns: int, end: End
) -> dict[str, np.ndarray]:
    import numpy as np

    size_bytes = sizes.to_numpy().astype(np.int64)
    most = MOST_BYTES[protocol]
    if too_large := int((size_bytes > most).sum()):
        raise LiveError(
            f"{HOSTS[end]}: {too_large} messages above {most} bytes, the largest of"
            f" {int(size_bytes.max())}: a socket does not take them at once"
        )
    # DATA may come with COOKIE ECHO, before the association is up: it leaves at once.
    return {"at_ns": np.maximum(times.to_numpy() - zero_ns, 0), "bytes": size_bytes}


def _table(columns: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    count = len(columns["at_ns"])
    given = {name: columns.get(name, [0] * count) for name in COLUMNS}
    return pa.table(given, schema=pa.schema([(name, pa.int64()) for name in COLUMNS]))


def _equal(column: pa.Array, value: object) -> pa.Array:
    import pyarrow.compute as pc

    return pc.fill_null(pc.equal(column, value), False)


def _count(column: pa.ChunkedArray, value: object) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(_equal(column, value)).as_py() or 0)  # of none there is no sum


def _sum(column: pa.ChunkedArray) -> int:
    import pyarrow.compute as pc

    return int(pc.sum(column).as_py() or 0)


def _most(table: pa.Table, name: str) -> int:
    import pyarrow.compute as pc

    return int(pc.max(table[name]).as_py())


def _strings(words: Sequence[str]) -> pa.Array:
    import pyarrow as pa

    return pa.array(words, pa.string())
