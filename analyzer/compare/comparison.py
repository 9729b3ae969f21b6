"""Everything that a comparison gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .alignment import aligned
from .courses import course_differences
from .facts import fact_differences
from .inferred import setting_differences

if TYPE_CHECKING:
    from .alignment import Aligned
    from .caveats import Warned
    from .difference import Difference
    from .model import Row
    from .pairing import Group, Pairing


@dataclass(frozen=True, slots=True)
class Unread:
    """Something of a set that could not be read, and why."""

    side: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two sets of runs, compared.

    `baseline` and `candidate` are what the user called them.
    """

    baseline: str
    candidate: str
    pairing: Pairing
    rows: tuple[Row, ...]
    differences: tuple[Difference, ...]
    timelines: tuple[Aligned, ...]
    warnings: tuple[Warned, ...]
    unread: tuple[Unread, ...]

    @property
    def is_worse(self) -> bool:
        """Whether any number got worse."""
        return any(row.verdict == "worse" for row in self.rows)

    @property
    def is_changed(self) -> bool:
        """Whether any number got worse, better or other, or what happened clearly differs."""
        verdicts = {row.verdict for row in self.rows}
        return bool(verdicts & {"better", "worse", "changed"}) or any(
            difference.clear for difference in self.differences
        )


def structure(group: Group) -> list[Difference]:
    """Return what happened on one side of a group and not, or otherwise, on the other."""
    return [
        *course_differences(group),
        *fact_differences(group),
        *setting_differences(group),
    ]


def timelines(group: Group) -> list[Aligned]:
    """Return the handovers of two single runs beside each other."""
    return aligned(group)
