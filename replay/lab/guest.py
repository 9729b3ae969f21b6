"""Runs in a guest: Debian's user-mode Linux, a whole kernel that is one ordinary process.

The guest's root is the host's file system, read-only; the run's folder is mounted over it and is
all that the guest can write. It needs no root.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

from . import tether
from .child import PYTHON, SEARCH

STAGE = "pathscope.replay.lab.stage"
"""The module that makes a run of a scenario."""

KERNEL = "linux.uml"
MODULES = Path("/usr/lib/uml/modules")

MEMORY_MB = 512

NEEDED = (
    *("veth", "bridge", "sctp", "sch_netem", "crc32c_generic", "md5", "sha1_generic", "hmac"),
    *("sch_ingress", "cls_u32", "act_mirred"),
)

INIT = """#!/bin/sh
# Process 1 of the guest.
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run || exit 1
mkdir -p /run/run /run/tmp /run/lib/modules
mount -t hostfs none /run/run -o {folder} || exit 1
exec >/run/run/logs/stage.log 2>&1 </dev/null
export PATH={path} TMPDIR=/run/tmp HOME=/run/tmp PYTHONDONTWRITEBYTECODE=1 {environment}
ln -s {modules}/$(uname -r) /run/lib/modules/$(uname -r)
for module in {needed}; do
    modprobe -d /run "$module" || echo "no module $module"
done
# A limit of its own: should the keeper be killed, the guest still ends.
timeout {limit_s} {python} -m {module} /run/run
echo $? >/run/run/logs/status
sync
echo o >/proc/sysrq-trigger
sleep 60
"""


class GuestError(RuntimeError):
    """A guest that did not run; the message says what it said."""


def missing() -> str | None:
    """Say what a guest lacks on this machine; None when nothing."""
    if shutil.which(KERNEL) is None or not MODULES.is_dir():
        return f"{KERNEL} is not installed"
    if shutil.which("modprobe", path=SEARCH) is None:
        return "modprobe is not installed"
    return None


def run(folder: Path, limit_s: float, module: str = STAGE) -> None:
    """Run what a folder holds inside a guest, to its end: a scenario, or what `module` reads.

    Raises
    ------
    GuestError
        When the guest does not start, does not end within `limit_s`, or its run fails.
    """
    logs = folder / "logs"
    init, status, console = logs / "init.sh", logs / "status", logs / "console.log"
    init.write_text(
        INIT.format(
            folder=shlex.quote(str(folder.resolve())),
            path=shlex.quote(SEARCH),
            environment=_environment(),
            modules=MODULES,
            needed=" ".join(NEEDED),
            python=shlex.join(PYTHON),
            limit_s=limit_s,
            module=module,
        ),
        encoding="utf-8",
    )
    init.chmod(0o755)
    status.unlink(missing_ok=True)
    command = [KERNEL, f"mem={MEMORY_MB}M", "rootfstype=hostfs", "rootflags=/", "ro"]
    command += [f"init={init.resolve()}", "con=null", "con0=fd:0,fd:1"]
    try:
        tether.run(command, console, limit_s + 10)
    except subprocess.TimeoutExpired as error:
        raise GuestError(f"the guest did not end within {error.timeout:g} s") from error
    if not status.exists() or status.read_text().strip() != "0":
        raise GuestError(f"the run in the guest failed:\n{last_words(logs)}")


def _environment() -> str:
    """The variables by which this Python finds its packages."""
    names = ("PYTHONPATH", "VIRTUAL_ENV", "LANG")
    return " ".join(
        f"{name}={shlex.quote(os.environ[name])}" for name in names if name in os.environ
    )


def last_words(logs: Path) -> str:
    """Return the end of what a run that failed has said."""
    for name in ("stage.log", "console.log"):
        log = logs / name
        if log.exists() and (text := log.read_text(encoding="utf-8", errors="replace").strip()):
            return "\n".join(text.splitlines()[-15:])
    return "it said nothing"
