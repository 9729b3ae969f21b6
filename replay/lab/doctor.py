"""What this machine can do, and for each thing that it lacks the command that cures it."""

from __future__ import annotations

import ctypes.util
import os
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from typing import TYPE_CHECKING

from . import guest, host, tools
from .child import SEARCH
from .ns2 import run as ns2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that a machine has or lacks.

    `serves` says what it is for; `said` is what was seen, and `cure` a command, when it is missing.
    """

    name: str
    serves: str
    found: bool
    said: str
    cure: str | None = None


MODULES = {
    "links": ("veth", "bridge"),
    "wires": ("sch_ingress", "cls_u32", "act_mirred"),
    "netem": ("sch_netem",),
    "sctp": ("sctp",),
}
"""What a kernel may have beside it."""


def checks() -> Iterator[Check]:
    """Yield every check, those of the lab first."""
    root = os.geteuid() == 0
    yield Check("privileges", "host runs", True, "root" if root else "an ordinary user's")
    for probe in host.PROBES:
        said = host.lacks(probe)
        serves = f"host runs: {probe} of the running kernel"
        cure = None if said is None else _kernel_cure(probe)
        yield Check(f"host {probe}", serves, said is None, said or "works", cure)
    lack = guest.missing()
    cure = None if lack is None else apt("user-mode-linux", "kmod")
    yield Check("guest kernel", "runs without root", lack is None, lack or "installed", cure)
    for name, (_, package) in tools.PROGRAMS.items():
        yield _program(name, "all runs", package)
    yield _module("jsonschema", "reading scenarios", "pathscope[lab]")
    yield _simulator()
    yield _program("tshark", "`show` in Wireshark's words, and the tests", "tshark")
    yield _module("pyshark", "`show` in Wireshark's words", "pathscope[tshark]")
    libpcap = ctypes.util.find_library("pcap")
    cure = None if libpcap else apt("libpcap0.8")
    yield Check("libpcap", "--filter", libpcap is not None, libpcap or "not installed", cure)


def runner(found: list[Check], needs: Iterable[str] = host.SCENARIO) -> str | None:
    """Return the kernel that `--kernel auto` takes, judging by the checks; None when none can.

    `needs` are of what is to be run: by default of a scenario.
    """
    has = {check.name: check.found for check in found}
    if not all(has[name] for name in (*tools.PROGRAMS, "jsonschema")):
        return None
    if all(has[f"host {probe}"] for probe in needs):
        return "host"
    return "guest" if has["guest kernel"] else None


def replay_runners(found: list[Check]) -> dict[str, str | None]:
    """Return the kernel for each kind of replay, by the options that ask for it."""
    needs = {
        "--lab": host.WIRES,
        "--lab --profile": (*host.WIRES, "netem"),
        "--live": host.SCENARIO,
    }
    return {kind: runner(found, needed) for kind, needed in needs.items()}


def apt(*packages: str) -> str:
    """Return the command that installs Debian packages."""
    return f"sudo apt-get install {' '.join(packages)}"


def _kernel_cure(probe: str) -> str:
    modules = MODULES.get(probe)
    if modules is None:
        return "sudo sysctl kernel.unprivileged_userns_clone=1"
    place = shutil.which("modprobe", path=SEARCH)
    if place is not None:
        asked = [place, "--dry-run", "--all", *modules]
        if subprocess.run(asked, capture_output=True, check=False).returncode == 0:
            return f"sudo modprobe --all {' '.join(modules)}"
    # A kernel without the module has no cure, and the guest needs none.
    return "pathscope lab run --kernel guest"


def _simulator() -> Check:
    serves = "scenarios of the simulator ns-2"
    try:
        # Its program is `ns`, as other programs are.
        said = f"version {ns2.versions()['ns2']}"
    except ns2.Ns2Error as error:
        return Check("ns2", serves, False, str(error).partition(":")[0], apt("ns2"))
    return Check("ns2", serves, True, said)


def _program(name: str, serves: str, package: str) -> Check:
    place = shutil.which(name, path=SEARCH)
    cure = None if place else apt(package)
    return Check(name, serves, place is not None, place or "not installed", cure)


def _module(name: str, serves: str, package: str) -> Check:
    found = find_spec(name) is not None
    cure = None if found else f"pip install '{package}'"
    return Check(name, serves, found, "installed" if found else "not installed", cure)
