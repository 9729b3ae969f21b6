"""Runs in a guest: Debian's user-mode Linux, a whole kernel that is one ordinary process.

The guest's root is the host's file system, read-only; the run's folder is mounted over it and is
all that the guest can write. It needs no root.
"""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

KERNEL = "linux.uml"
MODULES = Path("/usr/lib/uml/modules")

MEMORY_MB = 512
BOOT_S = 60
"""How long a guest may take beyond the run itself."""

NEEDED = ("veth", "bridge", "sctp", "sch_netem", "crc32c_generic", "md5", "sha1_generic", "hmac")

INIT = """#!/bin/sh
# Process 1 of the guest.
mount -t proc proc /proc && mount -t sysfs sysfs /sys && mount -t tmpfs tmpfs /run || exit 1
mkdir -p /run/run /run/tmp /run/lib/modules
mount -t hostfs none /run/run -o {folder} || exit 1
exec >/run/run/logs/guest.log 2>&1 </dev/null
export PATH={path} TMPDIR=/run/tmp HOME=/run/tmp PYTHONDONTWRITEBYTECODE=1 {environment}
ln -s {modules}/$(uname -r) /run/lib/modules/$(uname -r)
for module in {needed}; do
    modprobe -d /run "$module" || echo "no module $module"
done
uname -r >/run/run/logs/kernel
ip link set lo up
{python} -m pathscope.replay.lab.stage /run/run
echo $? >/run/run/logs/status
sync
echo o >/proc/sysrq-trigger
sleep 60
"""


class GuestError(RuntimeError):
    """A guest that did not run; the message says what it said."""


def run(folder: Path, duration_s: float) -> None:
    """Run the scenario in a folder inside a guest, to its end.

    Raises
    ------
    GuestError
        When the guest does not start, does not end, or its run fails.
    """
    init = folder / "logs" / "init.sh"
    init.parent.mkdir(exist_ok=True)
    init.write_text(
        INIT.format(
            folder=shlex.quote(str(folder.resolve())),
            path=shlex.quote(os.environ.get("PATH", "") + ":/usr/sbin:/sbin"),
            environment=_environment(),
            modules=MODULES,
            needed=" ".join(NEEDED),
            python=shlex.quote(sys.executable),
        )
    )
    init.chmod(0o755)
    status = folder / "logs" / "status"
    status.unlink(missing_ok=True)
    command = [KERNEL, f"mem={MEMORY_MB}M", "rootfstype=hostfs", "rootflags=/", "ro"]
    command += [f"init={init.resolve()}", "con=null", "con0=fd:0,fd:1"]
    try:
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=duration_s + BOOT_S,
            check=False,
            process_group=0,
        )
    except FileNotFoundError as error:
        raise GuestError(f"{KERNEL} is not installed: apt-get install user-mode-linux") from error
    except subprocess.TimeoutExpired as error:
        raise GuestError(f"the guest did not end within {duration_s + BOOT_S:g} s") from error
    (folder / "logs" / "console.log").write_bytes(done.stdout + done.stderr)
    if not status.exists() or status.read_text().strip() != "0":
        raise GuestError(f"the run in the guest failed:\n{_last_words(folder)}")


def _environment() -> str:
    """The variables by which this Python finds its packages."""
    names = ("PYTHONPATH", "VIRTUAL_ENV", "LANG")
    return " ".join(
        f"{name}={shlex.quote(os.environ[name])}" for name in names if name in os.environ
    )


def _last_words(folder: Path) -> str:
    for name in ("guest.log", "console.log"):
        log = folder / "logs" / name
        if log.exists() and log.stat().st_size:
            return "\n".join(log.read_text(errors="replace").splitlines()[-15:])
    return "it said nothing"
