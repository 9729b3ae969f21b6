"""A run of ns-2: from a scenario to a trace."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .nodes import numbers
from .tcl import END, TRACE, script

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..scenario import Scenario

PROGRAM = "ns"

CAPTURE = "trace.tr"
"""What a complete run leaves."""

LIMIT_S = 600.0
"""How long a run may take, unless its caller says otherwise."""

VERSIONS_S = 20
"""How long ns-2 may take to say its version."""


class Ns2Error(RuntimeError):
    """A run that ns-2 did not make; the message says why, and what cures it."""


def versions() -> dict[str, str]:
    """Return the versions of ns-2 and of its Tcl, as `ns2` and `tcl`.

    Raises
    ------
    Ns2Error
        When there is no ns-2.
    """
    ask = b"puts [ns-version]\nputs [info patchlevel]\nexit 0\n"
    try:
        said = subprocess.run(
            _command(), input=ask, capture_output=True, timeout=VERSIONS_S, check=False
        )
    except subprocess.TimeoutExpired as error:
        raise Ns2Error(f"{PROGRAM} did not say its version within {VERSIONS_S} s") from error
    words = said.stdout.decode(errors="replace").split()
    if said.returncode != 0 or len(words) != 2:
        raise Ns2Error(f"{PROGRAM} is not the simulator ns-2: apt-get install ns2")
    return {"ns2": words[0], "tcl": words[1]}


def run(scenario: Scenario, folder: Path, *, limit_s: float = LIMIT_S) -> Path:
    """Run a scenario in ns-2 and return the path of its trace.

    The folder gets `script.tcl`, `nodes.json` (the trace's numbers by name), `events.jsonl` (what
    was done to the links and the flows, in simulated seconds), `logs/ns2.log` and, when the run is
    complete, `trace.tr`.

    Parameters
    ----------
    scenario
        One with `engine = "ns2"`.
    folder
        Of the run, with `logs` in it (`folder.claim`).
    limit_s
        How long ns-2 may take, in seconds of a real clock.

    Raises
    ------
    Ns2Error
        When ns-2 is missing, fails, takes too long, or could not write all of its trace.
    """
    settings = scenario.settings
    nodes = numbers(settings)
    (folder / "nodes.json").write_text(json.dumps(nodes, indent=1) + "\n", encoding="utf-8")
    (folder / "events.jsonl").write_text(_events(settings, nodes), encoding="utf-8")
    (folder / "script.tcl").write_text(script(settings), encoding="ascii")
    part = folder / TRACE
    try:
        _simulate(folder, folder / "logs" / "ns2.log", limit_s)
        return _completed(part, folder / CAPTURE)
    finally:
        part.unlink(missing_ok=True)


def _command(*arguments: str) -> list[str]:
    """Return the command that runs ns-2, and ends it when this process ends, however it does."""
    for program, package in ((PROGRAM, "ns2"), ("setpriv", "util-linux")):
        if shutil.which(program) is None:
            raise Ns2Error(f"{program} is not installed: apt-get install {package}")
    return ["setpriv", "--pdeathsig", "KILL", PROGRAM, *arguments]


def _simulate(folder: Path, log: Path, limit_s: float) -> None:
    with log.open("wb") as said:
        try:
            done = subprocess.run(
                _command("script.tcl"),
                cwd=folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=subprocess.STDOUT,
                timeout=limit_s,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            raise Ns2Error(f"ns-2 did not end within {limit_s:g} s") from error
    if done.returncode != 0:
        raise Ns2Error(f"ns-2 failed with exit code {done.returncode}:\n{_last_words(log)}")


def _completed(part: Path, trace: Path) -> Path:
    """Take the last line off a trace, which shows that nothing of it is missing."""
    end = f"{END}\n".encode()
    if not part.exists():
        raise Ns2Error("ns-2 wrote no trace")
    with part.open("r+b") as file:
        length = part.stat().st_size - len(end)
        file.seek(max(0, length))
        if file.read() != end:
            raise Ns2Error("the trace breaks off: is the disk full?")
        file.truncate(length)
    return part.rename(trace)


def _events(settings: Mapping[str, Any], nodes: Mapping[str, int]) -> str:
    """Return what is done to links and flows, as the lines that `--events` reads."""
    lines = []
    for action in sorted(settings["actions"], key=lambda action: float(action["at_s"])):
        event: dict[str, Any] = {"t": action["at_s"]}
        if action["do"] == "set-primary":
            event |= {"event": "set-primary", "flow": action["flow"], "to": action["to"]}
        else:
            note = action["do"].removeprefix("link-")
            link = f"n{nodes[action['from']]}-n{nodes[action['to']]}"
            event |= {"event": "link", "link": link, "note": note}
            event["one_way"] = action["one_way"]
        lines.append(json.dumps(event) + "\n")
    return "".join(lines)


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return "\n".join(lines[-15:]) or "it said nothing"
