"""From a trace to a scenario of the lab: what its application did, on links as the profile says."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..lab.scenario import ENDS, Scenario, parse
from . import timeline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..profiles.schedule import Step
    from .messages import Sent
    from .paths import Paths
    from .settings import Chosen
    from .timeline import Timeline

NS_PER_S = 1_000_000_000

LONGEST_S = 86_400
"""Of a scenario."""

QUIET_S = 0.05
"""After the last message: it is under way before its sender closes."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What is to be made again: one association, or one flow.

    Attributes
    ----------
    name
        What the scenario is called.
    what
        Which it is, in words.
    protocol
        `sctp`, `tcp` or `udp`.
    number
        Of the association or flow in the trace's analysis.
    seen_at
        Which captures of a run show what the trace does: `client`, `server` or `both`.
    paths
        The lab's.
    primary
        Name of the path that the first new data took.
    zero_ns
        When the connection was up, since the trace's first frame.
    end_ns
        When it was over, since it was up.
    sent
        What client and server sent.
    settings
        Of SCTP, of both ends; of other protocols none.
    acts
        What the ends did beside sending.
    at_start
        Which ends have their address of each path from the beginning.
    warnings
        What is not as it was.
    """

    name: str
    what: str
    protocol: str
    number: int
    seen_at: str
    paths: Paths
    primary: str
    zero_ns: int
    end_ns: int
    sent: Mapping[str, Sent]
    settings: Sequence[Chosen] = ()
    acts: Timeline = field(default_factory=lambda: timeline.Timeline({}, ()))
    at_start: Mapping[str, bool | str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """How long the run lasts after the connection is up, in seconds."""
        last_ns = max(sent.last_ns for sent in self.sent.values())
        return max(self.end_ns, last_ns) / NS_PER_S + QUIET_S


def scenario(
    talk: Talk,
    steps: Sequence[Step],
    seed: int = 1,
    distributions: Mapping[str, Sequence[float]] | None = None,
) -> tuple[Scenario, tuple[str, ...]]:
    """Return the scenario of a run that makes it again, and what is not as it was.

    Parameters
    ----------
    talk
        What is to be made again.
    steps
        The profile's, by the names of the trace's paths (`TracePath.label`) or of the lab's; none
        for links that nothing impairs.
    seed
        Of the scenario.
    distributions
        The profile's tables of delays.

    Raises
    ------
    LiveError
        When the profile has too many steps.
    ScenarioError
        When a setting is none that the lab can have.
    """
    end_ns = round(talk.duration_s * NS_PER_S)
    names = {path.trace.label: path.name for path in talk.paths.paths}
    names |= {path.name: path.name for path in talk.paths.paths}
    links = timeline.of_steps(steps, names, talk.zero_ns, end_ns)
    document: dict[str, Any] = {
        "description": f"{talk.what}, sent again",
        "duration_s": talk.duration_s,
        "seed": seed,
        "distributions": dict(distributions or {}),
        "paths": {
            path.name: {
                "client": path.client,
                "server": path.server,
                "at_start": talk.at_start.get(path.name, True),
                **links.at_first.get(path.name, {}),
            }
            for path in talk.paths.paths
        },
        "application": {
            "kind": "recorded",
            "protocol": talk.protocol,
            "streams": max(sent.streams for sent in talk.sent.values()),
            "primary": talk.primary,
        },
        "actions": timeline.merged(links.actions, talk.acts.actions),
    }
    for host in ENDS:
        own = {one.name: one.value for one in talk.settings if one.host == host}
        document[host] = {"sctp": own}
    made = parse(document, talk.name)
    told = (*talk.warnings, *talk.paths.warnings, *links.warnings, *talk.acts.warnings)
    return made, told + tuple(w for sent in talk.sent.values() for w in sent.warnings)


def primary_of(paths: Paths, first: int | None, at_first: Mapping[str, bool | str]) -> str:
    """Return the path that is primary at the start: where new data went first, if it can be."""
    ready = [path for path in paths.paths if at_first.get(path.name, True) is True]
    chosen = next((path for path in ready if path.trace.number == first), None)
    return (chosen or (ready or list(paths.paths))[0]).name
