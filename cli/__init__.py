"""The command line: a thin face of the public API, a module a command."""

from __future__ import annotations

import os

import click

from ..dissectors._core import __version__
from .faults import Commands

COMMANDS = (
    "analyze",
    "baseline",
    "compare",
    "completion",
    "dissect",
    "doctor",
    "explain",
    "export",
    "info",
    "lab",
    "profile",
    "query",
    "replay",
    "report",
    "show",
    "tables",
)
"""Each is `NAME_command` in the module of its name, which is imported when it is needed."""


@click.group(
    cls=Commands,
    lazy={name: f"{__name__}.{name}" for name in COMMANDS},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
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
