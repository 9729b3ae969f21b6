"""Settings of a sender that decide how long a failover takes: inferred, assumed, or asked for.

RFC 9260 section 16 names them and suggests values; PotentiallyFailed.Max.Retrans is of RFC 7829.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable

Source = Literal["inferred", "assumed", "given"]
"""inferred: from the sender's behaviour; assumed: the RFC's suggestion; given: by the user."""

LONGEST_S = 86_400
"""A day: longer times are slips of the keyboard."""

MOST_EXPIRIES = 255

_TIME = re.compile(r"(?P<number>\d{1,9}(?:\.\d{1,9})?)(?P<unit>ms|s)")
_COUNT = re.compile(r"\d{1,3}")
_UNITS_S = {"ms": 1e-3, "s": 1.0}
OFF = "off"


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting with its bounds; times in seconds. None stands for a mechanism that is off."""

    value: float | None
    source: Source
    low: float | None = None
    high: float | None = None

    @property
    def bounds(self) -> tuple[float | None, float | None]:
        """Least and greatest value that fits; a given or assumed one is what it is."""
        low = self.value if self.low is None else self.low
        return low, self.value if self.high is None else self.high


@dataclass(frozen=True, slots=True)
class Settings:
    """What a failover depends on, by the names that `--set` takes.

    Attributes
    ----------
    rto_initial, rto_min, rto_max
        RTO.Initial, RTO.Min, RTO.Max (RFC 9260 section 6.3.1).
    pmr
        Path.Max.Retrans: a path is given up at one expiry more (section 8.2).
    pf
        PotentiallyFailed.Max.Retrans: new DATA leaves at one expiry more (RFC 7829); None: the
        sender has no such state.
    hb_interval
        HB.interval (section 8.3).
    """

    rto_initial: Setting
    rto_min: Setting
    rto_max: Setting
    pmr: Setting
    pf: Setting
    hb_interval: Setting

    def changed(self, given: dict[str, float | None]) -> Settings:
        """Return the settings with some of them given.

        RTO.Min is at most RTO.Max: where only one of them is given, the other follows it.
        """
        found = replace(self, **{name: Setting(value, "given") for name, value in given.items()})
        low, high = found.rto_min.value or 0.0, found.rto_max.value or 0.0
        if low > high and "rto_min" in given:
            return replace(found, rto_max=found.rto_min)
        return replace(found, rto_min=found.rto_max) if low > high else found


SUGGESTED = Settings(
    rto_initial=Setting(1.0, "assumed"),
    rto_min=Setting(1.0, "assumed"),
    rto_max=Setting(60.0, "assumed"),
    pmr=Setting(5, "assumed"),
    pf=Setting(None, "assumed"),
    hb_interval=Setting(30.0, "assumed"),
)
"""RFC 9260 section 16, without RFC 7829."""

NAMES = tuple(field.name for field in fields(Settings))
COUNTS = frozenset(("pmr", "pf"))
ALIASES = {"path_max_retrans": "pmr", "pf_max_retrans": "pf"}


def parse_settings(texts: Iterable[str]) -> dict[str, float | None]:
    """Read settings such as `rto_min=500ms`, `pmr=2`, `pf=off`; several may stand in one text.

    Raises
    ------
    ValueError
        Naming the setting, and what was expected.
    """
    given: dict[str, float | None] = {}
    for text in (part for texts_ in texts for part in re.split(r"[,\s]+", texts_.strip())):
        name, is_there, value = text.partition("=")
        known = ALIASES.get(name, name)
        if known not in NAMES or not is_there:
            raise ValueError(
                f"{text or 'nothing'}: expected NAME=VALUE, and as NAME one of {', '.join(NAMES)}"
            )
        given[known] = _count(text, value) if known in COUNTS else _time_s(text, value)
    low, high = given.get("rto_min"), given.get("rto_max")
    if low is not None and high is not None and low > high:
        raise ValueError("rto_min is above rto_max: RFC 9260 section 6.3.1 wants it the other way")
    return given


def _count(text: str, value: str) -> float | None:
    if text.startswith("pf") and value == OFF:
        return None
    if _COUNT.fullmatch(value) and int(value) <= MOST_EXPIRIES:
        return int(value)
    off = f", or {OFF}" if text.startswith("pf") else ""
    raise ValueError(f"{text}: expected a number of expiries, 0 to {MOST_EXPIRIES}{off}")


def _time_s(text: str, value: str) -> float:
    match = _TIME.fullmatch(value)
    time_s = float(match["number"]) * _UNITS_S[match["unit"]] if match else 0.0
    if not 0.001 <= time_s <= LONGEST_S:
        raise ValueError(f"{text}: expected a time from 1ms to {LONGEST_S}s, such as 500ms or 2.5s")
    return time_s
