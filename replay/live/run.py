"""Live mode: a trace's messages, sent again by real sockets between the lab's hosts.

What comes of it is compared with the trace by `pathscope.live`, above.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...analyzer.model import Association
from ..lab import run as lab
from . import trace as traces
from .association import talk_of as talk_of_association
from .errors import LiveError
from .flow import talk_of as talk_of_flow
from .overrides import parse_overrides
from .scenario import scenario

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from ...dissectors.ledger import ReadOptions, Source
    from ..lab.run import Kernel
    from ..lab.scenario import Scenario
    from ..profiles.schedule import Step
    from .overrides import Override
    from .talk import Talk
    from .trace import Trace

PERFECT = "no profile: nothing impairs the links; --profile-from derives one from the trace"


@dataclass(frozen=True, slots=True)
class Planned:
    """What is to be run.

    Attributes
    ----------
    talk
        What of the trace is sent again: paths with their addresses, settings with their basis.
    steps
        Of the profile.
    distributions
        The profile's tables of delays.
    scenario
        What the first run is a run of.
    warnings
        What is not as it was.
    """

    talk: Talk
    steps: Sequence[Step]
    distributions: Mapping[str, Sequence[float]]
    scenario: Scenario
    warnings: tuple[str, ...]

    def seeded(self, seed: int) -> Scenario:
        """Return the scenario with another seed."""
        return scenario(self.talk, self.steps, seed, self.distributions)[0]


@dataclass(frozen=True, slots=True)
class Made:
    """Runs that were made.

    Attributes
    ----------
    folder
        Of the run; where there are several, the folder that theirs are in.
    runs
        The folder of each.
    planned
        What they are runs of.
    """

    folder: Path
    runs: tuple[Path, ...]
    planned: Planned


def plan(
    trace: Source,
    *,
    profile: Mapping[str, Any] | None = None,
    sctp: Iterable[str] = (),
    association: int | None = None,
    flow: int | None = None,
    labels: Sequence[str] = (),
    options: ReadOptions | None = None,
    seed: int = 1,
) -> Planned:
    """Say what it takes to send a trace's messages again.

    Parameters
    ----------
    trace
        A capture, or the folder of a run of the lab.
    profile
        A document of `pathscope.profile/1`, whose time 0 is the trace's first frame; None for
        links that nothing impairs.
    sctp
        Settings that replace those of the trace, as `rto_min=500` or `pmr=2`.
    association, flow
        Which one is sent again; None for the association with most new data, else that flow.
    labels
        Names for paths, as for `analyze`.
    options
        How the trace is read.
    seed
        Of the scenario.

    Raises
    ------
    LiveError
        When the trace, a setting or the profile cannot be taken.
    ProfileError, ScenarioError
        When the profile, or what is made of it all, has a mistake.
    CaptureError, FolderError
        When the trace cannot be read.
    """
    talk = _talk(traces.read(trace, labels, options), parse_overrides(sctp), association, flow)
    steps = _steps(profile, talk)
    distributions: Mapping[str, Sequence[float]] = (profile or {}).get("distributions", {})
    made, warnings = scenario(talk, steps, seed, distributions)
    told = warnings if profile is not None else (PERFECT, *warnings)
    return Planned(talk, steps, distributions, made, told)


def run(
    planned: Planned,
    out: Path,
    *,
    kernel: Kernel = "auto",
    repetitions: int = 1,
    force: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Made:
    """Send a trace's messages again, and record what a real stack makes of it.

    Parameters
    ----------
    planned
        As `plan` returned it.
    out
        The folder of the run (docs/lab.md); of several, the one for theirs.
    kernel
        `host`, `guest`, or `auto`.
    repetitions
        How many runs; each after the first has the next seed.
    force
        Replace complete runs.
    progress
        Called with what is about to be done.

    Raises
    ------
    FolderError
        When the folder cannot be used.
    LabError
        When a run fails.
    """
    if repetitions < 1:
        raise ValueError(f"repetitions: expected 1 or more, found {repetitions}")
    runner = lab.choose(kernel)
    runs = [out / f"run-{number}" for number in range(1, repetitions + 1)]
    runs = runs if repetitions > 1 else [out]
    for number, place in enumerate(runs):
        made = planned.seeded(planned.scenario["seed"] + number)
        if progress is not None:
            progress(f"{place}: {made['duration_s']:.1f} s, and some more, in the {runner}")
        recorded = {host: sent.messages() for host, sent in planned.talk.sent.items()}
        lab.run(made, place, runner, force=force, recorded=recorded)
    return Made(out, tuple(runs), planned)


def _talk(
    trace: Trace, overrides: tuple[Override, ...], association: int | None, flow: int | None
) -> Talk:
    chosen = traces.choose(trace, association=association, flow=flow)
    if isinstance(chosen, Association):
        return talk_of_association(trace, chosen, overrides)
    if overrides:
        raise LiveError("--sctp: what is sent again is not SCTP")
    return talk_of_flow(trace, chosen)


def _steps(document: Mapping[str, Any] | None, talk: Talk) -> list[Step]:
    if document is None:
        return []
    from ..profiles.profile import parse
    from ..profiles.schedule import schedule

    # A profile out of the trace may know pairs of addresses that no data took.
    without = {path.label for path in talk.paths.without}
    paths = {name: one for name, one in document.get("paths", {}).items() if name not in without}
    profile = parse({**document, "paths": paths})
    names = [
        path.trace.label if path.trace.label in profile.paths else path.name
        for path in talk.paths.paths
    ]
    duration_ns = max(1, talk.zero_ns + round(talk.duration_s * 1e9))
    return schedule(profile, names, duration_ns)
