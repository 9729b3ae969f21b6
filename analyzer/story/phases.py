"""Where the time of a handover went: parts that follow one another without gaps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..circumstances import FAILURES
from .model import Phase

if TYPE_CHECKING:
    from .events import Scene
    from .model import PhaseName

Mark = tuple[int | None, "PhaseName", str]
"""Until when a phase lasts, its name, and what it is in words; None: not in this capture."""


def tell_phases(scene: Scene) -> tuple[Phase, ...]:
    """Return the parts of a handover, from what made it necessary until all was delivered.

    A part that would end before it begins is left out: then its end was not what was waited for.
    """
    start_ns, marks = _until_decided(scene)
    last = scene.handover.instants["t_recovered"].ns
    marks += [
        (scene.moved_ns, "moving", f"until new DATA went on {scene.new}"),
        (last, "recovery", "until all that was outstanding was delivered"),
    ]
    found = []
    for end_ns, name, text in marks:
        if start_ns is not None and end_ns is not None and end_ns > start_ns:
            found.append(Phase(name, text, start_ns, end_ns))
            start_ns = end_ns
    return tuple(found)


def _until_decided(scene: Scene) -> tuple[int | None, list[Mark]]:
    cause, instants = scene.handover.cause, scene.handover.instants
    if cause in FAILURES:
        return _time_outs(scene)
    if cause == "path-returned":
        return _probing(scene)
    if cause in ("set-primary", "address-deleted"):
        answers = [
            row["ack_ns"]
            for row in scene.context.asconf
            if row["frame"] == instants["t_decision"].frame
        ]
        text = "until the ASCONF was acknowledged"
        return instants["t_decision"].ns, [(answers[0] if answers else None, "request", text)]
    text = "without DATA, and nothing on the wire tells why"
    return instants["t_last_data_old"].ns, [(scene.moved_ns, "quiet", text)]


def _time_outs(scene: Scene) -> tuple[int | None, list[Mark]]:
    rows = scene.expiries()
    started_ns = rows[0]["armed_ns"] if rows else None
    fail_ns = scene.handover.instants["t_fail"].ns
    marks: list[Mark] = []
    if fail_ns is not None:
        marks.append((started_ns, "unnoticed", "until T3-rtx was started"))
    for number, row in enumerate(rows, start=1):
        again = number > 1
        text = f"until T3-rtx expired for the {_ordinal(number)} time"
        marks.append((row["time_ns"], "back-off" if again else "first-wait", text))
    return (started_ns if fail_ns is None else fail_ns), marks


def _probing(scene: Scene) -> tuple[int | None, list[Mark]]:
    instants = scene.handover.instants
    sent = [
        row["time_ns"]
        for row in scene.context.heartbeats
        if row["ack_frame"] is not None and row["ack_frame"] == instants["t_decision"].frame
    ]
    start_ns = instants["t_return_link"].ns
    marks: list[Mark] = []
    if sent and start_ns is not None:
        marks.append((sent[0], "unprobed", "until the next HEARTBEAT was sent"))
    marks.append((instants["t_decision"].ns, "probe", "until it was answered"))
    return (start_ns if start_ns is not None or not sent else sent[0]), marks


def _ordinal(number: int) -> str:
    ending = {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{'th' if number % 100 in (11, 12, 13) else ending}"
