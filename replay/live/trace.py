"""What of a trace is sent again: one association, or one flow, with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...analyzer.associations import analyze_ledger
from ...analyzer.labels import LabelRule
from ...dissectors import ledger as ledgers
from ...dissectors._core import CaptureError
from ...dissectors.ledger import ReadOptions
from ...dissectors.rows import rows
from ...dissectors.selection import Selection
from ..lab import folder
from . import messages, settings, timeline
from .errors import LiveError
from .messages import ENDS, HOSTS
from .paths import TracePath, choose_paths
from .scenario import LONGEST_S, Talk, primary_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa

    from ...analyzer.flow_model import Flow
    from ...analyzer.model import Association, CaptureResult
    from ...dissectors.ledger import Ledger, Row, Source
    from .messages import End, Sent
    from .overrides import Override

TABLES = {"tcp": "segments", "udp": "datagrams"}


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


def read(source: Source, labels: Sequence[str] = (), options: ReadOptions | None = None) -> Trace:
    """Read a capture, or the folder of a run of the lab.

    Raises
    ------
    CaptureError
        When a file cannot be opened or is no capture.
    FolderError
        When a folder is no complete run.
    ValueError
        When a label cannot be read.
    """
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


def talk(
    trace: Trace,
    overrides: tuple[Override, ...] = (),
    *,
    association: int | None = None,
    flow: int | None = None,
) -> Talk:
    """Return what is sent again.

    Parameters
    ----------
    trace
        As `read` returned it.
    overrides
        Settings of SCTP that the user asks for.
    association, flow
        Which one, by its number in the analysis; None for the association with most new data, or
        in a trace without any, the flow.

    Raises
    ------
    LiveError
        When there is no such thing, or it cannot be sent again.
    """
    found = trace.result
    if association is not None and flow is not None:
        raise LiveError("either an association or a flow is sent again, not both")
    if flow is None and (found.associations or association is not None):
        return _of_association(trace, _chosen(found.associations, association), overrides)
    if overrides:
        raise LiveError("--sctp: what is sent again is not SCTP")
    return _of_flow(trace, _chosen_flow(found.flows, flow))


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


# -- SCTP


def _of_association(
    trace: Trace, association: Association, overrides: tuple[Override, ...]
) -> Talk:
    own: dict[str, list[Row]] = {
        table: trace.ledger.by_association(table).get(association.number, [])
        for table in ("associations", "heartbeats", "runs")
    }
    facts = own["associations"][0]
    up_ns = association.established.ns or association.start.ns or 0
    over_ns = association.end.ns or up_ns
    sent: dict[str, Sent] = {}
    interleaved = False
    damage: list[str] = []
    for end in ENDS:
        number, zero_ns = _elsewhere(trace, end, association, facts)
        selected = Selection(None, number)
        batches = _Watched(rows(trace.ends[end], "messages", trace.options, selected), damage)
        sent[HOSTS[end]] = messages.of_association(batches, end, zero_ns)
        interleaved = interleaved or batches.interleaved
    paths = choose_paths(_paths(association, own["runs"]))
    starts = timeline.at_start(association, paths)
    first = own["runs"][0]["path"] if own["runs"] else None
    many = len(trace.result.associations)
    which = f"association {association.number} of {trace.name}"
    warnings = [*damage]
    if many > 1:
        warnings.append(
            f"{many} associations in the trace: number {association.number} is sent again"
        )
    if not association.seen_handshake:
        warnings.append("the trace has no handshake: times count from the first packet")
    return _checked(
        Talk(
            name=f"live-{trace.name}",
            what=which,
            protocol="sctp",
            number=association.number,
            seen_at=_seen_at(trace, association.captured_at),
            paths=paths,
            primary=primary_of(paths, first, starts),
            zero_ns=up_ns - _first_ns(trace),
            end_ns=over_ns - up_ns,
            sent=sent,
            settings=settings.choose(
                association, facts, own["heartbeats"], overrides, interleaved=interleaved
            ),
            acts=timeline.of_association(association, paths, up_ns, over_ns - up_ns),
            at_start=starts,
            warnings=tuple(warnings),
        )
    )


def _elsewhere(trace: Trace, end: End, association: Association, facts: Row) -> tuple[int, int]:
    """Return the number of the association in an end's own capture, and when it was up there."""
    if trace.ends[end] == trace.source:
        up = association.established.ns or association.start.ns or 0
        return association.number, up
    ledger = ledgers.read(trace.ends[end], trace.options)
    for row in ledger.rows("associations"):
        if (row["a_tag"], row["b_tag"]) == (facts["a_tag"], facts["b_tag"]):
            return row["association"], row["established_ns"] or row["start_ns"]
    raise LiveError(
        f"{trace.ends[end]}: it has no association with the tags of the other capture's"
    )


