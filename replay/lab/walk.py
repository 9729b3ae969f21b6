"""A walk along access routers, as paths and timed actions: what a scenario's `[walk]` stands for.

The client walks in a straight line past routers that are `2 x range_m - overlap_m` apart, from the
first one on. It hears a router by its beacons, as far as `range_m`. From one router to the next
(RFC 5061; the signalling of cSCTP):

    heard      first beacon of the next router in its range; acquiring an address begins
    added      address acquired: ASCONF Add IP Address
    stronger   first beacon of the next router beyond half the way, or `added` if that is later:
               ASCONF Set Primary Address, and the client's own primary path
    gone       out of the range of the old router, whose link is down from then on
    lost       `lost_after_s` after the last beacon of the old router: ASCONF Delete IP Address

A path is used once a HEARTBEAT on it was answered, not before (RFC 9260 section 5.4): the client
sends one as soon as it may from its new address.

Pure: the same settings and seed give the same walk. The seed sets when each router sends beacons.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from math import ceil, floor
from random import Random
from typing import TYPE_CHECKING, Any

from . import wlan

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST_ROUTERS = 32
"""As many paths as a scenario may have."""


ANSWER_S = 0.4
"""What Add IP Address may take by the old router, with a full queue in front of its answer. Nothing
is sent from the new address before that (RFC 5061 section 5.3)."""


class WalkError(ValueError):
    """A walk that cannot be walked: the key that is wrong, and why."""

    def __init__(self, key: str, what: str) -> None:
        super().__init__(f"{key}: {what}")
        self.key, self.what = key, what


@dataclass(frozen=True, slots=True)
class Handoff:
    """From one router to the next, in seconds of the walk; `router` is the old one's number."""

    router: int
    in_range_s: float
    heard_s: float
    added_s: float
    stronger_s: float
    gone_s: float
    lost_s: float


def handoffs(walk: Mapping[str, Any], seed: int) -> Iterator[Handoff]:
    """Yield the handoffs whose address is acquired before the walk ends.

    Parameters
    ----------
    walk
        `walk` of the scenario schema, every default filled in.
    seed
        Of the routers' beacons.

    Raises
    ------
    WalkError
        When an old router is out of range before the next one's address can be announced.
    """
    speed_m_s, range_m = walk["speed_kmh"] / 3.6, walk["range_m"]
    apart_m, beacon_s = 2 * range_m - walk["overlap_m"], walk["beacon_s"]
    phases = Random(seed)  # noqa: S311 -- a walk that can be repeated, no secret
    old_phase_s = phases.uniform(0, beacon_s)
    for router in count(1):
        phase_s = phases.uniform(0, beacon_s)
        place_m = (router - 1) * apart_m
        in_range_s = (place_m + apart_m - range_m) / speed_m_s
        if router == walk.get("routers") or in_range_s >= walk["duration_s"]:
            return
        if router == MOST_ROUTERS:
            raise WalkError("duration_s", f"it leads past more than {MOST_ROUTERS} routers")
        heard_s = _beacon_from(in_range_s, phase_s, beacon_s)
        added_s = heard_s + walk["acquisition_ms"] / 1000
        half_s = (place_m + apart_m / 2) / speed_m_s
        gone_s = (place_m + range_m) / speed_m_s
        if added_s >= walk["duration_s"]:
            return
        left_s = (gone_s - added_s) / walk["time_scale"]
        if left_s < ANSWER_S:
            when = f"{abs(left_s):.3g} s {'before' if left_s >= 0 else 'after'}"
            late = f"router {router + 1}'s address comes {when} router {router} is out of range"
            raise WalkError("acquisition_ms", f"{late}, expected at least {ANSWER_S:g} s before")
        yield Handoff(
            router,
            in_range_s,
            heard_s,
            added_s,
            max(added_s, _beacon_from(half_s, phase_s, beacon_s)),
            gone_s,
            _beacon_until(gone_s, old_phase_s, beacon_s) + walk["lost_after_s"],
        )
        old_phase_s = phase_s


def _beacon_from(time_s: float, phase_s: float, beacon_s: float) -> float:
    return phase_s + max(0, ceil((time_s - phase_s) / beacon_s)) * beacon_s


def _beacon_until(time_s: float, phase_s: float, beacon_s: float) -> float:
    return phase_s + floor((time_s - phase_s) / beacon_s) * beacon_s


def expanded(walk: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Return what a walk stands for in a scenario: `duration_s`, `paths` and `actions`.

    Times are the run's: those of the walk divided by `time_scale`.

    Raises
    ------
    WalkError
        When it cannot be walked.
    """
    if walk["overlap_m"] > walk["range_m"]:
        raise WalkError("overlap_m", "expected at most range_m: else three routers are in range")
    if walk["lost_after_s"] < walk["beacon_s"]:
        raise WalkError("lost_after_s", "expected at least beacon_s: else every router is lost")
    duration_s = walk["duration_s"] / walk["time_scale"]
    taken = list(handoffs(walk, seed))
    actions: list[dict[str, Any]] = []
    for handoff in taken:
        old, new = _name(handoff.router), _name(handoff.router + 1)
        for at_s, does, path in (
            (0, "link-down", new),
            (handoff.in_range_s, "link-up", new),
            (handoff.added_s, "address-add", new),
            (_probed_s(handoff, walk["time_scale"]), "heartbeat", new),
            (handoff.stronger_s, "set-peer-primary", new),
            (handoff.stronger_s, "set-primary", new),
            (handoff.gone_s, "link-down", old),
            (handoff.lost_s, "address-delete", old),
        ):
            if does in ("link-up", "link-down") and walk["out_of_range"] == "nothing":
                continue
            scaled_s = round(at_s / walk["time_scale"], 6)
            actions.append({"at_s": scaled_s, "do": does, "path": path})
    return {
        "duration_s": duration_s,
        "paths": {_name(n): _path(walk, n) for n in range(1, len(taken) + 2)},
        "actions": [one for one in sorted(actions, key=_time) if one["at_s"] < duration_s],
    }


def _probed_s(handoff: Handoff, time_scale: float) -> float:
    return min(handoff.stronger_s, handoff.added_s + ANSWER_S * time_scale)


def _time(action: Mapping[str, Any]) -> float:
    return float(action["at_s"])


def _name(router: int) -> str:
    return f"router{router}"


def _path(walk: Mapping[str, Any], router: int) -> dict[str, Any]:
    """A subnet a router; the fixed end has an address in each of them from the beginning."""
    both = dict(walk.get("both", {}))
    if "wlan_mbit" in walk:
        both["rate_kbit"] = wlan.net_rate_kbit(walk["wlan_mbit"])
    path: dict[str, Any] = {
        name: dict(walk[name]) for name in ("to_server", "to_client") if name in walk
    }
    return path | {
        "client": f"10.0.{router}.1",
        "server": f"10.0.{router}.2",
        "both": both,
        "at_start": True if router == 1 else "server",
    }
