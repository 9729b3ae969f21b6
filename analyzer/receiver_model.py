"""What receivers made of DATA: plain data, as in `model`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .measure import Instant, Measure
    from .model import End


@dataclass(frozen=True, slots=True)
class Waiting:
    """Head-of-line blocking in one stream.

    The longest wait is that of one message: from its arrival to that of `longest_tsn`. Both
    instants are absent where nothing waited.
    """

    metrics: dict[str, Measure]
    longest_tsn: int | None
    longest_start: Instant
    longest_end: Instant


@dataclass(frozen=True, slots=True)
class Receiver:
    """One end as a receiver: its window and its SACKs."""

    metrics: dict[str, Measure]
    longest_start: Instant
    longest_end: Instant


@dataclass(frozen=True, slots=True)
class Moment:
    """A time of the capture, and the frame that shows it, if that is known."""

    ns: int
    frame: int | None


@dataclass(frozen=True, slots=True)
class Outage:
    """A time in which what one end sent on a path stayed unanswered, and the other was not heard.

    `start` is the last packet heard, else the path's first; `end` the next one heard, if any.
    `first_lost` and `last_lost` are the first and the last packet that are known to have got no
    answer in it. A frame is None where the ledger does not have it.
    """

    sender: End
    start: Moment
    end: Moment | None
    first_lost: Moment
    last_lost: Moment
    duration_s: Measure
