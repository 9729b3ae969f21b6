"""The offset index: a folder beside a capture, for reading a part of it without reading the rest.

It holds the ledger's tables as they are, and for every SCTP packet what only a pass over the whole
capture knows of it (`_core.index_schemas`); the packets themselves are read from the capture
again. docs/offset-index.md says what is in it and why.
"""

from __future__ import annotations

import hashlib
import json
import os
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import _core
from . import ledger as ledgers
from .selection import select

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from pyarrow import parquet

    from .ledger import ReadOptions, Row
    from .selection import Range

FORMAT = 1
"""Of the folder. Another number is another layout, and such an index is not used."""

HEAD = "index.json"
SUFFIX = ".index"
PACKETS, BLOCKS = "index_packets", "index_blocks"
ASSOCIATION_BLOCKS, DESCRIPTIONS = "index_association_blocks", "index_descriptions"

HASHED_BYTES = 65_536
"""Of each end of the capture: with size and time enough to tell another capture apart."""

REGISTERED_PORTS = (9899,)
"""What `ReadOptions.udp_ports` stands for when it is None (RFC 6951 section 6)."""

PIECE = "piece"


_UNREADABLE = (
    *(ValueError, TypeError, LookupError, OverflowError, NotImplementedError, MemoryError),
    OSError,
)
"""What Arrow raises where a file holds something else than it should."""


class UnfitIndexError(Exception):
    """There is an index, and it is not one of this capture as it is to be read now."""


@dataclass(frozen=True, slots=True)
class Index:
    """An index that fits its capture.

    Attributes
    ----------
    capture
        The capture.
    folder
        The index: beside it, or elsewhere.
    facts
        `Ledger.capture` of the pass that made the index.
    options
        How the capture was read.
    """

    capture: Path
    folder: Path
    facts: dict[str, Any]
    options: ReadOptions

    @classmethod
    def find(cls, capture: Path, options: ReadOptions, folder: Path | None = None) -> Index | None:
        """Return the index of a capture, in a folder or beside it; None when there is none.

        Raises
        ------
        UnfitIndexError
            When there is one that cannot be used; the message says why.
        """
        folder = folder or folder_of(capture)
        if not (folder / HEAD).is_file():
            return None
        try:
            head = json.loads((folder / HEAD).read_bytes())
            reason = _misfit(head, capture, options, folder)
            made = head["options"] | {"udp_ports": tuple(head["options"]["udp_ports"])}
            read = ledgers.ReadOptions(**made)
        except (OSError, ValueError, LookupError, TypeError, RecursionError) as error:
            raise UnfitIndexError(f"{folder} is not used: it cannot be read: {error}") from error
        if reason is not None:
            raise UnfitIndexError(f"{folder} is not used: {reason}; --index makes it anew")
        return cls(capture, folder, head["facts"], read)

    def kept(self, table: str) -> pa.Table:
        """Return a table of the ledger, whole.

        Raises
        ------
        ValueError
            When it is damaged.
        """
        with self._damage_told(), self._opened(table) as file:
            return file.read().cast(ledgers.schemas()[table])

    def chunks(self, within: Range | None, association: int | None) -> Iterator[Part]:
        """Read the chunk rows in a window of time and of an association, block by block.

        Raises
        ------
        CaptureError
            When the capture cannot be read.
        ValueError
            When a packet is not where the index says, or the index is damaged.
        """
        from pyarrow import compute as pc

        blocks = self._blocks(within, association)
        descriptions = self.descriptions()
        with self._damage_told(), self._opened(PACKETS) as packets:
            for block in blocks:
                rows = _only_batch(packets.read_row_group(block["block"]))
                is_packet = pc.not_equal(rows["standing"], PIECE)
                wanted = select(
                    rows.filter(is_packet),
                    PACKETS,
                    within=within,
                    association=association,
                    bin_ns=self.options.bin_ns,
                )
                if wanted.num_rows:
                    yield self._read(block, _with_pieces(rows, wanted), descriptions)

    def chunks_of(self, frame: int) -> list[Row]:
        """Read the chunk rows of one frame; none when it is no SCTP packet.

        Raises
        ------
        CaptureError, ValueError
            As `chunks`.
        """
        from pyarrow import compute as pc
        from pyarrow import parquet

        with self._damage_told(), self._opened(PACKETS) as packets:
            path = self.folder / f"{PACKETS}.parquet"
            found = parquet.read_table(path, filters=[("frame", "=", frame)])
            found = found.filter(pc.not_equal(found["standing"], PIECE))
            if not found.num_rows:
                return []
            block = found["block"][0].as_py()
            (row,) = (row for row in self._table(BLOCKS).to_pylist() if row["block"] == block)
            rows = _only_batch(packets.read_row_group(block))
            wanted = rows.filter(pc.equal(rows["frame"], frame))
            part = self._read(row, _with_pieces(rows, wanted), self.descriptions())
            found_rows: list[Row] = part.rows.to_pylist()
            return found_rows

    def place_before(self, frame: int) -> tuple[int, int]:
        """Return offset and number of a frame, not after this one, that reading can start at.

        The start of the file, which is frame 1 at offset 0, when no block begins before.
        """
        starts = ((row["frame"], row["offset"]) for row in self._table(BLOCKS).to_pylist())
        number, offset = max((one for one in starts if one[0] <= frame), default=(1, 0))
        return offset, number

    def _read(
        self, block: dict[str, Any], packets: pa.RecordBatch, descriptions: list[Description]
    ) -> Part:
        import pyarrow as pa

        rows, read_bytes = _core.read_indexed(
            self.capture,
            offset=block["offset"],
            frame=block["frame"],
            descriptions=descriptions,
            packets=packets,
            udp_ports=list(self.options.udp_ports or REGISTERED_PORTS),
        )
        return Part(pa.record_batch(rows), read_bytes)

    def _blocks(self, within: Range | None, association: int | None) -> list[dict[str, Any]]:
        blocks: list[dict[str, Any]] = self._table(BLOCKS).to_pylist()
        if within is not None:
            blocks = [
                block
                for block in blocks
                if block["least_ns"] < within.end_ns and block["greatest_ns"] >= within.start_ns
            ]
        if association is not None:
            table = self._table(ASSOCIATION_BLOCKS).to_pylist()
            its = {row["block"] for row in table if row["association"] == association}
            blocks = [block for block in blocks if block["block"] in its]
        return blocks

    def descriptions(self) -> list[Description]:
        """Return section, offset and length of what says how records are read."""
        rows = self._table(DESCRIPTIONS).to_pylist()
        return [(row["section"], row["offset"], row["length"]) for row in rows]

    def _table(self, name: str) -> pa.Table:
        with self._damage_told(), self._opened(name) as file:
            return file.read().cast(schemas()[name])

    def _opened(self, name: str) -> parquet.ParquetFile:
        """Open a table, which whoever gave the capture may have made: it takes memory like that."""
        from pyarrow import parquet

        file = parquet.ParquetFile(self.folder / f"{name}.parquet")
        if file.metadata.num_rows > self.capture.stat().st_size:
            file.close()
            raise ValueError(f"{name} has more rows than the capture has bytes")
        return file

    @contextmanager
    def _damage_told(self) -> Iterator[None]:
        try:
            yield
        except _UNREADABLE as error:
            raise ValueError(
                f"{self.folder} is damaged, or of another: {error}; without it the capture is read"
            ) from error


