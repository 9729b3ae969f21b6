"""What is done while the messages are sent again: the profile's steps and the ends' own acts.

A profile counts from the trace's first frame, actions of the lab from when the association is up.
Before that, a path is as the profile has it at that instant.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from .errors import LiveError
from .messages import HOSTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ...analyzer.model import Association, Handover
    from ..profiles.schedule import Step
    from .paths import Paths

NS_PER_S = 1_000_000_000

MOST_ACTIONS = 20_000
"""Each is a line of the scenario, an event of the log, and a command for `tc`."""

ALL_LOST = 100
"""Percent: a link that is down."""

DIRECTIONS = ("to_server", "to_client")

ASCONF_ACTS = {
    "add": "address-add",
    "delete": "address-delete",
    "set-primary": "set-peer-primary",
}

Impairment = dict[str, Any]
Action = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Timeline:
    """What is done.

    Attributes
    ----------
    at_first
        By path and direction, what each link is like when the association is set up.
    actions
        Of a scenario, by time.
    warnings
        What cannot be done.
    """

    at_first: dict[str, dict[str, Impairment]]
    actions: tuple[Action, ...]
    warnings: tuple[str, ...] = ()

    def before(self, actions: Sequence[Action]) -> Timeline:
        """Return the same with actions before its own."""
        return replace(self, actions=(*actions, *self.actions))


def of_steps(
    steps: Iterable[Step], names: Mapping[str, str], zero_ns: int, end_ns: int
) -> Timeline:
    """Return what a schedule does.

    Parameters
    ----------
    steps
        By time since the trace's first frame.
    names
        The lab's name of each path of the steps.
    zero_ns
        When the association was up, since the trace's first frame.
    end_ns
        When the run is over, since then.

    Raises
    ------
    LiveError
        When there are too many.
    """
    at_first: dict[str, dict[str, Impairment]] = {name: {} for name in names.values()}
    later: dict[tuple[int, str], dict[str, Impairment]] = defaultdict(dict)
    beyond = 0
    for step in steps:
        name, at_ns = names[step.path], step.at_ns - zero_ns
        if at_ns <= 0:
            at_first[name][step.direction] = step.impairment
        elif at_ns < end_ns:
            later[at_ns, name][step.direction] = step.impairment
        else:
            beyond += 1
    if 2 * len(later) > MOST_ACTIONS:
        raise LiveError(
            f"the profile has {len(later)} steps in this time, live mode takes"
            f" {MOST_ACTIONS // 2}: make them coarser"
        )
    warnings = (f"{beyond} steps of the profile are after the end",) if beyond else ()
    return Timeline(at_first, tuple(_actions(at_first, later)), warnings)


def _actions(
    at_first: Mapping[str, Mapping[str, Impairment]],
    later: Mapping[tuple[int, str], Mapping[str, Impairment]],
) -> Iterator[Action]:
    down = {
        (name, direction): _is_down(impairment)
        for name, ways in at_first.items()
        for direction, impairment in ways.items()
    }
    for (at_ns, name), ways in sorted(later.items(), key=lambda item: item[0]):
        acts = {
            direction: _act(down.get((name, direction), False), impairment)
            for direction, impairment in ways.items()
        }
        down |= {(name, direction): _is_down(ways[direction]) for direction in ways}
        same = list(acts.values())
        if len(same) == len(DIRECTIONS) and same[0] == same[1]:
            acts = {"both": same[0]}
        for direction, act in acts.items():
            yield {"at_s": at_ns / NS_PER_S, "path": name, "direction": direction, **act}


def _act(was_down: bool, impairment: Impairment) -> Action:
    """Say that a link goes or comes where it does: events about links are what analyses know."""
    if _is_down(impairment):
        return {"do": "link-down"}
    does = "link-up" if was_down else "impair"
    return {"do": does, "reset": True, "impairment": impairment}


def _is_down(impairment: Impairment) -> bool:
    return bool(impairment.get("loss_percent", 0) >= ALL_LOST)


def of_association(association: Association, paths: Paths, zero_ns: int, end_ns: int) -> Timeline:
    """Return what the ends did: ASCONF, and moves of data that nothing but their user explains.

    Parameters
    ----------
    association
        As analyzed.
    paths
        The lab's.
    zero_ns
        When the association was up, on the capture's clock.
    end_ns
        When the run is over, since then.
    """
    acts: list[tuple[int, Action]] = []
    warnings: list[str] = []
    for request in association.asconf:
        does, host = ASCONF_ACTS.get(request.request), HOSTS[request.sender]
        path = _with_address(paths, request.sender, request.address)
        if does is None or path is None or request.at.ns is None:
            warnings.append(f"{host}: ASCONF {request.request} of {request.address} is left out")
        elif request.outcome != "success":
            warnings.append(
                f"{host}: ASCONF {request.request} of {request.address} is asked again; its outcome"
                f" in the trace was {request.outcome}"
            )
        if does is not None and path is not None and request.at.ns is not None:
            acts.append((request.at.ns, {"do": does, "path": path, "host": host}))
    for move in association.handovers:
        to = paths.of_trace(move.to_path)
        moved_ns = _own_move_ns(association, move)
        if to is not None and moved_ns is not None:
            host = HOSTS[move.sender]
            acts.append((moved_ns, {"do": "set-primary", "path": to.name, "host": host}))
    made = []
    for at_ns, act in sorted(acts, key=lambda item: item[0]):
        since_ns = max(0, at_ns - zero_ns)
        if since_ns < end_ns:
            made.append({"at_s": since_ns / NS_PER_S, **act})
    return Timeline({}, tuple(made), tuple(warnings))


def _own_move_ns(association: Association, move: Handover) -> int | None:
    """Return when a sender moved its own data by itself; None where something else moved it.

    To ask the peer for another primary path moves the peer's data, not one's own.
    """
    asked = {one.sender for one in association.asconf if one.request == "set-primary"}
    own = move.cause == "user-change" or (move.cause == "set-primary" and move.sender in asked)
    if not own:
        return None
    decided, last = (move.instants[name].ns for name in ("t_decision", "t_last_data_old"))
    return last if decided is None else decided


def _with_address(paths: Paths, end: str, address: str | None) -> str | None:
    """Return the path that has an address of an end in the trace."""
    side = "a_address" if end == "a" else "b_address"
    return next((path.name for path in paths.paths if getattr(path.trace, side) == address), None)


def at_start(association: Association, paths: Paths) -> dict[str, bool | str]:
    """Return which ends have their address of each path from the beginning, by path.

    An end has it later when it told its peer of it by ASCONF.
    """
    added = {(one.sender, one.address) for one in association.asconf if one.request == "add"}
    found: dict[str, bool | str] = {}
    for path in paths.paths:
        client = ("a", path.trace.a_address) not in added
        server = ("b", path.trace.b_address) not in added
        both = client and server
        neither = not client and not server
        found[path.name] = both if both or neither else ("client" if client else "server")
    return found


def merged(*parts: Sequence[Action]) -> list[Action]:
    """Return actions of several kinds by time; links change before ends act on it."""
    found = [action for part in parts for action in part]
    return sorted(found, key=lambda action: action["at_s"])
