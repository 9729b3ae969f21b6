"""Figures by name: which module draws each, and from what of a view.

A figure is a module of `reports/figures` with ABOUT, `inputs` and `draw`; here stands only what it
is given. Adding one is a line in `FIGURES`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...dissectors.ledger import ReadOptions
from ..wireshark import within
from . import filters
from .pages import replay, sets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import plotly.graph_objects as go
    import pyarrow as pa

    from ..figures.about import About
    from ..figures.look import Look
    from .data import Case
    from .kept import Kept
    from .view import View

    Drawer = Callable[[View, Look, Kept[pa.Table]], "Drawn"]

Node = dict[str, Any]

MOST_CHUNK_ROWS = 20_000
"""Of a window whose packets are drawn one by one; a longer one is drawn from the ledger."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A figure, and what is said about it."""

    figure: go.Figure
    about: About


def _module(name: str) -> Any:
    return import_module(f"..figures.{name}", __package__)


@dataclass(frozen=True, slots=True)
class OfAssociation:
    """A figure of one association in the window.

    `chunks`: it looks at packets one by one, where they are few. `handover`: it is of one handover,
    and without a window its module chooses the time. `is_timed`: its x is the capture's time.
    """

    name: str
    chunks: bool = False
    handover: bool = False
    is_timed: bool = True

    def __call__(self, view: View, look: Look, chunks: Kept[pa.Table]) -> Drawn:
        """Draw."""
        from ..figures.part import Window

        module, one, case = _module(self.name), view.the_association(), view.the_case()
        window = None if view.window is None else Window(*view.span_ns())
        part = self._part(view, case, one)
        seen = window
        if window is None and self.handover:
            # None of an association without one.
            seen = _module("instants").window(part)
        if self.chunks:
            part = _with_chunks(part, case, part.window(seen), chunks)
        found = module.inputs(part, window)
        expression = filters.of_association(view)
        if expression is not None and seen is not None:
            expression = within(expression, seen.from_ns, seen.to_ns)
        about = module.ABOUT.shown(expression)
        return Drawn(module.draw(found, look), about)

    def _part(self, view: View, case: Case, one: Node) -> Any:
        from ..figures.part import Part

        sender: Any = view.state.sender or _sender(one)
        index = None
        if self.handover and view.handover is not None:
            index = one["handovers"].index(view.handover)
            sender = view.handover["sender"]
        ledger = None if case.analysis is None else case.analysis.ledger
        return Part(
            association=one,
            origin_ns=case.origin_ns,
            tables=None if ledger is None else ledger.tables,
            bin_ns=(ReadOptions() if ledger is None else ledger.options).bin_ns,
            sender=sender,
            path=view.state.path,
            handover=index,
            story=_story(case, one, index),
            links=case.links.get(one["id"], ()),
        )


def _sender(one: Node) -> Any:
    """Return the end that sent most new DATA: the one that a figure is of unless asked."""
    sent = {end: one["totals"][end]["new_bytes"]["value"] or 0 for end in "ab"}
    return max(sent, key=lambda end: sent[end])


def _story(case: Case, one: Node, index: int | None) -> Node | None:
    if index is None or case.analysis is None:
        return None
    from ...stories import explain
    from ..story_contract import document

    stories = explain(case.analysis, association=one["id"], handover=index + 1)
    found: list[Node] = document(case.analysis.ledger.path, stories)["stories"]
    return found[0] if found else None


def _with_chunks(part: Any, case: Case, seen: Any, chunks: Kept[pa.Table]) -> Any:
    """Give a part the packets of its window, where they are few and quick to come by."""
    if not (case.files and case.is_quick and _packets(part, seen) <= MOST_CHUNK_ROWS):
        return part
    from ...dissectors.selection import Instant
    from ...dissectors.selection import Window as Wanted

    start, end = (Instant(ns, absolute=True) for ns in (seen.from_ns, seen.to_ns + 1))
    number = part.association["id"]
    key = (id(case), number, seen.from_ns, seen.to_ns)
    rows = chunks.get(key, lambda: case.rows("chunks", Wanted(start, end), number))
    return replace(part, chunks=rows)


def _packets(part: Any, seen: Any) -> int:
    """Return how many packets an association has in a window, by the ledger's time bins."""
    from ...analyzer.columns import filled

    bins = part.rows("intervals")
    starts = filled(bins["start_ns"], 0)
    within = (starts + part.bin_ns >= seen.from_ns) & (starts <= seen.to_ns)
    return int(filled(bins["packets"], 0)[within].sum())


def _flow(view: View, look: Look, _: Kept[pa.Table]) -> Drawn:
    module, case, flow = _module("flows"), view.the_case(), view.the_flow()
    from ..figures.part import Window

    window = None if view.window is None else Window(*view.span_ns())
    ledger = None if case.analysis is None else case.analysis.ledger
    if ledger is None:
        found = module.inputs(flow, None, case.origin_ns, window)
    else:
        bin_ns = ledger.options.bin_ns
        found = module.inputs(flow, ledger.tables, case.origin_ns, window, bin_ns)
    about = module.ABOUT.shown(filters.in_window(flow["wireshark"], view))
    return Drawn(module.draw(found, look), about)


def _distributions(view: View, look: Look, _: Kept[pa.Table]) -> Drawn:
    module = _module("distributions")
    found = sets.samples(view.data)
    metric = sets.chosen(view, sets.metrics(found))
    return Drawn(module.draw(module.inputs(found, metric), look), module.ABOUT)


def _of_comparison(name: str) -> Drawer:
    def draw(view: View, look: Look, _: Kept[pa.Table]) -> Drawn:
        module = _module(name)
        return Drawn(module.draw(module.inputs(view.data.comparison), look), module.ABOUT)

    return draw


def _replay(view: View, look: Look, _: Kept[pa.Table]) -> Drawn:
    module = _module("replay")
    document = view.data.replays[replay.number_of(view) - 1][1]
    return Drawn(module.draw(module.inputs(document), look), module.ABOUT)


def is_timed(name: str) -> bool:
    """Whether a figure's x is the capture's time, so that zooming into it chooses a window."""
    drawer = FIGURES.get(name)
    return drawer.is_timed if isinstance(drawer, OfAssociation) else name == "flows"


FIGURES: Mapping[str, Drawer] = {
    "swimlane": OfAssociation("swimlane"),
    "tsn": OfAssociation("tsn", chunks=True),
    "throughput": OfAssociation("throughput"),
    "rtt": OfAssociation("rtt"),
    "window": OfAssociation("window", chunks=True),
    "heartbeats": OfAssociation("heartbeats"),
    "instants": OfAssociation("instants", chunks=True, handover=True),
    "phases": OfAssociation("phases", handover=True),
    "timers": OfAssociation("timers", handover=True, is_timed=False),
    "ladder": OfAssociation("ladder", chunks=True, handover=True, is_timed=False),
    "flows": _flow,
    "distributions": _distributions,
    "intervals": _of_comparison("intervals"),
    "alignment": _of_comparison("alignment"),
    "replay": _replay,
}
