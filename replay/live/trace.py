"""A trace that has been read, and what of it is sent again: one association, or one flow."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ...analyzer.associations import analyze_ledger
from ...analyzer.labels import LabelRule
from ...dissectors import ledger as ledgers
from ...dissectors._core import CaptureError
from ...dissectors.ledger import ReadOptions
from ...dissectors.rows import rows
from ...dissectors.selection import Selection
from ..lab import folder
from .errors import LiveError
from .messages import ENDS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

    from ...analyzer.flow_model import Flow
    from ...analyzer.model import Association, CaptureResult
    from ...dissectors.ledger import Ledger, Source
    from .messages import End

SeenAt = Literal["client", "server", "both"]


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace that has been read.

    Attributes
    ----------
    name
        What it is called.
    source
        The client's capture of a run, else the capture.
    ends
        In which capture each end is seen best: its own where a run has one.
    ledger, result
        Of `source`.
    options
        How all of it is read.
    """

    name: str
    source: Source
    ends: dict[End, Source]
    ledger: Ledger
    result: CaptureResult
    options: ReadOptions

    @property
    def first_ns(self) -> int:
        """Time of the first frame, on the capture's clock."""
        found: int | None = self.ledger.capture["start_ns"]
        return found or 0

    def seen_at(self, vantage: str) -> SeenAt:
        """Return the end at which a new run has to be looked at to be like the trace."""
        if self.ends["a"] != self.ends["b"]:
            return "both"
        return "server" if vantage == "b" else "client"

    def stream(
        self, end: End, table: str, damage: list[str], association: int | None = None
    ) -> Iterator[pa.RecordBatch]:
        """Yield a streamed table of the capture that sees an end best.

        What a damaged capture has before its damage counts, and the damage is noted.
        """
        try:
            yield from rows(self.ends[end], table, self.options, Selection(None, association))
        except CaptureError as error:
            damage.append(f"the trace ends early: {error}")


def read(source: Source, labels: Sequence[str] = (), options: ReadOptions | None = None) -> Trace:
    """Read a capture, or the folder of a run of the lab.

    Raises
    ------
    LiveError
        For standard input.
    CaptureError
        When a file cannot be opened or is no capture.
    FolderError
        When a folder is no complete run.
    ValueError
        When a label cannot be read.
    """
    if ledgers.STANDARD_INPUT in map(str, ledgers.paths_of(source)):
        raise LiveError("-: a trace is read several times, standard input can be only once")
    place = Path(source) if isinstance(source, (str, Path)) else None
    name = "trace" if place is None else place.name.partition(".")[0]
    ends: dict[End, Source] = {"a": source, "b": source}
    if place is not None and place.is_dir():
        captures = folder.chosen(place, "both")
        labels = (*labels, *folder.labels(place))
        ends = {"a": captures[0], "b": captures[-1]}
    options = replace(options or ReadOptions(), flows=True)
    ledger = ledgers.read(ends["a"], options)
    result = analyze_ledger(ledger, [], tuple(map(LabelRule.parse, labels)))
    return Trace(name or "trace", ends["a"], ends, ledger, result, options)


def choose(
    trace: Trace, *, association: int | None = None, flow: int | None = None
) -> Association | Flow:
    """Return what is sent again.

    Parameters
    ----------
    trace
        As `read` returned it.
    association, flow
        Which one, by its number in the analysis; None for the association with most new data, or
        in a trace without any, the flow.

    Raises
    ------
    LiveError
        When there is no such thing, or it is a part of something else.
    """
    found = trace.result
    if association is not None and flow is not None:
        raise LiveError("either an association or a flow is sent again, not both")
    if flow is None and (found.associations or association is not None):
        return _chosen(found.associations, association)
    return _chosen_flow(found.flows, flow)


def _chosen(found: Sequence[Association], number: int | None) -> Association:
    if number is None:
        return max(found, key=_new_bytes)
    for one in found:
        if one.number == number:
            return one
    raise LiveError(f"association {number}: the trace has {_numbers(found)}")


def _chosen_flow(found: Sequence[Flow], number: int | None) -> Flow:
    if number is not None:
        one = next((flow for flow in found if flow.number == number), None)
        if one is None:
            raise LiveError(f"flow {number}: the trace has {_numbers(found)}")
        if one.connection is not None:
            raise LiveError(
                f"flow {number} is a subflow of MPTCP, which live mode does not support"
            )
        return one
    single = [flow for flow in found if flow.connection is None]
    if not single:
        what = "only MPTCP, which live mode does not support" if found else "nothing to send again"
        raise LiveError(f"the trace has {what}")
    return max(single, key=_payload_bytes)


def _numbers(found: Sequence[Association] | Sequence[Flow]) -> str:
    numbers = [str(one.number) for one in found[:10]]
    return ", ".join(numbers) + (" ..." if len(found) > len(numbers) else "") if numbers else "none"


def _new_bytes(association: Association) -> float:
    return sum(association.totals[end]["new_bytes"].value or 0 for end in ENDS)


def _payload_bytes(flow: Flow) -> float:
    return sum(one.metrics["payload_bytes"].value or 0 for one in flow.directions.values())
