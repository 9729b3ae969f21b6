"""`pathscope lab`: a module a command, as above."""

from __future__ import annotations

import click

from ..faults import Commands

COMMANDS = ("describe", "list", "matrix", "reproduce", "run", "studies")


@click.group("lab", cls=Commands, lazy={name: f"{__name__}.{name}" for name in COMMANDS})
def lab_command() -> None:
    """Make runs with known truth: real SCTP over impaired links, on this machine alone.

    \b
    Example:
      pathscope lab list
    """
