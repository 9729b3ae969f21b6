"""Parts of the committed captures that figures are drawn of."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import pathscope
import plotly.graph_objects as go
import pyarrow as pa
from pathscope.api import Analysis
from pathscope.dissectors.selection import Instant
from pathscope.dissectors.selection import Window as Selected
from pathscope.reports.figures import drawn
from pathscope.reports.figures.look import Look
from pathscope.reports.figures.part import Part, Window
from pathscope.reports.story_contract import document as stories_of
from running import CAPTURES

Node = dict[str, Any]

CASES = tuple(sorted(path.parent.name for path in CAPTURES.glob("*/events.jsonl")))
"""The committed runs; each has the links' changes in its log."""

LOOKS = (Look("light", 1280), Look("dark", 1280), Look("light", 390), Look("dark", 390))


@cache
def analysis(case: str) -> Analysis:
    return pathscope.analyze(
        CAPTURES / case / "client.pcapng", events=CAPTURES / case / "events.jsonl"
    )


@cache
def document(case: str) -> Node:
    return analysis(case).to_dict()


def origin_ns(case: str) -> int:
    """Return frame 1, from which the figures of a case count."""
    found: int = document(case)["captures"][0]["first_frame_ns"]
    return found


def part(case: str, **changes: Any) -> Part:
    """Return the first association of a case, of its client."""
    done = analysis(case)
    made = Part(
        association=document(case)["associations"][0],
        origin_ns=origin_ns(case),
        tables=done.ledger.tables,
        bin_ns=done.ledger.options.bin_ns,
    )
    return replace(made, **changes)


def stored(case: str, **changes: Any) -> Part:
    """Return the same as a stored result has it: without a ledger."""
    return Part(document(case)["associations"][0], origin_ns(case), **changes)


def with_chunks(one: Part, case: str, window: Window | None = None) -> Part:
    """Add the rows of chunks of a window."""
    seen = one.window(window)
    selected = Selected(
        Instant(seen.from_ns, absolute=True), Instant(seen.to_ns + 1, absolute=True)
    )
    batches = pathscope.dissect(
        CAPTURES / case / "client.pcapng",
        window=selected,
        association=one.association["id"],
    )
    return replace(one, chunks=pa.Table.from_batches(list(batches)))


@cache
def _stories(case: str) -> list[Node]:
    from pathscope.stories import explain

    found: list[Node] = stories_of(case, explain(analysis(case)))["stories"]
    return found


def of_handover(case: str, index: int) -> Part:
    """Return a part with a handover that was chosen, with its story."""
    one = part(case)
    sender = one.association["handovers"][index]["sender"]
    return replace(one, handover=index, story=_stories(case)[index], sender=sender)


def rows(figure: go.Figure) -> list[Node]:
    """Return what a figure draws, as its download has it."""
    found: list[Node] = drawn.table(figure).to_pylist()
    return found


def lines(figure: go.Figure) -> list[go.Scatter]:
    """Return the traces that are more than words."""
    return [trace for trace in figure.data if trace.mode != "text"]


def named(figure: go.Figure, start: str) -> list[Node]:
    """Return the points of the traces whose name begins so."""
    return [row for row in rows(figure) if row["trace"].startswith(start)]
