"""`pathscope replay --live`: the application's messages, over new sockets."""

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
    from ...dissectors.ledger import ReadOptions
    from ...live import LiveRun
    from .options import Given

OF_PACKETS = {
    "interfaces": "--interface",
    "allow_live_network": "--allow-live-network",
    "write": "--write",
    "from_s": "--from",
    "to_s": "--to",
    "loop_gap_s": "--loop-gap",
    "speed": "--speed",
    "pps": "--pps",
    "rate": "--rate",
    "top_speed": "--top-speed",
    "addresses": "--map-address",
    "ports": "--map-port",
    "macs": "--map-mac",
    "keep_bad_checksums": "--keep-bad-checksums",
    "mtu": "--mtu",
    "tolerances": "--tolerances",
}
"""Options that mean something for frames only."""


def replay_live(given: Given) -> None:
    """Do what the command line says, with `--live`."""
    _check(given)
    with lab_refusals():
        if given.dry_run:
            _plan(given)
            return
        made = _made(given)
    _report(given, made)


def _check(given: Given) -> None:
    """Refuse options that do not go together."""
    for field, name in OF_PACKETS.items():
        if getattr(given, field):
            raise click.UsageError(f"{name} is for frames, --live sends messages")
    if given.loops > 1:
        raise click.UsageError("--loop is for frames; with --live, --repetitions makes more runs")
    if given.profile is not None and given.profile_from:
        raise click.UsageError("--profile and --profile-from: one profile at a time")


def _options(given: Given) -> ReadOptions:
    from ..options import read_options

    return read_options(given.expression, given.udp_ports, None, flows=True)


def _plan(given: Given) -> None:
    from ...replay.live.run import plan
    from ...reports.replay.live import planned, report

    profile = profile_of(given)
    made = plan(
        given.traces[0],
        profile=None if profile is None else profile.document(),
        sctp=given.sctp,
        association=given.association,
        flow=given.flow,
        labels=given.labels,
        options=_options(given),
    )
    show(report(planned(made)))


def _made(given: Given) -> LiveRun:
    from ...live import run

    profile = profile_of(given)
    first, *others = given.traces
    return run(
        first,
        given.out or Path(f"live-{first.stem}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}"),
        profile=None if profile is None else profile.document(),
        sctp=given.sctp,
        kernel=kernel_of(given.kernel),
        association=given.association,
        flow=given.flow,
        labels=given.labels,
        options=_options(given),
        originals=others,
        repetitions=given.repetitions,
        force=given.force,
        progress=lambda words: click.echo(words, err=True),
    )


def _report(given: Given, made: LiveRun) -> None:
    from ...replay.lab.folder import too_slow
    from ...reports.replay.live import document, report

    found = document(made)
    show(report(found))
    if given.json_file is not None:
        text = json.dumps(found, indent=1, ensure_ascii=False)
        given.json_file.write_text(f"{text}\n", encoding="utf-8")
    for place in made.made.runs:
        for reason in too_slow(place):
            click.echo(f"warning: {place}: the machine did not keep up: {reason}", err=True)
    click.echo(made.folder)
