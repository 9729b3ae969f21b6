"""`pathscope replay --live`: the trace's messages, over new sockets of the lab."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..lab.options import kernel_of, lab_refusals
from ..terminal import show
from .asking import profile_of

if TYPE_CHECKING:
    from .options import Given

PACKETS_ONLY = {
    "--lab": "lab",
    "--interface": "interfaces",
    "--write": "write",
    "--dry-run": "dry_run",
    "--filter": "expression",
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
    if len(given.traces) != 1:
        raise click.UsageError("--live takes one trace")
    from ...live import run
    from ...reports.replay.live import document, report

    trace = given.traces[0]
    place = given.out or Path(f"{trace.stem}-live-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    with lab_refusals():
        profile = profile_of(given)
        made = run(
            trace,
            place,
            profile=None if profile is None else profile.document(),
            sctp=given.sctp,
            kernel=kernel_of(given.kernel),
            association=given.association,
            labels=given.labels,
            repetitions=given.repetitions,
            seed=1 if given.seed is None else given.seed,
            force=given.force,
            progress=lambda words: click.echo(words, err=True),
        )
    found = document(made)
    if given.json_file is not None:
        text = json.dumps(found, indent=1, ensure_ascii=False)
        given.json_file.write_text(text + "\n", encoding="utf-8")
    show(report(found))
    click.echo(made.folder)
