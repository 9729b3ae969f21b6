"""A ledger and its analysis in, stories out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..circumstances import can_predict, settings_of, way_back
from ..context import contexts
from .alternatives import tell_alternatives
from .events import Scene, tell_events
from .model import Story
from .phases import tell_phases
from .why import tell_why

if TYPE_CHECKING:
    from ...dissectors.ledger import Ledger
    from ..context import Context
    from ..measure import Measure
    from ..model import Association, CaptureResult, Handover
    from .alternatives import Given

COST = (
    "failure_detection_s",
    "link_failure_recovery_s",
    "data_interruption_s",
    "link_recognition_s",
)
"""The metrics that a prediction has."""


def tell(
    ledger: Ledger,
    result: CaptureResult,
    *,
    association: int | None = None,
    handover: int | None = None,
    given: Given | None = None,
    most: int | None = None,
) -> list[Story]:
    """Tell the handovers of a capture.

    Parameters
    ----------
    ledger, result
        The capture, and what was made of it.
    association, handover
        Only this one; handovers count from 1 in each association.
    given
        Settings to predict at, as `parse_settings` returns them; None for a few sensible ones.
    most
        Only so many, the first ones.

    Raises
    ------
    ValueError
        When there is no such association or handover, or no handover at all: with what there is.
    """
    chosen = _associations(result, association)
    labels = {(one.number, p.number): p.label for one in result.associations for p in one.paths}
    known = {context.row["association"]: context for context in contexts(ledger, labels, {})}
    wanted = [
        (one, number)
        for one in chosen
        for number in range(1, len(one.handovers) + 1)
        if handover in (None, number)
    ]
    if not wanted:
        raise ValueError(_nothing(result.path, chosen, handover))
    return [_story(known[one.number], one, number, given) for one, number in wanted[:most]]


def _associations(result: CaptureResult, number: int | None) -> list[Association]:
    chosen = [one for one in result.associations if number in (None, one.number)]
    if not chosen:
        numbers = ", ".join(str(one.number) for one in result.associations[:10])
        there = f"of {len(result.associations)} there: {numbers}" if numbers else "there is none"
        which = "" if number is None else f" {number}"
        raise ValueError(f"{result.path}: no association{which} to explain: {there}")
    return chosen


def _nothing(path: str, chosen: list[Association], handover: int | None) -> str:
    """Say what there is where the handover that is asked for is not."""
    count = sum(len(one.handovers) for one in chosen)
    if handover is not None and count:
        return f"{path}: no handover {handover}: there are {count}, from 1 in each association"
    paths = sum(len(one.paths) for one in chosen)
    excursions = sum(len(one.excursions) for one in chosen)
    stayed = (
        f"; {excursions} times new DATA left a path and came back before that was given up"
        if excursions
        else "; new DATA stayed where it was"
    )
    return f"{path}: no handover to explain: {len(chosen)} associations with {paths} paths{stayed}"


def _story(context: Context, association: Association, number: int, given: Given | None) -> Story:
    handover = association.handovers[number - 1]
    scene = Scene(context, handover)
    phases = tell_phases(scene)
    failure = _failure(association, number)
    is_return = handover.cause == "path-returned"
    return Story(
        association=association.number,
        handover=number,
        sender=handover.sender,
        from_label=scene.old,
        to_label=scene.new,
        cause=handover.cause,
        events=tell_events(scene),
        phases=phases,
        why=tell_why(association, handover, phases),
        measured=measured(association, handover),
        settings=None if failure is None else settings_of(association, failure),
        alternatives=()
        if failure is None
        else tell_alternatives(association, failure, given, is_return=is_return),
    )


def _failure(association: Association, number: int) -> Handover | None:
    """Return the failover that settings can be tried on: the handover, or what it returns from."""
    handover = association.handovers[number - 1]
    if can_predict(handover):
        return handover
    if handover.cause != "path-returned":
        return None
    earlier = [
        one
        for one in association.handovers[: number - 1]
        if one.sender == handover.sender and one.from_path == handover.to_path and can_predict(one)
    ]
    return earlier[-1] if earlier else None


def measured(association: Association, handover: Handover) -> dict[str, Measure]:
    """Return what a handover cost, the return from it included."""
    found = {name: handover.metrics[name] for name in COST}
    back = way_back(association, handover)
    if back is not None:
        found["link_recognition_s"] = back.metrics["link_recognition_s"]
    return found
