"""SCTP settings of the ends: as the trace shows them, else the lab's defaults, each with its basis.

The names are those of a scenario's `sctp` table.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ...analyzer.circumstances import can_predict, settings_of
from ..lab.scenario import schema
from .messages import ENDS, HOSTS
from .overrides import of_host

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from ...analyzer.model import Association
    from ...dissectors.ledger import Row
    from .messages import End
    from .overrides import Override

Source = Literal["given", "observed", "inferred", "other-end", "default"]
"""given: by the user; observed: stated in the trace; inferred: from an end's behaviour; other-end:
inferred of the other end, as this one shows nothing of it; default: the lab's own."""

TIMERS = {
    "rto_min_s": "rto_min_ms",
    "rto_max_s": "rto_max_ms",
    "hb_interval_s": "hb_interval_ms",
    "path_max_retrans": "path_max_retrans",
}
"""What the analyzer infers of a sender (docs/metrics.md), and what a scenario calls it."""

OF_FAILOVERS = {
    "rto_initial": "rto_initial_ms",
    "rto_min": "rto_min_ms",
    "rto_max": "rto_max_ms",
    "pmr": "path_max_retrans",
    "hb_interval": "hb_interval_ms",
}
"""What one failover shows (docs/explain.md)."""

SHARED = (*TIMERS.values(), "rto_initial_ms", "potentially_failed", "pf_max_retrans")
"""Settings of which one end's stand for the other's, where that shows none."""

PROBE_LEAST, PROBE_MOST = 0.5, 1.5
"""A path that the handshake did not confirm is probed once an RTO, varied by half of it (RFC 9260
sections 5.4 and 8.3); before any round trip that is RTO.Initial."""

MOST_SACK_DELAY_MS = 500
"""RFC 9260 section 6.2."""

LEAST_BUFFER_BYTES, MOST_BUFFER_BYTES = 4096, 67_108_864
"""What a scenario takes."""


Value = int | bool


@dataclass(frozen=True, slots=True)
class Chosen:
    """One setting of one end, with where it is from.

    `was` is what it would be if the user had asked for nothing.
    """

    host: str
    name: str
    value: Value
    source: Source
    why: str
    was: Value | None = None


def choose(
    association: Association,
    facts: Row,
    heartbeats: Iterable[Row],
    overrides: tuple[Override, ...],
    *,
    interleaved: bool,
) -> list[Chosen]:
    """Return every setting of both ends.

    Parameters
    ----------
    association
        As analyzed.
    facts
        Its row of the ledger's table `associations`.
    heartbeats
        Its rows of the table `heartbeats`, in time order.
    overrides
        What the user asks for.
    interleaved
        Whether any message came in I-DATA.
    """
    rows = list(heartbeats)
    shown = {end: _shown(association, facts, rows, end, interleaved=interleaved) for end in ENDS}
    for end, other in (ENDS, ENDS[::-1]):
        known = _of_other_end(shown[other]) | shown[end]
        shown[end] = _beats(association, end, known) | shown[end]
    found = []
    for end, other in (ENDS, ENDS[::-1]):
        known = _of_other_end(shown[other]) | shown[end]
        given = of_host(overrides, HOSTS[end])
        usual = {one.name: one.value for one in _filled(HOSTS[end], known, {})}
        made = _filled(HOSTS[end], known, given)
        found += [replace(one, was=usual.get(one.name)) for one in made]
    return found


def _of_other_end(shown: Known) -> Known:
    return {
        name: ("other-end", value, why)
        for name, (source, value, why) in shown.items()
        if name in SHARED and source == "inferred"
    }


def _beats(association: Association, end: End, known: Known) -> Known:
    """HB.Interval where only the period of HEARTBEATs is known: less one RTO (section 8.3)."""
    period = association.timers[end].get("heartbeat_period_s")
    if period is None or period.measure.value is None:
        return {}
    least_ms = known["rto_min_ms"][1] if "rto_min_ms" in known else _default("rto_min_ms")
    value = max(1, round(period.measure.value * 1000) - int(least_ms))
    why = f"{period.text}, less an RTO of {least_ms} ms"
    return {"hb_interval_ms": ("inferred", value, why)}


def _default(name: str) -> int:
    rule: dict[str, Any] = schema()["$defs"]["sctp"]["properties"][name]
    return int(rule["default"])


Known = dict[str, tuple[Source, Value, str]]


def _filled(host: str, known: Known, given: Mapping[str, Value]) -> list[Chosen]:
    """Return all settings of one end: given before known before the lab's own."""
    rules: dict[str, Any] = schema()["$defs"]["sctp"]["properties"]
    found: dict[str, Chosen] = {}
    for name, rule in rules.items():
        if name in given:
            found[name] = Chosen(host, name, given[name], "given", "--sctp")
        elif name in known:
            source, value, why = known[name]
            found[name] = Chosen(host, name, value, source, why)
        elif "default" in rule:
            found[name] = Chosen(host, name, rule["default"], "default", "the lab's default")
    _order(found)
    return list(found.values())


