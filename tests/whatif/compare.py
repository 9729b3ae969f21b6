"""What explain predicts of runs at the settings of others, against what was measured there."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pathscope
from pathscope.analyzer.circumstances import can_predict, circumstances, settings_of
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.model import Association, Handover
from pathscope.analyzer.story.tell import measured
from pathscope.analyzer.whatif import Prediction, predict
from pathscope.replay.lab import folder

METRICS = (
    "failure_detection_s",
    "link_failure_recovery_s",
    "data_interruption_s",
    "link_recognition_s",
)
WITHIN = 0.1
"""Of the measured value, or one RTO where that is more."""


@dataclass(frozen=True)
class Run:
    """A run with a failover: its settings as the scenario has them, and what it cost."""

    place: Path
    given: dict[str, float | None]
    association: Association
    handover: Handover

    def predicted(self, other: Run) -> Prediction:
        """What this run's handover would have cost at the other's settings."""
        base = settings_of(self.association, self.handover)
        seen = circumstances(self.association, self.handover)
        return predict(seen, base.changed(other.given))

    def measured(self) -> dict[str, Measure]:
        return measured(self.association, self.handover)


@dataclass(frozen=True)
class Pair:
    """One metric: predicted from a run at the settings of another, and measured in that one."""

    metric: str
    source: Path
    target: Path
    measured_s: float
    predicted: Measure
    rto_s: float
    is_doubtful: bool

    @property
    def error_s(self) -> float:
        return abs(float(self.predicted.value or 0) - self.measured_s)

    @property
    def is_near(self) -> bool:
        return self.error_s <= max(WITHIN * self.measured_s, self.rto_s)

    @property
    def is_inside(self) -> bool:
        low, high = self.predicted.low, self.predicted.high
        return low is not None and high is not None and low <= self.measured_s <= high


def runs_in(place: Path) -> Iterator[Run]:
    """Yield the complete runs in a folder in which time-outs moved DATA."""
    for facts in sorted(place.rglob(folder.FACTS)):
        run = facts.parent
        if folder.state(run) != "complete":
            continue
        scenario = json.loads((run / folder.SCENARIO).read_text())
        for association in pathscope.analyze(run, end="client").associations[:1]:
            failures = [one for one in association.handovers if can_predict(one)]
            if failures:
                yield Run(run, settings(scenario["client"]["sctp"]), association, failures[0])


def settings(sctp: dict[str, Any]) -> dict[str, float | None]:
    """Return what `--set` takes, of a scenario's settings."""
    return {
        "rto_initial": sctp["rto_initial_ms"] / 1000,
        "rto_min": sctp["rto_min_ms"] / 1000,
        "rto_max": sctp["rto_max_ms"] / 1000,
        "pmr": sctp["path_max_retrans"],
        "pf": sctp["pf_max_retrans"] if sctp["potentially_failed"] else None,
        "hb_interval": sctp["hb_interval_ms"] / 1000,
    }


def pairs(runs: Iterable[Run]) -> Iterator[Pair]:
    """Yield every metric of every run, predicted from every other run."""
    known = list(runs)
    for source in known:
        own = source.predicted(source)
        for target in known:
            if source is target:
                continue
            prediction, values = source.predicted(target), target.measured()
            for metric in METRICS:
                value, predicted = values[metric].value, prediction.metrics[metric]
                if value is not None and predicted.value is not None:
                    yield Pair(
                        metric,
                        source.place,
                        target.place,
                        float(value),
                        predicted,
                        prediction.time_outs_s[0],
                        bool(own.caveats or prediction.caveats),
                    )
