"""What a packet replay is to do, as its folder's `replay.json` has it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..analyzer.json_text import parsed
from .lab.folder import REPLAY
from .packets.orders import (
    BitRate,
    Late,
    Mapping,
    Orders,
    Original,
    Outlet,
    PacketRate,
    Pair,
    TopSpeed,
)
from .profiles.profile import parse
from .profiles.schedule import schedule

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from .packets.orders import Pace
    from .profiles.profile import Profile
    from .profiles.schedule import Step

SCHEMA = "pathscope.replay/1"

PACES: dict[str, Callable[..., Pace]] = {
    "original": Original,
    "pps": PacketRate,
    "rate": BitRate,
    "top": TopSpeed,
}
"""By the mode that orders call them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A replay that was asked for, complete: it needs no look at anything but the traces.

    Attributes
    ----------
    orders
        What the native sender is told.
    profile
        None: nothing is impaired.
    profile_from_ns
        The profile's time at replay time 0: above 0 for one that tells of the whole trace, of which
        the beginning is not replayed.
    duration_ns
        Until the last frame is due.
    frames
        How many frames are planned, all loops together.
    labels
        Rules for the names of the paths in what is recorded, as `10.0.1.1=wlan`.
    command
        The words that asked for it.
    """

    orders: Orders
    profile: Profile | None = None
    profile_from_ns: int = 0
    duration_ns: int = 0
    frames: int = 0
    labels: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    @classmethod
    def of_run(cls, folder: Path) -> Replay:
        """Return what the folder of a replay says."""
        told = parsed((folder / REPLAY).read_text(encoding="utf-8"))
        del told["schema"]
        profile = told["profile"]
        told["profile"] = None if profile is None else parse(profile)
        return cls(**told | {"orders": _orders(told["orders"])})

    def write(self, folder: Path) -> None:
        """Write it into the folder of a replay."""
        told = {"schema": SCHEMA} | {name: getattr(self, name) for name in self.__slots__}
        told["orders"] = self.orders.to_dict()
        told["profile"] = None if self.profile is None else self.profile.document()
        text = json.dumps(told, indent=1, ensure_ascii=False)
        (folder / REPLAY).write_text(text + "\n", encoding="utf-8")

    @property
    def mtu_by_path(self) -> dict[str, int]:
        """MTU of each path, in the order of the paths."""
        return {outlet.path: outlet.mtu for outlet in self.orders.outlets}

    @property
    def seed(self) -> int | None:
        """The seed of the profile's random values."""
        return None if self.profile is None else self.profile.seed

    def steps(self) -> list[Step]:
        """Return the impairments of every route, by time; none without a profile."""
        if self.profile is None:
            return []
        start_ns = self.profile_from_ns
        known = schedule(self.profile, list(self.mtu_by_path), start_ns + self.duration_ns)
        # Of what is over before the start, the last is what each route begins with.
        first = {(step.path, step.direction): step for step in known if step.at_ns <= start_ns}
        later = [step for step in known if step.at_ns > start_ns]
        return [replace(step, at_ns=0) for step in first.values()] + [
            replace(step, at_ns=step.at_ns - start_ns) for step in later
        ]


def _orders(told: dict[str, Any]) -> Orders:
    """Return orders of which `Orders.to_dict` made this."""
    pace = dict(told["pace"])
    mapping = told["mapping"]
    by_direction = isinstance(mapping["macs"], dict)
    return Orders(
        **told
        | {
            "trace": tuple(told["trace"]),
            "pairs": tuple(Pair(**pair) for pair in told["pairs"]),
            "outlets": tuple(Outlet(**outlet) for outlet in told["outlets"]),
            "taken": tuple(told["taken"]),
            "udp_ports": tuple(told["udp_ports"]),
            "pace": PACES[pace.pop("mode")](**pace),
            "mapping": Mapping(
                addresses=_pairs(mapping["addresses"]),
                ports=_pairs(mapping["ports"]),
                macs=() if by_direction else _pairs(mapping["macs"]),
                mac_ends=mapping["macs"] if by_direction else {},
            ),
            "late": Late(**told["late"]),
        }
    )


def _pairs(told: list[list[Any]]) -> tuple[tuple[Any, Any], ...]:
    return tuple((before, after) for before, after in told)
