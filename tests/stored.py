"""Numbers of stored lab runs, in fixtures/samples: real spreads for the tests of comparisons.

`python -m stored DIR`, with `tests` on the path, writes them anew from the folders of runs in DIR.
"""

from __future__ import annotations

import json
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pathscope
from pathscope.analyzer.compare.model import Sample
from pathscope.analyzer.compare.samples import samples
from pathscope.reports import names

if TYPE_CHECKING:
    from collections.abc import Iterable

FILE = Path(__file__).parents[1] / "fixtures" / "samples" / "failover.json"


@cache
def _document() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(FILE.read_text(encoding="utf-8"))
    return document


def stored(name: str) -> list[Sample]:
    """Return the samples of a set of runs: rto-500, rto-1000 or slower."""
    known = _document()["sets"][name]
    return [
        Sample(
            metric,
            place,
            unit,
            tuple(
                run for run, value in zip(known["runs"], values, strict=True) if value is not None
            ),
            tuple(float(value) for value in values if value is not None),
            tuple((run, absent[run]) for run in known["runs"] if run in absent),
        )
        for metric, place, unit, values, absent in known["samples"]
    ]


def lateness(name: str) -> dict[str, float]:
    """Return by run how much longer than RTO its time-outs took together, in seconds."""
    late: dict[str, float] = _document()["sets"][name]["lateness_s"]
    return late


def some(whole: Iterable[Sample], runs: Iterable[str]) -> list[Sample]:
    """Return samples of some of their runs."""
    chosen = frozenset(runs)
    found = []
    for one in whole:
        kept = [
            (run, value) for run, value in zip(one.runs, one.values, strict=True) if run in chosen
        ]
        absent = tuple(pair for pair in one.absent if pair[0] in chosen)
        found.append(
            Sample(
                one.metric,
                one.place,
                one.unit,
                tuple(run for run, _ in kept),
                tuple(value for _, value in kept),
                absent,
            )
        )
    return found


def _set(folder: Path) -> dict[str, Any]:
    runs = sorted(folder.glob("run-*"), key=lambda run: int(run.name.split("-")[1]))
    documents = {
        run.name: pathscope.analyze(run / "client.pcapng", events=run / "events.jsonl").to_dict()
        for run in runs
    }
    return {
        "runs": list(documents),
        "samples": [
            [
                one.metric,
                one.place,
                one.unit,
                [dict(zip(one.runs, one.values, strict=True)).get(run) for run in documents],
                dict(one.absent),
            ]
            for one in samples(documents, names.units())
            if one.values
        ],
        "lateness_s": {run.name: _late(run, documents[run.name]) for run in runs},
    }


def _late(run: Path, document: dict[str, Any]) -> float:
    settings = json.loads((run / "scenario.json").read_text(encoding="utf-8"))["client"]["sctp"]
    timeouts = document["associations"][0]["handovers"][0]["timeouts"]
    due_s: float = settings["rto_max_ms"] / 1000 * len(timeouts)
    elapsed_s = sum(float(timeout["elapsed_s"]) for timeout in timeouts)
    return round(elapsed_s - due_s, 9)


def _write(folder: Path) -> None:
    made = json.loads(FILE.read_text(encoding="utf-8"))["made"]
    sets = {name: _set(folder / name) for name in made}
    parts = ",\n".join(
        f"{json.dumps(name)}: {{\n"
        + ",\n".join(
            f"{json.dumps(key)}: "
            + (
                "[\n" + ",\n".join(map(json.dumps, value)) + "]"
                if key == "samples"
                else json.dumps(value)
            )
            for key, value in one.items()
        )
        + "}"
        for name, one in sets.items()
    )
    text = f'{{"made": {json.dumps(made, indent=1)},\n"sets": {{\n{parts}}}}}\n'
    FILE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
