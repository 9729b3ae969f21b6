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
from .lab import ends, events, folder, guest, host, recordings, tc, tools
from .lab.run import LabError, kept_up
from .lab.scenario import ENDS
from .packets import log
from .packets.orders import TopSpeed
from .packets.sockets import OutletError
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

FAILURES = (
    guest.GuestError,
    host.HostError,
    recordings.RecordingError,
    ends.StageError,
    tc.TcError,
    OutletError,
)


@dataclass(frozen=True, slots=True)
class Outcome:
    """A replay that was made: its folder, how true it was, and what else is to be told."""

    folder: Path
    fidelity: Fidelity
    notes: tuple[str, ...] = ()


class StoppedError(LabError):
    """A replay that was ended early; what was sent until then is in its outcome and folder."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(f"{outcome.folder}: ended early")
        self.outcome = outcome


def needs(asked: Replay) -> tuple[str, ...]:
    """Return what the kernel of a replay in the lab must have, as `lab.host` names its probes."""
    return host.WIRES if asked.profile is None else (*host.WIRES, "netem")


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
    StoppedError
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
    from .. import __version__ as version

    told: dict[str, Any] = {
        "kind": "replay",
        "description": f"replay of {', '.join(asked.orders.trace)}",
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": asked.seed,
        "runner": runner,
        "versions": {"pathscope": version, **tools.versions()},
    }
    with folder.running(out, told) as facts:
        asked.write(out)
        try:
            perform()
            facts["versions"]["kernel"] = (out / folder.LOGS / "kernel").read_text().strip()
            facts["pace"] = kept_up(out / folder.LOGS)
            facts["captures"] = _joined(out, facts["versions"])
            fidelity = concluded(asked, out, tolerances)
        except FAILURES as error:
            raise LabError(f"{out}: {error}") from error
        outcome = Outcome(out, fidelity)
        if (out / STOP).exists():
            raise StoppedError(outcome)
    return outcome


def concluded(asked: Replay, out: Path, tolerances: Tolerances) -> Fidelity:
    """Measure how true the replay was by log, recordings and events of its folder."""
    sent = log.read(out / LOG)
    happened = events.read(out / folder.EVENTS)
    base_ns = sent.header["base_realtime_ns"]
    return measure(
        sent,
        evidence.received(out, asked),
        list(evidence.applied(happened, asked, base_ns)),
        evidence.readings(happened, asked),
        tolerances,
        tables=None if asked.profile is None else asked.profile.distributions,
        totals=evidence.totals(happened),
        paced=not isinstance(asked.orders.pace, TopSpeed),
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


def _joined(out: Path, versions: dict[str, str]) -> dict[str, str]:
    """Join the recordings of each end, and return the captures' names by end."""
    counts = json.loads((out / folder.LOGS / "recordings.json").read_text(encoding="utf-8"))
    happened = events.read(out / folder.EVENTS)
    found = {}
    for end in ENDS:
        parts = [
            recordings.Recording(
                device,
                out / f"{end}-{device}.pcap",
                counts[f"{end}-{device}"]["received by filter"],
                counts[f"{end}-{device}"]["dropped by kernel"],
            )
            for device in evidence.recorded(out, end)
        ]
        if not parts:
            continue
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
