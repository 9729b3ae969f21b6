"""`pathscope lab studies`."""

from __future__ import annotations

import click

from ..terminal import echo
from .options import lab_refusals


@click.command("studies")
def studies_command() -> None:
    """List the studies that `pathscope lab reproduce` repeats, with their experiments.

    \b
    Example:
      pathscope lab studies
    """
    from ...replay.lab import study

    with lab_refusals():
        for name in study.names():
            found = study.load(study.find(name))
            echo(f"{name}: {found.settings['title']} {found.settings['source']}")
            for experiment, settings in found.experiments.items():
                echo(f"  {experiment}: {settings['title']}")
