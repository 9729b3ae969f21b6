"""Runs in the running kernel: in namespaces that end with their last process.

Everything of a run is inside network, mount and process namespaces of its own: the names of the
hosts too, as `/run` is a file system of its own there. When the first process of such a process
namespace dies, the kernel kills the others, and what they held goes: no namespace, interface, qdisc
or process can be left, whatever ends the run. An ordinary user gets the privileges inside a user
namespace, where the machine lets one make some.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING

from . import tether
from .child import PYTHON
from .guest import STAGE, last_words

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

INSIDE = 'mount -t tmpfs tmpfs /run && exec "$@"'
"""`ip netns` keeps its names under /run."""

PROBE_S = 30


class HostError(RuntimeError):
    """A run that the running kernel could not make; the message says what was said."""


def isolated(*command: str) -> list[str]:
    """Return a command that runs another as root of namespaces of its own."""
    words = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child=KILL", "--mount-proc"]
    if os.geteuid() != 0:
        words += ["--user", "--map-root-user"]
    return [*words, "sh", "-c", INSIDE, "sh", *command]


def run(folder: Path, limit_s: float, module: str = STAGE) -> None:
    """Run a scenario, or what `module` reads in a folder, in the running kernel to its end.

    Raises
    ------
    HostError
        When it does not end within `limit_s`, or fails.
    """
    logs = folder / "logs"
    # A folder under /run is out of sight inside: but a process keeps the folder it is in.
    stage = [*PYTHON, "-m", module, "."]
    inside = isolated(*stage)
    command = ["sh", "-c", 'cd "$0" && exec "$@"', str(folder.resolve()), *inside]
    try:
        status = tether.run(command, logs / "stage.log", limit_s)
    except subprocess.TimeoutExpired as error:
        raise HostError(f"the run did not end within {error.timeout:g} s") from error
    if status != 0:
        raise HostError(f"the run in this kernel failed:\n{last_words(logs)}")


PROBES = {
    "namespaces": "true",
    "links": "ip link add name v0 type veth peer name v1 && ip link add name b0 type bridge",
    "wires": "ip link add name v0 type veth peer name v1"
    " && tc qdisc add dev v0 handle ffff: ingress"
    " && tc filter add dev v0 parent ffff: protocol all u32 match u32 0 0"
    " action mirred egress redirect dev v1",
    "netem": "tc qdisc add dev lo root netem delay 1ms",
    "sctp": f"{shlex.join(PYTHON)} -c 'import socket; socket.socket(2, 1, 132)'",
}
"""What a run does in a kernel, each tried in namespaces that are thrown away."""


def lacks(probe: str) -> str | None:
    """Try one of the probes; return what was said when it fails, or None when it works."""
    if shutil.which("unshare") is None:
        return "unshare is not installed"
    try:
        done = subprocess.run(
            isolated("sh", "-c", PROBES[probe]),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=PROBE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"no answer within {PROBE_S} s"
    if done.returncode == 0:
        return None
    return (done.stderr.strip() or done.stdout.strip() or "it failed").splitlines()[-1]


SCENARIO = ("namespaces", "links", "netem", "sctp")
"""The probes of what a run of a scenario needs."""

WIRES = ("namespaces", "links", "wires")
"""Those of a packet replay that nothing impairs; else netem, too."""


def missing(needs: Iterable[str] = SCENARIO) -> str | None:
    """Say which of these needs, named as the probes, the running kernel lacks; None when none."""
    for probe in needs:
        if (said := lacks(probe)) is not None:
            return f"this kernel has no {probe} for us ({said})"
    return None
