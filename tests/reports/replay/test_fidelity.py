"""The fidelity report as people see it, at any width."""

from __future__ import annotations

import io
import os
import re
from functools import cache

import numpy as np
import pytest
from impaired import Netem, log, sent, step
from pathscope.replay.fidelity.measure import measure
from pathscope.replay.fidelity.model import Fidelity
from pathscope.reports.replay.fidelity import report
from pathscope.reports.replay.words import QUANTITIES
from replayed_case import case
from rich.console import Console
from running import ROOT

GOLDEN = ROOT / "tests" / "golden" / "fidelity-two-routes.txt"

once = cache(case)


def rendered(fidelity: Fidelity, width: int) -> str:
    stream = io.StringIO()
    Console(file=stream, width=width, markup=False, highlight=False).print(report(fidelity))
    return "".join(f"{line.rstrip()}\n" for line in stream.getvalue().splitlines())


def test_the_whole_report_is_as_reviewed() -> None:
    text = rendered(once(), 140)
    if os.environ.get("PATHSCOPE_UPDATE_GOLDEN") == "1":
        GOLDEN.write_text(text, encoding="utf-8")
    assert text == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("width", [80, 100, 120, 250])
def test_no_number_is_lost_in_a_narrow_terminal(width: int) -> None:
    text = rendered(once(), width)
    assert all(len(line) <= width for line in text.splitlines())
    for route in once().routes:
        assert f"{route.path} {route.direction}" in re.sub(r"\s+", " ", text)
        for count in (route.planned, route.arrived, route.lost):
            assert re.search(rf"(?<![\d,]){count:,}(?![\d,])", text)


def test_the_verdict_comes_first_and_then_what_fails() -> None:
    lines = rendered(once(), 140).splitlines()
    assert lines[0].startswith("Fidelity: FAIL (")
    failing = lines[lines.index("What fails") + 2 : lines.index("Frames") - 1]
    assert [line.split("  ")[1] for line in failing] == [
        "refused (ENOBUFS)",
        "loss",
        "loss",
        "count",
    ]


def test_every_quantity_has_words() -> None:
    found = once()
    named = {row.quantity for row in found.rows} | {check.quantity for check in found.checks}
    assert named <= set(QUANTITIES)


def test_a_replay_as_asked_for_says_pass_and_that_nobody_reacted() -> None:
    rng = np.random.default_rng(1)
    frames = sent(rng, 1000)
    found = measure(log(frames), {0: Netem(rng, [step()]).run(frames)}, [])
    text = rendered(found, 100)
    assert text.startswith("Fidelity: pass (")
    assert "What fails" not in text
    assert "senders did not react" in re.sub(r"\s+", " ", text)
    assert not re.search(r"\bnan\b|\binf\b|None", text)


def test_nothing_sent_and_nothing_recorded() -> None:
    text = rendered(measure(log(sent(np.random.default_rng(1), 0)), {}, []), 100)
    assert "0 frames sent" in text
    assert not re.search(r"\bnan\b|\binf\b|None", text)
