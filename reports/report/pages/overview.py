"""Overview: captures, associations, verdicts, findings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...units import file_name
from ..blocks import Column, Link, Notice, Number, Table
from ..state import State
from . import common

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..blocks import Block, Cell
    from ..data import Case
    from ..view import View

Node = dict[str, Any]
Row = tuple["Cell", ...]

HANDOVERS = "Moves of new DATA from one path to another that lasted."

CASES = (
    Column("name", "capture", "", common.CAPTURE.definition),
    Column("format", "format", "", "Of the file."),
    Column("frames", "frames", "", "Frames read."),
    Column("skipped", "skipped", "", "Frames of which nothing above IP was read."),
    Column("duration_s", "duration", "s", "From the earliest frame to the latest."),
    Column("associations", "associations", "", "SCTP associations that were seen."),
    Column("handovers", "handovers", "", HANDOVERS),
    Column("flows", "flows", "", "TCP and UDP flows that are described."),
    Column("findings", "findings", "", "What looks wrong."),
)
ASSOCIATIONS = (
    Column("association", "association", "", "Number in its capture, in the order of first sight."),
    common.CAPTURE,
    Column("ends", "ends", "", "Addresses and ports; the first sent INIT, or was seen first."),
    Column("paths", "paths", "", "Pairs of addresses that packets were seen on."),
    Column("start", "start", "s", common.WHEN.definition),
    Column("duration_s", "duration", "s", "From its first packet to its last."),
    Column("packets", "packets", "", "SCTP packets, duplicated frames left out."),
    Column("handovers", "handovers", "", HANDOVERS),
    Column("ended", "how it ended", "", "By SHUTDOWN, ABORT, or not in the capture."),
    common.FILTER,
)
VERDICTS = (
    common.CAPTURE,
    Column("verdict", "verdict", "", "The number held against its limits: docs/verdicts.md."),
    Column("metric", "number", "", "docs/metrics.md defines it."),
    Column("where", "where", "", "At which place of the result it stands."),
    Column("value", "value", "", "In the base unit of its name."),
    Column("min", "at least", "", "The lower limit, in the same unit."),
    Column("max", "at most", "", "The upper limit, in the same unit."),
)


def blocks(view: View) -> Iterator[Block]:
    """Yield what the page is made of."""
    data = view.data
    if data.unread:
        lines = tuple(f"{file_name(name)}: {file_name(reason)}" for name, reason in data.unread)
        yield Notice("error", f"{len(lines)} could not be read", lines)
    if not data.cases:
        yield common.nothing("No capture, run or result to show")
        return
    yield Table("captures", "Captures and runs", CASES, [_case(one) for one in data.cases])
    yield Table(
        "associations",
        "SCTP associations",
        ASSOCIATIONS,
        [row for case in data.cases for row in _associations(case)],
        empty="No SCTP association was seen.",
        is_long=sum(len(case.associations) for case in data.cases) > MOST_ROWS,
    )
    yield from _verdicts(data.cases)
    yield from _findings(data.cases)
    for case in data.cases:
        yield from common.warnings(case.document)


MOST_ROWS = 100
"""More get filters and sorting of their own."""


def _case(case: Case) -> Row:
    capture, document = case.capture, case.document
    told = [*document["associations"], *document["flows"]]
    last, first = capture["end_ns"], capture["start_ns"]
    name = common.case_name(case)
    return (
        Link(name, State(page="association", case=case.key)) if case.associations else name,
        capture["format"],
        capture["frames"]["read"],
        sum(capture["frames"]["skipped"].values()),
        None if first is None else (last - first) / 1e9,
        capture["associations"]["seen"],
        sum(len(one["handovers"]) for one in document["associations"]),
        len(document["flows"]),
        sum(len(one["findings"]) for one in told),
    )


def _associations(case: Case) -> Iterator[Row]:
    for one in case.document["associations"]:
        here = State(page="association", case=case.key, association=one["id"])
        a, b = (one["endpoints"][end] for end in "ab")
        yield (
            Link(str(one["id"]), here),
            common.case_name(case),
            f"{_socket(a)} {_ARROWS} {_socket(b)}",
            len(one["paths"]),
            common.since(case, one["start_ns"]),
            (one["end_ns"] - one["start_ns"]) / 1e9,
            one["packets"],
            Link(str(len(one["handovers"])), here.to("handover")) if one["handovers"] else 0,
            one["end"],
            one["wireshark"],
        )


_ARROWS = "\N{LEFT RIGHT ARROW}"


def _socket(end: Node) -> str:
    return f"{', '.join(end['addresses'])} port {end['port']}"


def _verdicts(cases: tuple[Case, ...]) -> Iterator[Block]:
    rows: list[Row] = [
        (
            common.case_name(case),
            one["verdict"],
            one["metric"],
            _place(one["where"]),
            Number(one["value"], ""),
            one["min"],
            one["max"],
        )
        for case in cases
        for one in case.document["verdicts"]
    ]
    if rows:
        yield Table("verdicts", "Verdicts", VERDICTS, rows, is_long=len(rows) > MOST_ROWS)


def _place(where: Node | None) -> str | None:
    if where is None:
        return None
    told = (f"{key} {value}" for key, value in where.items() if key != "keys" and value is not None)
    return " ".join((*told, *where["keys"]))


def _findings(cases: tuple[Case, ...]) -> Iterator[Block]:
    columns = (
        common.CAPTURE,
        Column("of", "of", "", "The association or flow that it is about."),
        common.SEVERITY,
        common.RULE,
        common.TEXT,
        common.FILTER,
    )
    rows: list[Row] = [
        (
            common.case_name(case),
            Link(f"{kind} {one['id']}", State(page=page, case=case.key, **{kind: one["id"]})),
            found["severity"],
            found["rule"],
            found["text"],
            found["wireshark"],
        )
        for case in cases
        for kind, page in (("association", "association"), ("flow", "flows"))
        for one in case.document[f"{kind}s"]
        for found in one["findings"]
    ]
    yield Table(
        "findings",
        "What looks wrong",
        columns,
        rows,
        empty="Nothing that a rule knows of.",
        basis=("inferred",),
        is_long=len(rows) > MOST_ROWS,
    )
