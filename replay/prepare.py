"""From what a user asks for to a complete replay: routes, interfaces, and the plan of it all."""

from __future__ import annotations

from dataclasses import dataclass, replace
from ipaddress import ip_address, ip_network
from typing import TYPE_CHECKING, Any

from .lab.wires import MOST_MTU, mtu_of
from .packets import sender
from .packets.orders import DIRECTIONS, Orders, Outlet
from .request import Replay
from .routes import NEAR

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from .profiles.profile import Profile
    from .routes import Places

HIDDEN = "/run/"
"""What is under it, the hosts of the lab do not see: each has a /run of its own."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A replay, and what the native sender's plan says of it."""

    replay: Replay
    plan: dict[str, Any]


class NothingToSendError(ValueError):
    """A replay that would send nothing; the message says why not."""


def for_lab(
    orders: Orders,
    profile: Profile | None,
    command: Sequence[str],
    *,
    mtu: int | None = None,
    profile_from_ns: int = 0,
) -> Prepared:
    """Prepare a replay between hosts of the lab: every path has a wire of its own name.

    Parameters
    ----------
    orders
        What the native sender is told, but for the outlets.
    profile
        How paths are impaired; None: not at all.
    command
        The words that asked for it.
    mtu
        Of every wire; None: what the largest frame needs.
    profile_from_ns
        The profile's time at replay time 0.

    Raises
    ------
    NothingToSendError
        When no frame of the trace has a route.
    ValueError
        When the traces are where the lab's hosts do not see them.
    CaptureError
        When a trace cannot be read.
    """
    for trace in orders.trace:
        if trace.startswith(HIDDEN):
            raise ValueError(f"{trace}: the lab's hosts have a {HIDDEN} of their own: copy it")

    def complete(mtu_bytes: int) -> Orders:
        outlets = [
            Outlet(path, direction, device=path, netns=NEAR[direction], mtu=mtu_bytes)
            for path in dict.fromkeys(pair.path for pair in orders.pairs)
            for direction in DIRECTIONS
        ]
        return replace(orders, outlets=tuple(outlets))

    # With wires for anything first: it says how long the frames are.
    asked = complete(mtu or MOST_MTU)
    plan = planned(asked)
    if mtu is None:
        asked = complete(mtu_of(max(route["largest_frame"] for route in plan["routes"])))
    return Prepared(_replay(asked, plan, profile, command, profile_from_ns), plan)


def on_interfaces(
    orders: Orders,
    places: Places,
    profile: Profile | None,
    command: Sequence[str],
    *,
    profile_from_ns: int = 0,
) -> Prepared:
    """Prepare a replay on given interfaces.

    Raises
    ------
    NothingToSendError, CaptureError
        As `for_lab`.
    """
    outlets = [
        Outlet(path, direction, device=device, mtu=mtu)
        for (path, direction), (device, mtu) in places.items()
    ]
    asked = replace(orders, outlets=tuple(outlets))
    plan = planned(asked)
    return Prepared(_replay(asked, plan, profile, command, profile_from_ns), plan)


def planned(orders: Orders) -> dict[str, Any]:
    """Return the native sender's plan for complete orders.

    Raises
    ------
    NothingToSendError
        When no frame is to be sent.
    """
    plan = sender.plan(orders)
    frames = plan["frames"]
    if not frames["planned"]:
        traces = ", ".join(orders.trace)
        why = ", ".join(f"{count} {reason}" for reason, count in left_out(plan).items())
        raise NothingToSendError(
            f"{traces}: of {frames['read']} frames none is sent: {why or 'it is empty'}"
        )
    return plan


def left_out(plan: Mapping[str, Any]) -> dict[str, int]:
    """Return how many frames of a plan are not sent, by the reason."""
    frames = plan["frames"]
    found = {**frames["not_sent"], "filtered": frames["filtered"]}
    found["outside the window"] = frames["outside_window"]
    return {reason: count for reason, count in found.items() if count}


def reseeded(profile: Profile | None, seed: int | None) -> Profile | None:
    """Return the profile with another seed, where one is given."""
    if profile is None or seed is None:
        return profile
    from .profiles.profile import parse

    return parse({**profile.document(), "seed": seed})


def _replay(
    orders: Orders,
    plan: Mapping[str, Any],
    profile: Profile | None,
    command: Sequence[str],
    profile_from_ns: int,
) -> Replay:
    asked = Replay(
        orders=orders,
        profile=profile if profile is not None and profile.impairs else None,
        profile_from_ns=profile_from_ns,
        duration_ns=plan["duration_ns"] or 0,
        frames=plan["frames"]["planned"],
        labels=labels(orders),
        command=list(command),
    )
    asked.steps()  # A profile that cannot be followed is refused before anything is made.
    return asked


def labels(orders: Orders) -> list[str]:
    """Return rules that name the paths in what is recorded: addresses that one path alone has."""
    owners: dict[str, set[str]] = {}
    for pair in orders.pairs:
        for address in (pair.a, pair.b):
            owners.setdefault(mapped(address, orders.mapping.addresses), set()).add(pair.path)
    return [f"{address}={next(iter(own))}" for address, own in owners.items() if len(own) == 1]


def destinations(orders: Orders) -> list[str]:
    """Return the addresses that frames are sent to, each once."""
    routes = {(outlet.path, outlet.direction) for outlet in orders.outlets}
    found = [
        mapped(address, orders.mapping.addresses)
        for pair in orders.pairs
        for address, direction in ((pair.b, "to_server"), (pair.a, "to_client"))
        if (pair.path, direction) in routes
    ]
    return list(dict.fromkeys(found))


def mapped(address: str, rules: Iterable[Sequence[str]]) -> str:
    """Return what an address is sent as: by the longest prefix that it is in."""
    given = ip_address(address)
    found = [
        (before, ip_network(new, strict=False))
        for before, new in ((ip_network(old, strict=False), new) for old, new in rules)
        if given.version == before.version and given in before
    ]
    if not found:
        return str(given)
    before, after = max(found, key=lambda rule: rule[0].prefixlen)
    return str(after.network_address + (int(given) - int(before.network_address)))
