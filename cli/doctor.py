"""`pathscope doctor`."""

from __future__ import annotations

import json
from dataclasses import asdict

import click


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
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    width = max(len(check.name) for check in checks)
    for check in checks:
        mark = "ok     " if check.found else "missing"
        click.echo(f"{mark}  {check.name:{width}}  {check.serves}: {check.said}")
        if check.cure is not None:
            click.echo(f"{'':9}{'':{width}}  -> {check.cure}")
    click.echo(f"\npathscope lab run runs {_where(runner)}")
    for kind, found_runner in replays.items():
        click.echo(f"pathscope replay {kind} runs {_where(found_runner)}")


def _where(runner: str | None) -> str:
    return "nowhere on this machine" if runner is None else f"in the {runner} kernel"
