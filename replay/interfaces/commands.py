"""`ip` and `tc`: what they answer, and what they said instead of doing it."""

from __future__ import annotations

import json
import os
import subprocess
from typing import TYPE_CHECKING, Any

from ..lab import batch, tables
from ..lab.child import SEARCH

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path


class InterfaceError(RuntimeError):
    """An interface that cannot be used, or not be restored; the message names it and says why."""


def run(*command: str) -> str:
    """Run a command and return its output.

    Raises
    ------
    InterfaceError
        When it fails; the message is the command and what it said.
    """
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            env=environment(),
            # Ctrl-C at the terminal is for whoever asked, who may be restoring.
            process_group=0,
            # What Python opens is closed there all the same, but for a journal's lock.
            close_fds=False,
            check=False,
        )
    except FileNotFoundError as error:
        raise InterfaceError(f"{command[0]} is not installed: apt-get install iproute2") from error
    if done.returncode != 0:
        said = " ".join((done.stderr or done.stdout).split())
        raise InterfaceError(f"{' '.join(command)}: {said}")
    return done.stdout


def table(*command: str) -> list[dict[str, Any]]:
    """Run a command that answers in JSON, and return its rows.

    Raises
    ------
    InterfaceError
        When it fails.
    """
    # Without a row some versions say nothing, others an empty list; and some leave empty rows.
    return [row for row in json.loads(run(*command) or "[]") if row]


def environment() -> dict[str, str]:
    """Return the variables for a command: an ordinary user's path lacks the folders of these."""
    return {**os.environ, "PATH": SEARCH}


def kept_tc(folder: Path | None = None) -> AbstractContextManager[batch.Batch]:
    """Keep a tc of this namespace; `folder` has tables of netem's distributions."""
    variables = environment()
    if folder is not None:
        variables[tables.FOLDER] = str(folder)
    return batch.running([], variables, InterfaceError)