Description = tuple[int, int, int]
"""Section, offset and length of a part of the capture that says how records are read."""


@dataclass(frozen=True, slots=True)
class Part:
    """Rows read from one block, and how many bytes of the capture were read for them."""

    rows: pa.RecordBatch
    read_bytes: int


def schemas() -> dict[str, pa.Schema]:
    """Return the schema of every table that an index has beside those of the ledger."""
    import pyarrow as pa

    return {name: pa.schema(schema) for name, schema in _core.index_schemas().items()}


def folder_of(capture: Path) -> Path:
    """Return where the index of a capture is, if it has one."""
    return Path(f"{capture}{SUFFIX}")


def _misfit(head: Any, capture: Path, options: ReadOptions, folder: Path) -> str | None:
    """Why an index cannot be used; None when it can."""
    if head["format"] != FORMAT:
        return f"its format is {head['format']}, not {FORMAT}"
    if head["definitions"] != definitions():
        return "it was made by another version of pathscope"
    if head["capture"] != identity(capture):
        return "the capture has changed since it was made"
    first_ns, damage = head["facts"]["first_frame_ns"], head["facts"]["damage"]
    if not isinstance(first_ns, int | None) or not isinstance(damage, str | None):
        return "its facts are none of a capture"
    made, asked = head["options"], normal(options)
    if not options.flows:
        # The tables of SCTP are the same with and without them.
        asked |= {name: made[name] for name in ("flows", "flow_capacity")}
    different = [name for name, value in asked.items() if made[name] != value]
    if different:
        return f"it was made with other options ({', '.join(different)})"
    names = {*_core.schemas(), *_core.index_schemas()}
    missing = sorted(name for name in names if not (folder / f"{name}.parquet").is_file())
    return f"it lacks the table {missing[0]}" if missing else None


def normal(options: ReadOptions) -> dict[str, Any]:
    """Options as the index notes them: the same readings give the same dict."""
    ports = sorted(set(options.udp_ports or REGISTERED_PORTS))
    hosts = [list(host) for host in options.hosts]
    return asdict(options) | {"udp_ports": ports, "hosts": hosts}


def definitions() -> str:
    """Return a digest of the version and of what the tables' columns are and mean."""
    found = _core.schemas() | _core.index_schemas()
    words = [_core.__version__, *(row for name in found for row in _columns(name, found[name]))]
    return hashlib.sha256("\n".join(words).encode()).hexdigest()


def _columns(table: str, schema: Any) -> Iterator[str]:
    import pyarrow as pa

    for column in pa.schema(schema):
        meaning = column.metadata[b"description"].decode()
        yield f"{table}.{column.name} {column.type} {column.nullable} {meaning}"


def identity(capture: Path) -> dict[str, Any]:
    """By what a capture is told from another, and from itself before a change."""
    with capture.open("rb") as file:
        status = os.fstat(file.fileno())
        first = file.read(HASHED_BYTES)
        file.seek(max(0, status.st_size - HASHED_BYTES))
        last = file.read(HASHED_BYTES)
    return {
        "bytes": status.st_size,
        "modified_ns": status.st_mtime_ns,
        "first_sha256": hashlib.sha256(first).hexdigest(),
        "last_sha256": hashlib.sha256(last).hexdigest(),
    }


def _only_batch(table: pa.Table) -> pa.RecordBatch:
    """Return a block's rows in one piece, of the types that the extension expects."""
    (batch,) = table.cast(schemas()[PACKETS]).combine_chunks().to_batches()
    return batch


def _with_pieces(rows: pa.RecordBatch, wanted: pa.RecordBatch) -> pa.RecordBatch:
    """Return, of a block's rows, those wanted and the pieces that they were put together from."""
    from pyarrow import compute as pc

    is_wanted = pc.and_(
        pc.is_in(rows["frame"], value_set=wanted["frame"]), pc.not_equal(rows["standing"], PIECE)
    )
    is_piece = pc.is_in(rows["part_of"], value_set=wanted["frame"])
    return rows.filter(pc.or_(is_wanted, is_piece))
