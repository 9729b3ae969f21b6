"""`pathscope replay --live`: the trace's messages, over new sockets of the lab."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...reports.unseen import json_text
from ..lab.options import kernel_of, lab_refusals
from ..options import read_options
from ..terminal import echo, show
from .asking import profile_of

if TYPE_CHECKING:
    from ...dissectors.ledger import ReadOptions
    from ...live import LiveRun
    from .options import Given

RESULT = "live.json"
"""In the folder: what was sent again, with which settings by which basis, and what came of it."""

PACKETS_ONLY = {
    "--lab": "lab",
    "--interface": "interfaces",
    "--write": "write",
    "--from": "from_s",
    "--to": "to_s",
    "--speed": "speed",
    "--pps": "pps",
    "--rate": "rate",
    "--top-speed": "top_speed",
    "--map-address": "addresses",
    "--map-port": "ports",
    "--map-mac": "macs",
    "--keep-bad-checksums": "keep_bad_checksums",
    "--mtu": "mtu",
    "--tolerances": "tolerances",
}
"""Options that are about frames: live mode sends none of the trace's."""


def replay_live(given: Given) -> None:
    """Send the messages of a trace again, and show the new run beside it."""
    wrong = [option for option, name in PACKETS_ONLY.items() if getattr(given, name)]
    if wrong:
        raise click.UsageError(f"--live sends no frames of the trace: without {', '.join(wrong)}")
    if given.loops > 1:
        raise click.UsageError("--loop is for frames; --repetitions makes more runs")
    with lab_refusals():
        if given.dry_run:
            _plan(given)
            return
        made = _made(given)
    _report(given, made)


def _options(given: Given) -> ReadOptions:
    return read_options(given.expression, given.udp_ports, None, flows=True)


def _profile(given: Given) -> dict[str, Any] | None:
    profile = profile_of(given)
    return None if profile is None else profile.document()


def _plan(given: Given) -> None:
    from ...replay.live.run import plan
    from ...reports.replay.live import planned, report

    made = plan(
        given.traces[0],
        profile=_profile(given),
        sctp=given.sctp,
        association=given.association,
        flow=given.flow,
        labels=given.labels,
        options=_options(given),
    )
    show(report(planned(made)))


def _made(given: Given) -> LiveRun:
    from ...live import run

    trace, *others = given.traces
    return run(
        trace,
        given.out or Path(f"{trace.stem}-live-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"),
        profile=_profile(given),
        sctp=given.sctp,
        kernel=kernel_of(given.kernel),
        association=given.association,
        flow=given.flow,
        labels=given.labels,
        options=_options(given),
        originals=others,
        repetitions=given.repetitions,
        seed=1 if given.seed is None else given.seed,
        force=given.force,
        progress=lambda words: echo(words, err=True),
    )


def _report(given: Given, made: LiveRun) -> None:
    from ...replay.lab.folder import too_slow
    from ...reports.replay.live import document, report

    found = document(made)
    text = json_text(found, indent=1) + "\n"
    for file in (made.folder / RESULT, given.json_file):
        if file is not None:
            file.write_text(text, encoding="utf-8")
    show(report(found))
    for place in made.made.runs:
        for reason in too_slow(place):
            echo(f"warning: {place}: the machine did not keep up: {reason}", err=True)
    echo(made.folder)
