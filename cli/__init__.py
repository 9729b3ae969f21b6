"""The command line: a thin face of the public API, a module a command."""

from __future__ import annotations

import os

import click

from ..dissectors._core import __version__
from .analyze import analyze_command
from .completion import completion_command
from .dissect import dissect_command
from .faults import Commands
from .info import info_command
from .show import show_command
from .tables import tables_command


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="pathscope")
def main() -> None:
    """Say what happened on every path and in every handover of a multihomed transport capture.

    \b
    Example:
      pathscope analyze client.pcapng --events events.jsonl --label 10.0.1.0/24=wlan
    """
    # No linear algebra is done here, and numpy's threads for it spin while they wait for some.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


for command in (
    analyze_command,
    info_command,
    dissect_command,
    show_command,
    tables_command,
    completion_command,
):
    main.add_command(command)
