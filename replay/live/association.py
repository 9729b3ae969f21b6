"""An association of a trace, as it is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...dissectors import ledger as ledgers
from . import messages, settings, timeline
from .errors import LiveError
from .messages import ENDS, HOSTS
from .paths import TracePath, choose_paths
from .talk import Talk, checked

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ...analyzer.model import Association
    from ...dissectors.ledger import Row
    from .messages import End, Sent
    from .overrides import Override
    from .paths import Paths
    from .settings import Chosen
    from .timeline import Action
    from .trace import Trace


USUAL_BUFFER_BYTES = 212_992
"""Linux' default of net.core.rmem_max and wmem_max: more is cut to it without a word."""


def talk_of(trace: Trace, association: Association, overrides: tuple[Override, ...]) -> Talk:
    """Return what is known of an association, and as which settings it is made again.

    Raises
    ------
    LiveError
        When it cannot be made again.
    """
    facts, heartbeats, runs = (
        trace.ledger.by_association(table).get(association.number, [])
        for table in ("associations", "heartbeats", "runs")
    )
    up_ns = _up_ns(association)
    over_ns = (association.end.ns or up_ns) - up_ns
    damage: list[str] = []
    sent = {HOSTS[end]: _sent(trace, end, association, facts[0], damage) for end in ENDS}
    paths = choose_paths(_paths(association, runs))
    starts = timeline.at_start(association, paths)
    first = _first_paths(runs, paths, starts)
    primary = first.get("a") or first.get("b") or _ready(paths, starts)[0]
    chosen = settings.choose(
        association,
        facts[0],
        heartbeats,
        overrides,
        interleaved=any(one.interleaved for one in sent.values()),
    )
    acts = timeline.of_association(association, paths, up_ns, over_ns)
    return checked(
        Talk(
            name=f"live-{trace.name}",
            what=f"association {association.number} of {trace.name}",
            protocol="sctp",
            number=association.number,
            seen_at=trace.seen_at(association.captured_at),
            paths=paths,
            primary=primary,
            zero_ns=up_ns - trace.first_ns,
            end_ns=over_ns,
            sent=sent,
            settings=chosen,
            acts=acts.before(_of_server(first, primary)),
            at_start=starts,
            warnings=(*dict.fromkeys(damage), *_warnings(trace, association, chosen)),
        )
    )


def _up_ns(association: Association) -> int:
    return association.established.ns or association.start.ns or 0


def _sent(trace: Trace, end: End, association: Association, facts: Row, damage: list[str]) -> Sent:
    number, up_ns = association.number, _up_ns(association)
    if trace.ends[end] != trace.source:
        number, up_ns = _elsewhere(trace, end, facts)
    batches = trace.stream(end, "messages", damage, number)
    return messages.of_association(batches, end, up_ns)


def _elsewhere(trace: Trace, end: End, facts: Row) -> tuple[int, int]:
    """Return the number of the association in an end's own capture, and when it was up there."""
    ledger = ledgers.read(trace.ends[end], trace.options)
    for row in ledger.rows("associations"):
        if (row["a_tag"], row["b_tag"]) == (facts["a_tag"], facts["b_tag"]):
            return row["association"], row["established_ns"] or row["start_ns"]
    raise LiveError(f"{trace.ends[end]}: it lacks the association of the other end's capture")


def _paths(association: Association, runs: Iterable[Row]) -> list[TracePath]:
    carried = dict.fromkeys((path.number for path in association.paths), 0)
    for run in runs:
        carried[run["path"]] += run["user_bytes"]
    return [
        TracePath(path.number, path.label, path.a_address, path.b_address, carried[path.number])
        for path in association.paths
    ]


def _ready(paths: Paths, starts: Mapping[str, bool | str]) -> list[str]:
    """Return the paths that both ends have from the beginning."""
    ready = [path.name for path in paths.paths if starts[path.name] is True]
    return ready or [paths.paths[0].name]


def _first_paths(
    runs: Iterable[Row], paths: Paths, starts: Mapping[str, bool | str]
) -> dict[str, str]:
    """Return the path of each sender's first new data, where it can have it from the beginning."""
    found: dict[str, str] = {}
    ready, met = _ready(paths, starts), set()
    for run in runs:
        path = paths.of_trace(run["path"])
        if run["sender"] not in met and path is not None and path.name in ready:
            found[run["sender"]] = path.name
        met.add(run["sender"])
    return found


def _of_server(first: Mapping[str, str], primary: str) -> list[Action]:
    """Return the server's choice of another primary path than the client's, if it made one."""
    path = first.get("b", primary)
    if path == primary:
        return []
    return [{"at_s": 0.0, "do": "set-primary", "path": path, "host": "server"}]


def _warnings(trace: Trace, association: Association, chosen: Iterable[Chosen]) -> Iterator[str]:
    many = len(trace.result.associations)
    if many > 1:
        number = association.number
        yield f"{many} associations in the trace: number {number} is sent again"
    if not association.seen_handshake:
        yield "the trace has no handshake: times count from the first packet"
    for one in chosen:
        if one.name.endswith("_buffer_bytes") and one.value > USUAL_BUFFER_BYTES:
            yield (
                f"{one.host}: {one.name} of {one.value}: a kernel gives {USUAL_BUFFER_BYTES} at"
                " most, unless net.core.rmem_max and wmem_max say otherwise"
            )