def _order(found: dict[str, Chosen]) -> None:
    """Keep RTO.Min <= RTO.Max (RFC 9260 section 6.3.1), and RTO.Initial between them.

    What was given stands; else the more certain one does, and the other follows.
    """
    low, high = found["rto_min_ms"], found["rto_max_ms"]
    if low.value > high.value:
        moved, fixed = (low, high) if _rank(low) > _rank(high) else (high, low)
        found[moved.name] = _following(moved, int(fixed.value), fixed.name)
    initial = found["rto_initial_ms"]
    if initial.source == "given":
        return
    for bound, pick in (("rto_max_ms", min), ("rto_min_ms", max)):
        initial = found["rto_initial_ms"]
        value = pick(int(initial.value), int(found[bound].value))
        if value != initial.value:
            found["rto_initial_ms"] = _following(initial, value, bound)


def _rank(one: Chosen) -> int:
    order: tuple[Source, ...] = ("given", "observed", "inferred", "other-end", "default")
    return order.index(one.source)


def _following(one: Chosen, value: int, bound: str) -> Chosen:
    return Chosen(one.host, one.name, value, one.source, f"{one.why}; kept to {bound}")


def _shown(
    association: Association, facts: Row, heartbeats: list[Row], end: End, *, interleaved: bool
) -> Known:
    found = _initial_rto(association, heartbeats, end)
    for failover in association.handovers:
        if failover.sender == end and can_predict(failover):
            found |= _of_failover(association, failover)
            break
    for name, setting in TIMERS.items():
        timer = association.timers[end].get(name)
        if timer is not None and timer.measure.value is not None:
            found[setting] = ("inferred", _in_ms(setting, timer.measure.value), timer.text)
    delay = association.receivers[end].metrics["sack_delay_s"]
    if delay.value is not None:
        sack_ms = min(round(delay.value * 1000), MOST_SACK_DELAY_MS)
        found["sack_delay_ms"] = ("inferred", sack_ms, "how long SACKs of lone packets took")
    found |= _stated(facts, end, interleaved=interleaved)
    if association.asconf:
        found["asconf"] = ("observed", True, "ASCONF was sent")
    return found


def _of_failover(association: Association, failover: Any) -> Known:
    seen = settings_of(association, failover)
    why = f"the failover at frame {failover.instants['t_first_new'].frame}"
    found: Known = {}
    for name, setting in OF_FAILOVERS.items():
        one = getattr(seen, name)
        if one.source == "inferred" and one.value is not None:
            found[setting] = ("inferred", _in_ms(setting, one.value), why)
    if seen.pf.source == "inferred":
        found["potentially_failed"] = ("inferred", seen.pf.value is not None, why)
        if seen.pf.value is not None:
            found["pf_max_retrans"] = ("inferred", int(seen.pf.value), why)
    return found


def _initial_rto(association: Association, heartbeats: list[Row], end: End) -> Known:
    """RTO.Initial by the first HEARTBEAT on a path that the handshake did not confirm."""
    for row in heartbeats:
        since_ns = _known_since_ns(association, row["path"], end)
        if row["sender"] != end or row["path"] == 0 or since_ns is None:
            continue
        waited_ms = (row["time_ns"] - since_ns) / 1e6
        if waited_ms <= 0:
            return {}
        low, high = waited_ms / PROBE_MOST, waited_ms / PROBE_LEAST
        default = _default("rto_initial_ms")
        value = default if low <= default <= high else max(1, round(waited_ms))
        why = f"the first HEARTBEAT to another path came {waited_ms:.0f} ms after it was known"
        return {"rto_initial_ms": ("inferred", value, why)}
    return {}


def _known_since_ns(association: Association, path: int, end: End) -> int | None:
    """Return since when an end could use a path: the handshake, or its ASCONF that added to it.

    None where the peer added to it: what it then probes need not wait.
    """
    addresses = {association.paths[path].a_address, association.paths[path].b_address}
    added = [one for one in association.asconf if one.request == "add" and one.address in addresses]
    if not added:
        return association.established.ns
    return added[0].ack.ns if added[0].sender == end else None


def _stated(facts: Row, end: End, *, interleaved: bool) -> Known:
    """What the handshake says."""
    found: Known = {}
    extensions = facts[f"{end}_extensions"] or ""
    if facts["seen_handshake"]:
        pr = "Forward-TSN-Supported" in extensions
        found["partial_reliability"] = (
            "observed",
            pr,
            f"a handshake {'with' if pr else 'without'} Forward-TSN",
        )
        asconf = "ASCONF" in extensions
        found["asconf"] = (
            "observed",
            asconf,
            f"a handshake {'with' if asconf else 'without'} ASCONF",
        )
    if interleaved:
        found["interleaving"] = ("observed", True, "messages in I-DATA")
    window = facts[f"{end}_initial_rwnd_bytes"]
    if window is not None and LEAST_BUFFER_BYTES <= window <= MOST_BUFFER_BYTES:
        found["receive_buffer_bytes"] = ("observed", window, "a_rwnd of the handshake")
    port = facts["b_udp_port"]
    if port:
        found["udp_port"] = ("observed", port, "SCTP in UDP (RFC 6951)")
    return found


def _in_ms(setting: str, value: float) -> int:
    return max(1, round(value * 1000)) if setting.endswith("_ms") else int(value)
