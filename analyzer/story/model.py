"""What a story is made of: plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ..measure import Basis, Measure
    from ..model import Cause, End
    from ..settings import Settings
    from ..whatif import Prediction

Kind = Literal[
    "path-working",
    "path-acknowledged",
    "link-failed",
    "timer-started",
    "timer-expired",
    "other-path-works",
    "heartbeat-unanswered",
    "heartbeat-answered",
    "link-returned",
    "path-heard",
    "asconf-asked",
    "asconf-answered",
    "last-data",
    "moved",
    "acknowledged",
    "recovered",
]

PhaseName = Literal[
    "unnoticed", "first-wait", "back-off", "unprobed", "probe", "request", "moving", "quiet",
    "recovery",
]  # fmt: skip
"""unnoticed: failed, and no timer runs; first-wait, back-off: T3-rtx runs, for the first time or
again; unprobed: the link is back, and no HEARTBEAT has asked; probe: one is on its way; request:
ASCONF waits for its ACK; moving: decided, and no new DATA yet; quiet: no DATA, and nothing tells
why; recovery: until all that was outstanding is delivered."""

Value = int | float | str


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened.

    Attributes
    ----------
    time_ns
        By the capture's clock; of an inferred instant the middle of its bounds.
    frame
        The frame that shows it, if any.
    basis
        inferred: the frame lets one conclude it (a timer is not on the wire), or bounds it.
    text
        In words.
    values
        The numbers in the words, by name, with units in the names.
    """

    kind: Kind
    time_ns: int
    frame: int | None
    basis: Basis
    text: str
    values: dict[str, Value]


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of the time that a handover took; they follow one another without gaps."""

    name: PhaseName
    text: str
    start_ns: int
    end_ns: int


@dataclass(frozen=True, slots=True)
class Alternative:
    """Settings, and what the handover would have cost with them; no setting: as it was."""

    given: dict[str, float | None]
    text: str
    prediction: Prediction


@dataclass(frozen=True, slots=True)
class Story:
    """One handover, told.

    Attributes
    ----------
    association, handover
        Number of the association, and of the handover in it, from 1, as `analyze` prints it.
    from_label, to_label
        The paths.
    events, phases
        In time order.
    why
        Why it took as long as it did, a sentence each.
    measured
        What it cost: the metrics that a prediction has, too.
    settings
        Of the sender; None where timers did not decide, so that there is nothing to predict.
    alternatives
        At the settings as they were first, then at others.
    """

    association: int
    handover: int
    sender: End
    from_label: str
    to_label: str
    cause: Cause
    events: tuple[Event, ...]
    phases: tuple[Phase, ...]
    why: tuple[str, ...]
    measured: dict[str, Measure]
    settings: Settings | None
    alternatives: tuple[Alternative, ...]
