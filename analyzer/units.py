"""The units of quantities, and those that a study shows them in."""

from __future__ import annotations

SHOWN: dict[str, dict[str, float]] = {
    "bit/s": {"Mbit/s": 1e-6, "kbit/s": 1e-3},
    "s": {"s": 1.0, "ms": 1e3},
    "1": {"": 1.0, "%": 1e2},
}
"""By unit: what it can be shown in, the usual first, and what a number is multiplied by then."""


def scaled(unit: str, wanted: str | None = None) -> tuple[float, str]:
    """Return what a number is multiplied by to be shown, and the unit that it is shown in.

    Parameters
    ----------
    unit
        The number's own.
    wanted
        The one to show it in; None for the usual.

    Raises
    ------
    KeyError
        When it cannot be shown in that.
    """
    known = SHOWN.get(unit, {unit: 1.0})
    chosen = next(iter(known)) if wanted is None else wanted
    return known[chosen], chosen
