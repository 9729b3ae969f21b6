"""The privileges that a replay on given interfaces takes: checked first, and named."""

from __future__ import annotations

import os
import shlex
import sys
from pathlib import Path

from .commands import InterfaceError

STATUS = Path("/proc/self/status")

NEEDS = {
    "CAP_NET_RAW": (13, "to send frames"),
    "CAP_NET_ADMIN": (12, "to set qdiscs"),
}
"""Each with its number (capabilities(7)) and what it is for."""


class PrivilegeError(InterfaceError):
    """A privilege that this process lacks; the message gives the command that grants it."""


def require(*, impaired: bool) -> None:
    """Check that this process may send frames and, for impairments, set qdiscs.

    Raises
    ------
    PrivilegeError
        When it may not.
    """
    needed = list(NEEDS) if impaired else ["CAP_NET_RAW"]
    missing = lacking(STATUS.read_text(encoding="utf-8"), needed)
    if missing:
        what = " and ".join(f"{name} ({NEEDS[name][1]})" for name in missing)
        raise PrivilegeError(
            f"this needs {what}: run it as root, or with just that as yourself:\n  {grant(needed)}"
        )


def lacking(status: str, needed: list[str]) -> list[str]:
    """Return which capabilities are not among the effective ones of a `/proc/PID/status`."""
    (line,) = (line for line in status.splitlines() if line.startswith("CapEff:"))
    effective = int(line.split()[1], 16)
    return [name for name in needed if not effective >> NEEDS[name][0] & 1]


def grant(needed: list[str]) -> str:
    """Return this command with these capabilities: ambient ones, which `tc` inherits, too."""
    names = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in needed)
    who = f"--reuid={os.getuid()} --regid={os.getgid()} --init-groups"
    return f"sudo setpriv {who} --inh-caps={names} --ambient-caps={names} -- {shlex.join(sys.argv)}"
