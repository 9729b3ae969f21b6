"""`pathscope lab list`."""

from __future__ import annotations

import click

from ..terminal import echo


@click.command("list")
def list_command() -> None:
    """List the scenarios that come with pathscope.

    \b
    Example:
      pathscope lab list
    """
    from ...replay.lab import catalog

    names = catalog.names()
    width = max(map(len, names), default=0)
    for name in names:
        echo(f"{name:{width}}  {catalog.description(name)}")
