"""How an interface is impaired without touching its qdiscs: its packets take a way round.

A filter redirects them to an interface of our own (ifb), whose root qdisc impairs them and which
hands them back: outgoing ones to the queue that they were on their way to, incoming ones to the
stack. The kernel filters a packet that comes back no second time (`tc_skip_classify`).

So the interface's own root qdisc stays where it is, with its classes, filters, statistics, and the
packets in it: what is never removed need not be restored, nor could its statistics be. The filter
sits in the interface's clsact, after every filter that is there; one is added where there is none.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from . import commands
from .commands import InterfaceError

Hook = Literal["egress", "ingress"]
HOOKS: tuple[Hook, ...] = ("egress", "ingress")

LAST_PREFERENCE = 65535

OURS = "psifb"
"""How the names of our own interfaces begin; a mark and a number follow, 15 characters at most."""

EVERY_PACKET = "1,6 0 0 4294967295"
"""One instruction: a match. A u32 filter would share its tables with others of the clsact."""

QUEUE_PACKETS = 1000
"""Of the ifb towards the interface; its default of 32 stops the impairing qdisc at every burst."""


@dataclass(frozen=True, slots=True)
class Diversion:
    """One interface's packets of one direction, and the ifb that they go over."""

    hook: Hook
    ifb: str
    preference: int


def hooks_of(device: str) -> str | None:
    """Return which qdisc of an interface holds such filters: "clsact", "ingress" or None."""
    found = re.search(
        r"^qdisc (clsact|ingress) ", commands.run("tc", "qdisc", "show", "dev", device), re.M
    )
    return found[1] if found else None


def plan(device: str, hook: Hook, ifb: str, kind: str | None) -> Diversion:
    """Say how packets can be diverted, behind the filters that are there.

    Raises
    ------
    InterfaceError
        When they cannot.
    """
    if kind == "ingress" and hook == "egress":
        raise InterfaceError(
            f"{device}: its ingress qdisc holds no filters for outgoing packets, and a clsact, "
            "which does, cannot stand beside it; with a clsact in its place "
            f"(tc qdisc del dev {device} ingress; tc qdisc add dev {device} clsact) this works"
        )
    shown = filters(device, hook, kind)
    if left := re.search(rf"{OURS}\w+", shown):
        raise InterfaceError(
            f"{device}: a replay that is gone left a filter to {left[0]} there, and no journal "
            "here tells of it: whoever made it has it"
        )
    taken = {int(text) for text in re.findall(r" pref (\d+) ", shown)}
    free = next(number for number in range(LAST_PREFERENCE, 0, -1) if number not in taken)
    if taken and free < max(taken):
        raise InterfaceError(f"{device}: its {hook} filters leave no preference behind them")
    return Diversion(hook, ifb, free)


def filters(device: str, hook: Hook, kind: str | None) -> str:
    """Return what `tc` shows of the filters of a hook; nothing where none can be."""
    if kind is None or (kind == "ingress" and hook == "egress"):
        return ""
    return commands.run("tc", "filter", "show", "dev", device, hook)


def make_ifb(name: str) -> None:
    """Make the interface that impairs.

    Raises
    ------
    InterfaceError
        When the kernel has none.
    """
    commands.run("ip", "link", "add", "name", name, "type", "ifb")
    # Else it would get an address, and its own packets would count among those impaired.
    commands.run("ip", "link", "set", name, "addrgenmode", "none", "txqueuelen", str(QUEUE_PACKETS))
    commands.run("ip", "link", "set", name, "up")


def divert(device: str, way: Diversion, mark: str) -> None:
    """Let an interface's packets go over an ifb; `mark` is hexadecimal and tells our filter.

    Raises
    ------
    InterfaceError
        When the kernel refuses.
    """
    commands.run(
        *("tc", "filter", "add", "dev", device, way.hook, "pref", str(way.preference)),
        *("protocol", "all", "bpf", "bytecode", EVERY_PACKET, "skip_hw"),
        *("action", "mirred", "egress", "redirect", "dev", way.ifb, "cookie", mark),
    )


def return_to_normal(device: str, way: Diversion, mark: str) -> None:
    """Remove our filter, if it is there.

    Raises
    ------
    InterfaceError
        When the kernel refuses.
    """
    kind = hooks_of(device)
    place = ("dev", device, way.hook, "pref", str(way.preference))
    if kind and f"cookie {mark}" in filters(device, way.hook, kind):
        commands.run("tc", "filter", "del", *place)


def remove_ifb(name: str) -> None:
    """Remove an ifb, if it is there.

    Raises
    ------
    InterfaceError
        When the kernel refuses.
    """
    if any(row["ifname"] == name for row in commands.table("ip", "-j", "link", "show")):
        commands.run("ip", "link", "del", "dev", name, "type", "ifb")


def drop_clsact(device: str) -> bool:
    """Remove a clsact that we added, if it is there; False when others have filters in it.

    Raises
    ------
    InterfaceError
        When the kernel refuses.
    """
    if hooks_of(device) == "clsact":
        if any(filters(device, hook, "clsact") for hook in HOOKS):
            return False
        commands.run("tc", "qdisc", "del", "dev", device, "clsact")
    return True
