"""At which other settings a handover is worth a second look, and what it would have cost there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..circumstances import circumstances, settings_of
from ..settings import COUNTS, NAMES, OFF, SUGGESTED
from ..whatif import expiries_to_move, predict
from .model import Alternative

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..model import Association, Handover
    from ..settings import Settings

Given = dict[str, float | None]

FEWER_EXPIRIES = 2
"""Path.Max.Retrans that is worth a look: each expiry less halves a failover that doubles."""

LEAST_RTO_S = 0.3
"""RTO.Min below the usual SACK delay of 200 ms and a round trip makes needless time-outs."""

SHORT_INTERVAL_S = 0.5
"""HB.interval at which a link's return is found in about a second."""


def tell_alternatives(
    association: Association, failure: Handover, given: Given | None, *, is_return: bool
) -> tuple[Alternative, ...]:
    """Predict a failover at its own settings, then at those given, else at a few others.

    Where the return from it is told, only what decides that is tried.
    """
    seen, base = circumstances(association, failure), settings_of(association, failure)
    tried = [given] if given else [*_sensible(base, is_return=is_return)]
    return tuple(
        Alternative(one, setting_text(one) or "as it was", predict(seen, base.changed(one)))
        for one in ({}, *tried)
    )


def _sensible(base: Settings, *, is_return: bool) -> Iterator[Given]:
    if not is_return:
        yield from _sooner(base)
    if (base.hb_interval.value or 0.0) > SHORT_INTERVAL_S:
        yield {"hb_interval": SHORT_INTERVAL_S}
    suggested = {name: getattr(SUGGESTED, name).value for name in NAMES}
    if suggested != {name: getattr(base, name).value for name in NAMES}:
        yield suggested


def _sooner(base: Settings) -> Iterator[Given]:
    """Settings at which the path would be left sooner."""
    if base.pf.value is None and expiries_to_move(base) > 1:
        yield {"pf": 0}
    if (base.pmr.value or 0) > FEWER_EXPIRIES:
        yield {"pmr": FEWER_EXPIRIES}
    elif base.pmr.value:
        yield {"pmr": base.pmr.value - 1}
    least_s = base.rto_min.value or 0.0
    if least_s > LEAST_RTO_S:
        yield {"rto_min": max(LEAST_RTO_S, least_s / 2)}


def setting_text(given: Given) -> str:
    """Return settings as `--set` takes them."""
    return " ".join(f"{name}={_value(name, value)}" for name, value in given.items())


def _value(name: str, value: float | None) -> str:
    if value is None:
        return OFF
    if name in COUNTS:
        return f"{value:g}"
    return f"{value:g}s" if value >= 1 else f"{value * 1e3:g}ms"
