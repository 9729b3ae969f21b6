"""From a trace to a scenario of the lab: what its application did, on links as the profile says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lab.scenario import ENDS, Scenario, parse
from . import timeline
from .talk import NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..profiles.schedule import Step
    from .talk import Talk


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
