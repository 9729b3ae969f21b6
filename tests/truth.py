"""What the lab knows of its runs (fixtures/regenerate.py), beside what the analysis says."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pathscope
from pathscope.analyzer.measure import Instant, Measure
from pathscope.analyzer.model import Association
from pathscope.replay.lab import catalog, events, folder
from pathscope.replay.lab.run import run
from pathscope.replay.lab.scenario import load
from running import ROOT, loaded

WITHIN_NS = 1_000_000
"""What an observed instant may be off from the lab's own readings of the clock."""

Truth = dict[str, Any]


def regenerate() -> Any:
    return loaded(ROOT / "fixtures" / "regenerate.py")


def made(name: str, place: Path, *changes: str) -> Truth:
    """Run a scenario in the guest, and return what the lab knows of it."""
    scenario = load(catalog.find(name), changes)
    run(scenario, place, "guest")
    kernel = folder.facts(place)["versions"]["kernel"]
    found: Truth = regenerate().truth(scenario, events.read(place / folder.EVENTS), kernel)
    return found


def committed(place: Path) -> Truth:
    found: Truth = json.loads((place / "truth.json").read_text())
    return found


def only(place: Path, end: str = "client") -> Association:
    """Return the one association of a run, annotated by its events."""
    events_file = place / "events.jsonl"
    analysis = pathscope.analyze(place / f"{end}.pcapng", events=events_file)
    assert analysis.ledger.capture["damage"] is None
    (association,) = analysis.associations
    return association


def all_untold(place: Path) -> tuple[Association, ...]:
    """Return the client's associations as they look without names and without events."""
    with TemporaryDirectory() as folder:
        plain = Path(folder) / "untold.pcap"
        command = ["editcap", "-F", "nsecpcap", str(place / "client.pcapng"), str(plain)]
        subprocess.run(command, check=True, capture_output=True)
        return pathscope.analyze(plain).associations


def untold(place: Path) -> Association:
    """Return the client's one association likewise."""
    (association,) = all_untold(place)
    return association


def label(association: Association, number: int) -> str:
    return association.paths[number].label


def is_between(instant: Instant, from_ns: int, to_ns: int) -> bool:
    """Whether an observed instant is between two readings of the lab's clock, within 1 ms."""
    assert instant.basis == "observed", instant
    assert instant.ns is not None
    return from_ns - WITHIN_NS <= instant.ns <= to_ns + WITHIN_NS


def holds(bounded: Measure | None, value: float) -> bool:
    """Whether an inferred number's bounds hold the true one."""
    assert bounded is not None
    assert bounded.low is not None
    assert bounded.high is not None
    return bool(bounded.low <= value <= bounded.high)
