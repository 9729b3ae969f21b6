"""A number of a run, as studies measure it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from .measure import Measure
    from .model import CaptureResult


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a run: its unit, its definition, and how an analysis gives it."""

    unit: str
    text: str
    of: Callable[[CaptureResult], Measure]
