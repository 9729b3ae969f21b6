"""A packet replay from outside: its folder, the kernel that makes it, and what is made of it."""

from __future__ import annotations

import json
import signal
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from . import evidence
from .fidelity.measure import measure
from .lab import events, folder, guest, host, recordings, tools
from .lab.plan import HOSTS
from .lab.run import LabError
from .lab.scenario import ENDS
from .packets import log
from .perform import DRAIN_S, LOG, STOP

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from .fidelity.model import Fidelity
    from .fidelity.tolerances import Tolerances
    from .request import Replay

MODULE = "pathscope.replay.lab.replaying"

SETUP_S = 90
"""How long it may take beyond its own time: a guest boots, and all of it on a busy machine."""

SLOWEST_PPS = 5000
"""What is sent as fast as it goes, or late, is sent at least so fast."""

FAILURES = (guest.GuestError, host.HostError, recordings.RecordingError)

REPORT = "fidelity.json"


class Stopped(LabError):
    """A replay that was ended early; what was sent until then is in its folder."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A replay that was made: its folder, and how true it was."""

    folder: Path
    fidelity: Fidelity


def in_lab(
    asked: Replay,
    out: Path,
    runner: Literal["host", "guest"],
    tolerances: Tolerances,
    *,
    force: bool = False,
) -> Outcome:
    """Replay between hosts of the lab, and measure how true it was.

    Raises
    ------
    FolderError
        When the folder cannot be used.
    Stopped
        When it was ended early, by SIGINT.
    LabError
        When the replay fails; the folder keeps its logs, and what was sent.
    """
    kernel = guest if runner == "guest" else host
    limit_s = asked.duration_ns / 1e9 + asked.frames / SLOWEST_PPS + DRAIN_S + SETUP_S

    def perform() -> None:
        with stoppable(out):
            kernel.run(out, limit_s, MODULE)

    return made(asked, out, runner, tolerances, perform, force=force)


def made(
    asked: Replay,
    out: Path,
    runner: str,
    tolerances: Tolerances,
    perform: Callable[[], None],
    *,
    force: bool,
) -> Outcome:
    """Claim the folder, let the replay be performed, and conclude from what was recorded."""
    folder.claim(out, force=force)
    told: dict[str, Any] = {
        "kind": "replay",
        "description": f"replay of {', '.join(asked.inputs)}",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": asked.seed,
        "runner": runner,
        "versions": {**asked.versions, **tools.versions()},
    }
    with folder.running(out, told) as facts:
        asked.write(out)
        try:
            perform()
            facts["versions"]["kernel"] = (out / folder.LOGS / "kernel").read_text().strip()
            fidelity = concluded(asked, out, tolerances)
            facts["captures"] = _joined(asked, out, facts["versions"])
        except FAILURES as error:
            raise LabError(f"{out}: {error}") from error
        if (out / STOP).exists():
            facts["stopped"] = True
    return Outcome(out, fidelity)


def concluded(asked: Replay, out: Path, tolerances: Tolerances) -> Fidelity:
    """Measure how true the replay was by log, recordings and events of its folder."""
    sent = log.read(out / LOG)
    happened = events.read(out / folder.EVENTS)
    base_ns = sent.header["base_realtime_ns"]
    return measure(
        sent,
        evidence.received(out, asked.outlets),
        list(evidence.applied(happened, base_ns)),
        evidence.counters(happened),
        tolerances,
    )


@contextmanager
def stoppable(out: Path) -> Iterator[None]:
    """Let SIGINT end the replay early but in order; a second one ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: object) -> None:
        (out / STOP).touch()
        signal.signal(signal.SIGINT, before)

    before = signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _joined(asked: Replay, out: Path, versions: dict[str, str]) -> dict[str, str]:
    """Join the recordings of each end, and return the captures' names by end."""
    counts = json.loads((out / folder.LOGS / "recordings.json").read_text(encoding="utf-8"))
    happened = events.read(out / folder.EVENTS)
    found = {}
    for end in ENDS:
        parts = [
            recordings.Recording(
                path,
                out / f"{end}-{path}.pcap",
                counts[f"{end}-{path}"]["received by filter"],
                counts[f"{end}-{path}"]["dropped by kernel"],
            )
            for path in asked.mtu_by_path
        ]
        recordings.join(
            parts,
            out / folder.CAPTURES[end],
            happened,
            f"replay: seen at the {end}",
            system=versions["kernel"],
            application=f"pathscope {versions['pathscope']}",
        )
        found[end] = folder.CAPTURES[end]
        for part in parts:
            part.file.unlink()
    return found
