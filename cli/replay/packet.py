"""`pathscope replay` of packets: from what the command line says to a replay, and its result."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ...reports.unseen import json_text
from ..faults import Refusal
from ..lab.options import kernel_of, lab_refusals
from ..terminal import echo, show

if TYPE_CHECKING:
    from ...replay.fidelity.tolerances import Tolerances
    from ...replay.prepare import Prepared
    from ...replay.request import Replay
    from ...replay.run import Outcome
    from .options import Given

FAILED, INTERRUPTED = 1, 130
"""Exit codes: outside the tolerances, and ended by SIGINT as the shell has it."""


def replay_packets(given: Given) -> None:
    """Do what the command line says, but for `--live`."""
    _check(given)
    with lab_refusals():
        if given.write is not None:
            _write(given, given.write)
            return
        prepared = _prepared(given)
        if given.dry_run:
            from .plan import planned

            show(planned(prepared))
            return
        _replay(given, prepared)


def _check(given: Given) -> None:
    """Refuse options that do not go together."""
    paces = {"--speed": given.speed, "--pps": given.pps, "--rate": given.rate}
    paces["--top-speed"] = given.top_speed or None
    chosen = [name for name, value in paces.items() if value is not None]
    if len(chosen) > 1:
        raise click.UsageError(f"{' and '.join(chosen)}: one pace at a time")
    if given.profile is not None and given.profile_from:
        raise click.UsageError("--profile and --profile-from: one profile at a time")
    if given.lab and given.interfaces:
        raise click.UsageError("--lab makes its own interfaces: it goes without --interface")
    of_live = given.association is not None or given.flow is not None
    if given.sctp or of_live or given.repetitions > 1:
        raise click.UsageError("--sctp, --association, --flow, --repetitions are for --live")
    if given.allow_live_network and not given.interfaces:
        raise click.UsageError("--allow-live-network goes with --interface, which names the one")
    if len(given.profile_from) > 2:
        raise click.UsageError("--profile-from takes one capture, or those of both ends")


def _prepared(given: Given) -> Prepared:
    from ...replay import prepare
    from .asking import orders, profile_of

    asked = orders(given)
    profile = profile_of(given)
    command = ["pathscope", *sys.argv[1:]]
    # A derived profile begins with its capture, whatever of it is replayed.
    start_ns = (asked.from_ns or 0) if given.profile_from else 0
    if given.interfaces:
        from ...replay.given import places

        paths = list(dict.fromkeys(pair.path for pair in asked.pairs))
        return prepare.on_interfaces(
            asked, places(given.interfaces, paths), profile, command, profile_from_ns=start_ns
        )
    return prepare.for_lab(asked, profile, command, mtu=given.mtu, profile_from_ns=start_ns)


def _write(given: Given, out: Path) -> None:
    from ...replay import _native
    from .plan import told

    if out.exists() and not given.force:
        raise Refusal(f"{out}: is there; --force replaces it")
    prepared = _prepared(given)
    _native.rewrite(prepared.replay.orders.to_json(), None, out)
    for line in told(prepared.plan):
        _tell(line)
    echo(out)


def _replay(given: Given, prepared: Prepared) -> None:
    from ...replay.run import StoppedError
    from .plan import told

    for line in told(prepared.plan):
        _tell(line)

    place = given.out or Path(f"{given.traces[0].stem}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}")
    stopped = None
    try:
        outcome = _made(given, prepared, place)
    except StoppedError as error:
        stopped, outcome = error, error.outcome
    _report(given, outcome)
    if stopped is not None:
        echo(f"Error: {stopped}", err=True)
        sys.exit(INTERRUPTED)
    if outcome.fidelity.failed:
        sys.exit(FAILED)


def _made(given: Given, prepared: Prepared, place: Path) -> Outcome:
    from ...replay import run
    from ...replay.lab.run import kernel_for

    tolerances = _tolerances(given.tolerances)
    asked = prepared.replay
    if given.interfaces:
        return _on_interfaces(given, asked, place, tolerances)
    runner = kernel_for(kernel_of(given.kernel), run.needs(asked))
    _tell(f"and some more, in the {runner}")
    return run.in_lab(asked, place, runner, tolerances, force=given.force)


def _on_interfaces(given: Given, asked: Replay, place: Path, tolerances: Tolerances) -> Outcome:
    from ...replay.given import on_interfaces
    from ...replay.interfaces.commands import InterfaceError

    live = given.allow_live_network
    try:
        return on_interfaces(asked, place, tolerances, allow_live=live, force=given.force)
    except InterfaceError as error:
        raise Refusal(str(error)) from error


def _tolerances(path: Path | None) -> Tolerances:
    from ...replay.fidelity.tolerances import Tolerances, parse_tolerances

    if path is None:
        return Tolerances()
    return parse_tolerances(path.read_text(encoding="utf-8"), str(path))


def _report(given: Given, outcome: Outcome) -> None:
    from ...reports.replay.document import document
    from ...reports.replay.fidelity import report

    text = json_text(document(outcome.fidelity), indent=1) + "\n"
    for place in (outcome.folder / "fidelity.json", given.json_file):
        if place is not None:
            place.write_text(text, encoding="utf-8")
    show(report(outcome.fidelity))
    for note in (*outcome.notes, *_too_slow(outcome.folder)):
        _tell(f"warning: {note}")
    if given.analysis:
        _analyze(outcome.folder)
    echo(outcome.folder)


def _too_slow(folder: Path) -> list[str]:
    from ...replay.lab.folder import too_slow

    return [f"the machine did not keep up: {reason}" for reason in too_slow(folder)]


def _analyze(folder: Path) -> None:
    from ...api import analyze
    from ...reports.console import report

    show(report(analyze(folder).result), blank_before=True)


def _tell(words: str) -> None:
    echo(words, err=True)