class _Watched:
    """The batches of a streamed table; damage at its end is noted, as what came before counts."""

    def __init__(self, batches: Iterator[pa.RecordBatch], damage: list[str]) -> None:
        self._batches = batches
        self._damage = damage
        self.interleaved = False

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        try:
            for batch in self._batches:
                if "interleaved" in batch.schema.names:
                    self.interleaved = self.interleaved or True in batch["interleaved"].to_pylist()
                yield batch
        except CaptureError as error:
            self._damage.append(f"the trace ends early: {error}")


def _paths(association: Association, runs: Iterable[Row]) -> list[TracePath]:
    carried = dict.fromkeys((path.number for path in association.paths), 0)
    for run in runs:
        carried[run["path"]] += run["user_bytes"]
    return [
        TracePath(path.number, path.label, path.a_address, path.b_address, carried[path.number])
        for path in association.paths
    ]


# -- TCP and UDP


def _of_flow(trace: Trace, flow: Flow) -> Talk:
    up_ns = flow.established.ns or flow.start.ns or 0
    over_ns = flow.end.ns or up_ns
    damage: list[str] = []
    table = TABLES[flow.protocol]
    sent = {
        HOSTS[end]: messages.of_flow(
            flow.protocol,
            _Watched(rows(trace.source, table, trace.options, Selection()), damage),
            flow.number,
            end,
            up_ns,
        )
        for end in ENDS
    }
    a, b = flow.endpoints["a"].address, flow.endpoints["b"].address
    paths = choose_paths([TracePath(0, flow.label, a, b, 1)])
    count = len(trace.result.flows)
    warnings = [*dict.fromkeys(damage)]
    if count > 1:
        warnings.append(f"{count} flows in the trace: number {flow.number} is sent again")
    return _checked(
        Talk(
            name=f"live-{trace.name}",
            what=f"{flow.protocol.upper()} flow {flow.number} of {trace.name}",
            protocol=flow.protocol,
            number=flow.number,
            seen_at=_seen_at(trace, "unknown"),
            paths=paths,
            primary=paths.paths[0].name,
            zero_ns=up_ns - _first_ns(trace),
            end_ns=over_ns - up_ns,
            sent=sent,
            warnings=tuple(warnings),
        )
    )


def _seen_at(trace: Trace, vantage: str) -> str:
    """Return the end at which a new run has to be looked at to be like the trace."""
    if trace.ends["a"] != trace.ends["b"]:
        return "both"
    return "server" if vantage == "b" else "client"


def _first_ns(trace: Trace) -> int:
    found: Any = trace.ledger.capture["start_ns"]
    return int(found or 0)


def _checked(made: Talk) -> Talk:
    if not any(len(sent) for sent in made.sent.values()):
        raise LiveError(f"{made.what}: it carried no data")
    if made.duration_s > LONGEST_S:
        raise LiveError(
            f"{made.what}: it lasts {made.duration_s:.0f} s, the lab {LONGEST_S} at most"
        )
    most = max(sent.streams for sent in made.sent.values())
    if most > messages.MOST_STREAMS:
        raise LiveError(f"{made.what}: data in stream {most - 1}, which no association has")
    return made
