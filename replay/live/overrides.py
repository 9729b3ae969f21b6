"""`--sctp`: settings by the words of RFC 9260, of other parts of pathscope, or of a scenario."""

from __future__ import annotations

import re
from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Literal

from .errors import LiveError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Kind = Literal["time", "count", "switch", "bytes"]
Value = int | bool

ALIASES: dict[str, tuple[str, ...]] = {
    "rto_initial_ms": ("rto_initial", "rto.initial"),
    "rto_min_ms": ("rto_min", "rto.min"),
    "rto_max_ms": ("rto_max", "rto.max"),
    "path_max_retrans": ("pmr", "path.max.retrans"),
    "association_max_retrans": ("amr", "association.max.retrans"),
    "hb_interval_ms": ("hb_interval", "hb.interval", "heartbeat_interval"),
    "sack_delay_ms": ("sack_delay", "sack.delay"),
    "potentially_failed": (),
    "pf_max_retrans": ("pf", "pfmr", "potentiallyfailed.max.retrans"),
    "asconf": (),
    "partial_reliability": ("pr_sctp",),
    "interleaving": ("i_data",),
    "udp_port": (),
    "receive_buffer_bytes": ("receive_buffer",),
    "send_buffer_bytes": ("send_buffer",),
}
"""Settings of a scenario (`scenario.schema.json`), and what else they are called."""

NAMES = {name: setting for setting, aliases in ALIASES.items() for name in (setting, *aliases)}

SWITCHES = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}
SWITCHED = frozenset(("potentially_failed", "asconf", "partial_reliability", "interleaving"))
PF = "pf_max_retrans"

HOSTS = ("client", "server")

MILLISECONDS = {"": 1, "ms": 1, "s": 1000}
LONGEST_MS = 86_400_000
MOST = (1 << 31) - 1

_TIME = re.compile(r"(\d{1,9}(?:\.\d{1,6})?)(ms|s|)")
_COUNT = re.compile(r"\d{1,10}")


@dataclass(frozen=True, slots=True)
class Override:
    """One setting of one end, or of both where `host` is None."""

    host: str | None
    setting: str
    value: Value


def parse_overrides(texts: Iterable[str]) -> tuple[Override, ...]:
    """Read settings such as `rto_min=500`, `pmr=2,pf=off` or `server.sack_delay=100ms`.

    Times are in milliseconds unless `s` stands behind them. `pf=off` is: without RFC 7829.

    Raises
    ------
    LiveError
        Naming the setting, and what was expected.
    """
    parts = [part for text in texts for part in re.split(r"[,\s]+", text.strip()) if part]
    return tuple(found for part in parts for found in _parse(part))


def _parse(text: str) -> list[Override]:
    name, is_there, value = text.partition("=")
    host, dot, rest = name.partition(".")
    if dot and host in HOSTS:
        name = rest
    else:
        host = ""
    setting = NAMES.get(name.lower())
    if setting is None or not is_there:
        close = get_close_matches(name.lower(), NAMES, 1)
        hint = f"; did you mean {close[0]}?" if close and setting is None else ""
        raise LiveError(f"{text}: expected NAME=VALUE, with a setting of SCTP as NAME{hint}")
    of = host or None
    if setting == PF:
        return _potentially_failed(text, of, value)
    return [Override(of, setting, _value(text, setting, value))]


def _potentially_failed(text: str, host: str | None, value: str) -> list[Override]:
    """Read the number of expiries, or `off`; a number switches the state on."""
    if SWITCHES.get(value.lower()) is False:
        return [Override(host, "potentially_failed", False)]
    return [Override(host, "potentially_failed", True), Override(host, PF, _count(text, value))]


def _value(text: str, setting: str, value: str) -> Value:
    if setting in SWITCHED:
        found = SWITCHES.get(value.lower())
        if found is None:
            raise LiveError(f"{text}: expected on or off")
        return found
    if not setting.endswith("_ms"):
        return _count(text, value)
    match = _TIME.fullmatch(value.lower())
    time_ms = round(float(match[1]) * MILLISECONDS[match[2]]) if match else -1
    if not 0 <= time_ms <= LONGEST_MS or (match and not time_ms and float(match[1])):
        raise LiveError(f"{text}: expected a time of whole milliseconds, such as 500 or 2.5s")
    return time_ms


def _count(text: str, value: str) -> int:
    if _COUNT.fullmatch(value) and int(value) <= MOST:
        return int(value)
    raise LiveError(f"{text}: expected a whole number")


def of_host(overrides: Iterable[Override], host: str) -> Mapping[str, Value]:
    """Return what is given for an end; what names the end counts before what does not."""
    found = {one.setting: one.value for one in overrides if one.host is None}
    own = {one.setting: one.value for one in overrides if one.host == host}
    return found | own
