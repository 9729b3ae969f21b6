"""What is said about a figure beside it: the question that it answers, its units, its basis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

Basis = Literal["observed", "annotated", "inferred"]


@dataclass(frozen=True, slots=True)
class About:
    """What is said about a figure.

    Attributes
    ----------
    title
        What it shows.
    question
        What it answers.
    unit
        Of its axes, in words.
    definition
        Where its numbers come from, in the words of docs/metrics.md.
    basis
        How its numbers are known, the strongest first.
    wireshark_filter
        Display filter for the packets that it shows; None where there is none.
    """

    title: str
    question: str
    unit: str
    definition: str
    basis: tuple[Basis, ...]
    wireshark_filter: str | None = None

    def shown(self, expression: str | None) -> About:
        """Return the same with the display filter of what is shown; None where there is none."""
        return replace(self, wireshark_filter=expression)
