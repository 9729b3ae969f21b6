"""What a report holds, view by view: for files, which have no address bar to ask by."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from .pages import sets
from .state import Parsed, State
from .view import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .data import Case, ReportData
    from .view import View

MOST = 20
"""Associations and flows of a case, and handovers of each: a file of more would not be read."""


def views(data: ReportData) -> Iterator[View]:
    """Yield every view that has something to show.

    Of flows and numbers, of which a page shows one at a time, it is the first.
    """
    states = [State()]
    for case in data.cases:
        states += _of_associations(case)
        if case.flows or case.document["icmp_errors"]:
            states.append(State(page="flows", case=case.key))
        if case.analysis is not None:
            states.append(State(page="packets", case=case.key))
    states += [State(page="sets"), *_of_documents(data)]
    for state in states:
        yield resolve(data, Parsed(state))


def pictured(data: ReportData) -> Iterator[View]:
    """Yield every view that has figures: of each flow, and of several runs each number."""
    states: list[State] = []
    for case in data.cases:
        states += _of_associations(case)
        states += [
            State(page="flows", case=case.key, flow=number) for number in islice(case.flows, MOST)
        ]
    if len(data.cases) > 1:
        states += [State(page="sets", metric=one) for one in sets.metrics(sets.samples(data))]
    states += _of_documents(data)
    for state in states:
        yield resolve(data, Parsed(state))


def left_out(data: ReportData) -> Iterator[str]:
    """Say what of the cases is not in a file, each in a sentence."""
    for case in data.cases:
        handovers = max((len(one["handovers"]) for one in case.associations.values()), default=0)
        for what, number in (
            ("associations", len(case.associations)),
            ("handovers of an association", handovers),
            ("flows", len(case.flows)),
        ):
            if number > MOST:
                yield f"{case.name}: of {number:,} {what}, the first {MOST} are shown"


def _of_associations(case: Case) -> Iterator[State]:
    for one in islice(case.associations.values(), MOST):
        here = State(page="association", case=case.key, association=one["id"])
        yield here
        for number in range(1, min(len(one["handovers"]), MOST) + 1):
            yield here.to("handover", handover=number)


def _of_documents(data: ReportData) -> Iterator[State]:
    if data.comparison is not None:
        yield State(page="compare")
    for number in range(1, len(data.replays) + 1):
        yield State(page="replay", replay=number)
