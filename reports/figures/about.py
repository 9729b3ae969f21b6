"""What is said about a figure beside it: the question that it answers, its units, its basis."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from ..wireshark import within

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

    def shown(self, expression: str | None, from_ns: int, to_ns: int) -> About:
        """Return the same with the display filter of what is shown, cut to a window of time.

        Parameters
        ----------
        expression
            `wireshark` of what the figure is about in the result document; None where Wireshark
            does not read the capture.
        from_ns, to_ns
            Nanoseconds since 1970, by the capture's clock.
        """
        cut = None if expression is None else within(expression, from_ns, to_ns)
        return replace(self, wireshark_filter=cut)
