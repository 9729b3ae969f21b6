"""What a packet replay is to do, as its folder's `replay.json` has it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from .profiles.schedule import Step

SCHEMA = "pathscope.replay/1"
LOG_FORMAT = "pathscope.replay-log/1"
FILE = "replay.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """A replay that was asked for, complete: it needs no look at anything but the traces.

    Attributes
    ----------
    orders
        What the native sender is told.
    profile
        The document of a profile; None: nothing is impaired.
    duration_ns
        Until the last frame is due.
    frames
        How many frames are planned, all loops together.
    labels
        Rules for the names of the paths in what is recorded, as `10.0.1.1=wlan`.
    command
        The words that asked for it.
    inputs
        SHA-256 of each trace, by its name.
    versions
        Of pathscope, and of what else is known.
    """

    orders: dict[str, Any]
    profile: dict[str, Any] | None = None
    duration_ns: int = 0
    frames: int = 0
    labels: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    versions: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of_run(cls, folder: Path) -> Replay:
        """Return what the folder of a replay says."""
        told = json.loads((folder / FILE).read_text(encoding="utf-8"))
        del told["schema"]
        return cls(**told)

    def write(self, folder: Path) -> None:
        """Write it into the folder of a replay."""
        told = {"schema": SCHEMA} | {name: getattr(self, name) for name in self.__slots__}
        text = json.dumps(told, indent=1, ensure_ascii=False)
        (folder / FILE).write_text(text + "\n", encoding="utf-8")

    @property
    def outlets(self) -> list[dict[str, Any]]:
        """Interface of each route, in the order of the routes."""
        found: list[dict[str, Any]] = self.orders["outlets"]
        return found

    @property
    def mtu_by_path(self) -> dict[str, int]:
        """MTU of each path, in the order of the paths."""
        return {outlet["path"]: outlet["mtu"] for outlet in self.outlets}

    @property
    def seed(self) -> int | None:
        """The seed of the profile's random values."""
        return None if self.profile is None else self.profile.get("seed")

    def steps(self) -> list[Step]:
        """Return the impairments of every route, by time; none without a profile."""
        if self.profile is None:
            return []
        from .profiles.profile import parse
        from .profiles.schedule import schedule

        return schedule(parse(self.profile), list(self.mtu_by_path), self.duration_ns)

    def header(self) -> dict[str, Any]:
        """Return the header of the log, but for the instants that are not known yet."""
        names = ("path", "direction", "device", "netns")
        routes: list[Mapping[str, Any]] = [
            {name: outlet[name] for name in names} for outlet in self.outlets
        ]
        return {
            "format": LOG_FORMAT,
            "command": self.command,
            "input_sha256": self.inputs,
            "seed": self.seed,
            "routes": routes,
            "versions": self.versions,
        }
