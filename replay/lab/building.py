"""Hosts of a run: network namespaces with interfaces, made by `ip` in the kernel that runs this."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from .ends import StageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OFFLOADS = ("tx", "gso", "tso", "gro")


def build(
    hosts: Iterable[str],
    links: Iterable[tuple[str, Sequence[str]]],
    devices: Iterable[tuple[str, str]],
    sysctls: Mapping[str, Mapping[str, str]],
) -> None:
    """Make namespaces, links, addresses and settings, in this order.

    Parameters
    ----------
    hosts
        Names of the namespaces.
    links
        Lines for `ip -batch`, with the host in whose namespace they are for.
    devices
        Interfaces whose offloads are turned off: host and name.
    sysctls
        Files under /proc/sys and what to write, by host; written before the links are made, so that
        what new interfaces take over is theirs from the beginning.

    Raises
    ------
    StageError
        When one of the commands fails.
    """
    for host in hosts:
        run("ip", "netns", "add", host)
        run("ip", "-netns", host, "link", "set", "lo", "up")
    for host, values in sysctls.items():
        _write_sysctls(host, values)
    for host, lines in links:
        run("ip", "-netns", host, "-batch", "-", given="\n".join(lines) + "\n")
    off = [word for offload in OFFLOADS for word in (offload, "off")]
    for host, name in devices:
        # Offloaded checksums are filled in after the capture, and look wrong there.
        run("ip", "netns", "exec", host, "ethtool", "-K", name, *off)


def run(*command: str, given: str | None = None) -> str:
    """Run a command to its end and return what it printed.

    Raises
    ------
    StageError
        When it fails; the message has what it said.
    """
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = (done.stderr or done.stdout).strip()
        raise StageError(f"{' '.join(command)}: exit code {done.returncode}: {said}")
    return done.stdout


def _write_sysctls(host: str, values: Mapping[str, str]) -> None:
    """Write files under /proc/sys as the host sees them."""
    script = 'cd /proc/sys; for pair in "$@"; do echo "${pair#*=}" > "${pair%%=*}" || exit 1; done'
    pairs = [f"{name}={value}" for name, value in values.items()]
    run("ip", "netns", "exec", host, "sh", "-c", script, "sh", *pairs)
