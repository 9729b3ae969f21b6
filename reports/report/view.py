"""A state and the data together: which case and association are meant, and what is not there."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .data import window
from .state import Parsed, State, parse

if TYPE_CHECKING:
    from ...dissectors.selection import Window
    from .data import Case, ReportData

Node = dict[str, Any]


class NotHereError(ValueError):
    """Something is asked of a view that it has not; the message says what."""


@dataclass(frozen=True, slots=True)
class View:
    """What is looked at.

    Attributes
    ----------
    data
        All that can be shown.
    state
        With the case and the association that are there.
    case
        None where there are none.
    association, handover, flow
        Nodes of the case's result; None where it has none.
    asked_association
        Number of the association that the address names: packets are of all unless it does.
    problems
        What of the address could not be read, or is not there, each in a sentence.
    """

    data: ReportData
    state: State
    case: Case | None
    association: Node | None = None
    handover: Node | None = None
    flow: Node | None = None
    asked_association: int | None = None
    problems: tuple[str, ...] = ()

    @property
    def window(self) -> Window | None:
        """The window that is asked for; None for all."""
        return window(self.state.from_ns, self.state.to_ns)

    def the_case(self) -> Case:
        """Return the case.

        Raises
        ------
        NotHereError
            When there is none.
        """
        if self.case is None:
            raise NotHereError("there is no capture, run or result")
        return self.case

    def the_association(self) -> Node:
        """Return the association; raises `NotHereError` when there is none."""
        if self.association is None:
            raise NotHereError("no SCTP association was seen")
        return self.association

    def the_flow(self) -> Node:
        """Return the flow; raises `NotHereError` when there is none."""
        if self.flow is None:
            raise NotHereError("no TCP or UDP flow was seen")
        return self.flow

    def span_ns(self) -> tuple[int, int]:
        """Return the window in ns since 1970, open ends closed by those of the capture."""
        case = self.the_case()
        origin_ns, capture = case.origin_ns, case.capture
        first = capture["start_ns"] or 0
        last = capture["end_ns"] or first
        start, end = self.state.from_ns, self.state.to_ns
        return (
            first if start is None else origin_ns + start,
            last + 1 if end is None else origin_ns + end,
        )


def view_of(data: ReportData, address: str | None) -> View:
    """Return what an address asks for, or what is nearest to that."""
    return resolve(data, parse(address))


def resolve(data: ReportData, parsed: Parsed) -> View:
    """Find what a state names; what is not there is told, and the first there is instead of it."""
    state, problems = parsed.state, list(parsed.problems)
    case = _case(data, state, problems)
    if case is None:
        return View(data, replace(state, case=None), None, problems=tuple(problems))
    state = replace(state, case=case.key)
    association = _one(
        case.associations, state.association, f"association in {case.name}", problems
    )
    handover = _handover(association, state, problems)
    flow = _one(case.flows, state.flow, f"flow in {case.name}", problems)
    paths = () if association is None else association["paths"]
    if state.path is not None and state.path >= len(paths):
        problems.append(f"there is no path {state.path}: all are shown")
        state = replace(state, path=None)
    asked = state.association if state.association in case.associations else None
    return View(
        data, state, case, association, handover, flow, asked_association=asked,
        problems=tuple(problems),
    )  # fmt: skip


def _case(data: ReportData, state: State, problems: list[str]) -> Case | None:
    if state.case is not None:
        found = data.case(state.case)
        if found is not None:
            return found
        problems.append(f"there is no case {state.case}")
    return data.cases[0] if data.cases else None


def _one(known: dict[int, Node], number: int | None, what: str, problems: list[str]) -> Node | None:
    if number is not None:
        if number in known:
            return known[number]
        problems.append(f"there is no {what} with the number {number}")
    return next(iter(known.values()), None)


def _handover(association: Node | None, state: State, problems: list[str]) -> Node | None:
    handovers = [] if association is None else association["handovers"]
    number = state.handover
    if number is not None and number > len(handovers):
        problems.append(f"there is no handover {number}: there are {len(handovers)}")
        number = None
    found: Node | None = handovers[(number or 1) - 1] if handovers else None
    return found
