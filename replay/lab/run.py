"""One run of a scenario: into a folder, in a kernel, to captures that can be analyzed."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Literal

from . import events, folder, guest, host, messages, pace, recordings, tools
from .ns2 import run as ns2
from .scenario import ENDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from .messages import Message
    from .scenario import Scenario

Kernel = Literal["auto", "host", "guest"]
Runner = Literal["host", "guest", "ns2"]

SETUP_S = 90
"""How long a run may take beyond the scenario's own time: a guest boots, connections are made and
closed; on a busy machine all of it takes longer."""


FAILURES = (guest.GuestError, host.HostError, ns2.Ns2Error, recordings.RecordingError)


class LabError(RuntimeError):
    """A run that could not be made; the message says why, and what would help."""


def choose(wanted: Kernel, engine: str = "kernel") -> Runner:
    """Return what is to run a scenario of an engine.

    As `kernel_for`. The simulator is a program: with it, no kernel is chosen.

    Raises
    ------
    LabError
        When it cannot carry a run.
    """
    if engine == "ns2":
        if wanted != "auto":
            raise LabError(
                f"--kernel {wanted}: this scenario is one of ns-2, which needs no kernel"
            )
        try:
            ns2.versions()
        except ns2.Ns2Error as error:
            raise LabError(str(error)) from error
        return "ns2"
    return kernel_for(wanted, host.SCENARIO)


def kernel_for(wanted: Kernel, needs: Sequence[str]) -> Literal["host", "guest"]:
    """Return the kernel that is to make a run with these needs, named as the host's probes.

    For `auto` that is the running kernel when it has them all.

    Raises
    ------
    LabError
        When it cannot carry a run.
    """
    if absent := tools.missing():
        packages = sorted({tools.PROGRAMS[name][1] for name in absent})
        raise LabError(f"not installed: {', '.join(absent)}: apt-get install {' '.join(packages)}")
    no_host = host.missing(needs) if wanted != "guest" else "not asked for"
    if no_host is None:
        return "host"
    if wanted == "host":
        raise LabError(f"{no_host}; --kernel guest needs none of it, `pathscope doctor` says more")
    no_guest = guest.missing()
    if no_guest is None:
        return "guest"
    both = f"{no_host}, and " if wanted == "auto" else ""
    raise LabError(f"{both}{no_guest}: apt-get install user-mode-linux kmod")


def run(
    scenario: Scenario,
    out: Path,
    runner: Runner,
    *,
    force: bool = False,
    recorded: Mapping[str, Iterable[Message]] | None = None,
) -> None:
    """Run a scenario into a folder (`folder` says what is in it then).

    `recorded` has the messages that client and server send, where the application is that.

    Raises
    ------
    FolderError
        When the folder cannot be used.
    LabError
        When the run fails; the folder keeps its logs.
    """
    from ... import __version__ as version

    application = scenario.settings.get("application", {})
    if application.get("kind") == "recorded" and recorded is None:
        raise LabError(f"{scenario.name}: `pathscope replay --live` has the messages of a trace")
    folder.claim(out, force=force)
    told: dict[str, Any] = {
        "scenario": scenario.name,
        "description": scenario.settings.get("description", ""),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "seed": scenario.settings.get("seed"),
        "runner": runner,
        "versions": {"pathscope": version},
    }
    with folder.running(out, told) as facts:
        document = json.dumps(scenario.document(), indent=1, ensure_ascii=False)
        (out / folder.SCENARIO).write_text(document + "\n", encoding="utf-8")
        _write_messages(out, recorded or {})
        try:
            if runner == "ns2":
                facts["versions"] |= ns2.versions()
                facts["captures"] = {"trace": ns2.run(scenario, out).name}
                return
            facts["versions"] |= tools.versions()
            kernel = guest if runner == "guest" else host
            kernel.run(out, scenario["duration_s"] + SETUP_S)
            facts["versions"]["kernel"] = (out / folder.LOGS / "kernel").read_text().strip()
            facts["captures"] = _assemble(scenario, out, facts["versions"])
            facts["pace"] = kept_up(out / folder.LOGS)
        except FAILURES as error:
            raise LabError(f"{out}: {error}") from error


def _write_messages(out: Path, recorded: Mapping[str, Iterable[Message]]) -> None:
    for end, sent in recorded.items():
        with (out / messages.file_name(end)).open("w", encoding="ascii") as file:
            file.writelines(messages.lines(sent))


def kept_up(logs: Path) -> dict[str, Any]:
    """Return how the kernel fared, and why its run cannot be trusted: `too_slow`, often empty."""
    told: dict[str, Any] = json.loads((logs / "pace.json").read_text(encoding="utf-8"))
    counts = json.loads((logs / "recordings.json").read_text(encoding="utf-8"))
    dropped = {name: count["dropped by kernel"] for name, count in counts.items()}
    return told | {"too_slow": pace.reasons(told, dropped)}


def _assemble(scenario: Scenario, out: Path, versions: dict[str, str]) -> dict[str, str]:
    """Join the recordings of each end, and return the captures' names by end."""
    counts = json.loads((out / folder.LOGS / "recordings.json").read_text(encoding="utf-8"))
    log = events.read(out / folder.EVENTS)
    found = {}
    for end in ENDS:
        if end not in scenario["capture"]["points"]:
            continue
        parts = [
            recordings.Recording(
                name,
                out / f"{end}-{name}.pcap",
                counts[f"{end}-{name}"]["received by filter"],
                counts[f"{end}-{name}"]["dropped by kernel"],
            )
            for name in scenario.paths
        ]
        recordings.join(
            parts,
            out / folder.CAPTURES[end],
            log,
            f"lab: {scenario.name}: {scenario['description']}".removesuffix(": "),
            f"lab: seen at the {end}",
            system=versions["kernel"],
            application=f"pathscope {versions['pathscope']}",
        )
        found[end] = folder.CAPTURES[end]
        for part in parts:
            part.file.unlink()
    return found
