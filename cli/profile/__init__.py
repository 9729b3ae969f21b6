"""`pathscope profile`: a module a command, as above."""

from __future__ import annotations

import click

from ..faults import Commands

COMMANDS = ("convert", "derive", "show")


@click.group("profile", cls=Commands, lazy={name: f"{__name__}.{name}" for name in COMMANDS})
def profile_command() -> None:
    """Look at, convert and derive profiles: how paths are impaired over time.

    \b
    Example:
      pathscope profile show fixtures/profiles/walk.toml
    """
