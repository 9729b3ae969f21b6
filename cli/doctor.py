"""`pathscope doctor`."""

from __future__ import annotations

from dataclasses import asdict

import click

from ..reports.unseen import json_text
from .terminal import echo


@click.command("doctor")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def doctor_command(as_json: bool) -> None:
    """Say what this machine can do, and for each thing that it lacks the command that cures it.

    \b
    Example:
      pathscope doctor
    """
    from ..replay.lab import doctor

    checks = list(doctor.checks())
    runner, replays = doctor.runner(checks), doctor.replay_runners(checks)
    if as_json:
        found = [asdict(check) for check in checks]
        document = {"runner": runner, "replay": replays, "checks": found}
        echo(json_text(document))
        return
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark = "ok     " if check.found else "missing"
        echo(f"{mark}  {check.name:{width}}  {check.serves}: {check.said}")
        if check.cure is not None:
            echo(f"{'':9}{'':{width}}  -> {check.cure}")
    echo(f"\npathscope lab run runs {_where(runner)}")
    for kind, found_runner in replays.items():
        echo(f"pathscope replay {kind} runs {_where(found_runner)}")


def _where(runner: str | None) -> str:
    return "nowhere on this machine" if runner is None else f"in the {runner} kernel"
