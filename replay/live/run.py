"""Live mode: a trace's messages, sent again by real sockets between the lab's hosts.

What comes of it is compared with the trace by `pathscope.live`, above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..lab import run as lab
from . import trace as traces
from .overrides import parse_overrides
from .scenario import scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from ...dissectors.ledger import Source
    from ..lab.run import Kernel
    from ..lab.scenario import Scenario
    from ..profiles.schedule import Step
    from .scenario import Talk

PERFECT = "no profile: nothing impairs the links; --profile-from derives one from the trace"


@dataclass(frozen=True, slots=True)
class Made:
    """Runs that were made.

    Attributes
    ----------
    folder
        Of the run; where there are several, the folder that theirs are in.
    runs
        The folder of each.
    scenario
        What they are runs of.
    talk
        What of the trace was sent again: paths with their addresses, settings with their basis.
    warnings
        What is not as it was.
    """

    folder: Path
    runs: tuple[Path, ...]
    scenario: Scenario
    talk: Talk
    warnings: tuple[str, ...]


def run(
    trace: Source,
    out: Path,
    *,
    profile: Mapping[str, Any] | None = None,
    sctp: Iterable[str] = (),
    kernel: Kernel = "auto",
    association: int | None = None,
    flow: int | None = None,
    labels: Sequence[str] = (),
    repetitions: int = 1,
    seed: int = 1,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Made:
    """Send a trace's messages again, and record what a real stack makes of it.

    Parameters
    ----------
    trace
        A capture, or the folder of a run of the lab.
    out
        The folder of the run (docs/lab.md); of several, the one for theirs.
    profile
        A document of `pathscope.profile/1`, whose time 0 is the trace's first frame; None for
        links that nothing impairs.
    sctp
        Settings that replace those of the trace, as `rto_min=500` or `pmr=2`.
    kernel
        `host`, `guest`, or `auto`.
    association, flow
        Which one is sent again; None for the association with most new data, else that flow.
    labels
        Names for paths, as for `analyze`.
    repetitions
        How many runs.
    seed
        Of the first; each later one has the next.
    force
        Replace complete runs.
    progress
        Called with what is about to be done.

    Raises
    ------
    LiveError
        When the trace, a setting or the profile cannot be taken.
    ProfileError, ScenarioError
        When the profile, or what is made of it all, has a mistake.
    CaptureError, FolderError
        When the trace cannot be read, or the folder not be used.
    LabError
        When a run fails.
    """
    if repetitions < 1:
        raise ValueError(f"repetitions: expected 1 or more, found {repetitions}")
    tell = progress or (lambda _: None)
    tell(f"reading {trace}")
    talk = traces.talk(
        traces.read(trace, labels), parse_overrides(sctp), association=association, flow=flow
    )
    steps = _steps(profile, talk)
    first, warnings = scenario(talk, steps, seed, _distributions(profile))
    runner = lab.choose(kernel)
    runs = [out / f"run-{number}" for number in range(1, repetitions + 1)]
    runs = runs if repetitions > 1 else [out]
    for number, place in enumerate(runs):
        made, _ = scenario(talk, steps, seed + number, _distributions(profile))
        tell(f"{place}: {made['duration_s']:.1f} s, and some more, in the {runner}")
        recorded = {host: sent.messages() for host, sent in talk.sent.items()}
        lab.run(made, place, runner, force=force, recorded=recorded)
    told = warnings if profile is not None else (PERFECT, *warnings)
    return Made(out, tuple(runs), first, talk, told)


def _steps(document: Mapping[str, Any] | None, talk: Talk) -> list[Step]:
    if document is None:
        return []
    from ..profiles.profile import parse
    from ..profiles.schedule import schedule

    profile = parse(document)
    names = [
        path.trace.label if path.trace.label in profile.paths else path.name
        for path in talk.paths.paths
    ]
    duration_ns = max(1, talk.zero_ns + round(talk.duration_s * 1e9))
    return schedule(profile, names, duration_ns)


def _distributions(document: Mapping[str, Any] | None) -> Mapping[str, Any]:
    found: Mapping[str, Any] = (document or {}).get("distributions", {})
    return found
