"""The programs that a run uses, and their versions."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess

from .child import SEARCH

PROGRAMS = {
    "ip": ("-V", "iproute2"),
    "tc": ("-V", "iproute2"),
    "ethtool": ("--version", "ethtool"),
    "tcpdump": ("--version", "tcpdump"),
}
"""Each with how it says its version, and Debian's package."""


def missing() -> list[str]:
    """Return the programs that are not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=SEARCH) is None]


def versions() -> dict[str, str]:
    """Return the version of each, in its own words, and Python's."""
    found = {"python": platform.python_version()}
    for name, (option, _) in PROGRAMS.items():
        done = subprocess.run(
            [name, option],
            capture_output=True,
            text=True,
            errors="replace",
            env={**os.environ, "PATH": SEARCH},
            check=False,
        )
        found[name] = (done.stdout or done.stderr).partition("\n")[0].strip()
    return found
