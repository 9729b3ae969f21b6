"""The table of sightings of one capture as columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..columns import filled, is_letter, to_bools, to_numpy

if TYPE_CHECKING:
    import pyarrow as pa

    from ..columns import Column

FLOWS = 1 << 32
"""From here on a group is a flow; below, an association."""

NO_PATH = -1

NO_DATA = -1


@dataclass(frozen=True, slots=True)
class Sightings:
    """Columns of one capture's packets, in the order of its frames.

    Attributes
    ----------
    group
        int64: the association, or `FLOWS` + the flow.
    is_b
        Whether the sender is end b.
    path
        int32; `NO_PATH` for flows and for copies.
    time_ns, frame
        int64.
    wire_bytes
        uint32.
    copy
        Whether the packet repeats that of a recent frame.
    transmission
        int32: of the DATA chunk sent least often, `NO_DATA` where there is none.
    digest
        uint64.
    """

    group: Column
    is_b: Column
    path: Column
    time_ns: Column
    frame: Column
    wire_bytes: Column
    copy: Column
    transmission: Column
    digest: Column

    def __len__(self) -> int:
        return len(self.group)


def is_cut(table: pa.Table) -> bool:
    """Whether the capture cut any packet."""
    return bool(to_bools(table["truncated"]).any())


def columns(table: pa.Table, *, heads: bool) -> Sightings:
    """Take the columns out of a table; `heads`: by what a capture that cuts packets has, too."""
    association, flow = (filled(table[name], -1) for name in ("association", "flow"))
    return Sightings(
        group=np.where(association >= 0, association, flow + FLOWS),
        is_b=is_letter(table["sender"], "b"),
        path=filled(table["path"], NO_PATH).astype(np.int32),
        time_ns=to_numpy(table["time_ns"]),
        frame=to_numpy(table["frame"]).astype(np.int64),
        wire_bytes=to_numpy(table["wire_bytes"]),
        copy=to_bools(table["duplicate_frame"]),
        transmission=filled(table["transmission"], NO_DATA).astype(np.int32),
        digest=to_numpy(table["head_digest" if heads else "digest"]),
    )
