"""Shell scripts of `tc` and `sleep`: what changes links on many a machine already.

A device is a path. Its netem is what leaves by it: one direction.
"""

from __future__ import annotations

import re
import shlex
from itertools import groupby
from typing import TYPE_CHECKING, Any

from ..lab import netem
from ..lab.impairment import STANDARD, UNIFORM, complete
from . import words
from .document import table_of
from .schedule import schedule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from .profile import Profile
    from .schedule import Step

SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}
SLEEP = re.compile(r"([0-9]{0,9}\.?[0-9]{1,9})([smhd]?)")
LONGEST_NS = 86_400 * 10**9

LOOPS = (["while", ":"], ["while", "true"])

SILENT = ("set", "trap", "do", "exit", "echo", "export", "modprobe")
"""Commands that say nothing about when a link is how."""

SEPARATORS = ";&"
"""Of commands on a line."""

VERBS = ("add", "replace", "change", "del", "delete")

STAND_IN = "normal"
"""For a table that only the profile has."""


class ScriptError(ValueError):
    """A script that cannot be read; the message names the line."""


class Reader:
    """What a script has done so far: the states of each device, by time."""

    def __init__(self) -> None:
        self.now_ns = 0
        self.looped = False
        self.over = False
        self.states: dict[str, list[tuple[int, dict[str, Any]]]] = {}
        self.warnings: list[str] = []

    def line(self, number: int, text: str) -> None:
        """Do what a line says.

        Raises
        ------
        ScriptError
            When netem would not take it either.
        """
        try:
            for command in _commands(text):
                self.command(number, command)
        except ValueError as error:
            raise ScriptError(f"line {number}: {error}") from error

    def command(self, number: int, given: list[str]) -> None:
        """Do what a command says."""
        if given[:1] == ["sudo"]:
            given = given[1:]
        if not given or given[0] in SILENT or self.over:
            return
        if given in LOOPS:
            if self.now_ns:
                self.warnings.append(f"line {number}: what is before the loop is repeated, too")
            self.looped = True
        elif given[0] == "done":
            self.over = True
        elif given[0] == "sleep":
            self.sleep(given[1:])
        elif given[0].rpartition("/")[2] == "tc":
            self.tc(number, given[1:])
        else:
            self.warnings.append(f"line {number}: {shlex.join(given)!r} is left out")

    def sleep(self, given: list[str]) -> None:
        """Let time go by."""
        if given == ["infinity"]:
            self.over = True
            return
        parts = [SLEEP.fullmatch(word) for word in given]
        if not parts or None in parts:
            raise ValueError(f"expected sleep and a number of seconds, found {' '.join(given)!r}")
        self.now_ns += round(
            1e9 * sum(float(part[1]) * SECONDS[part[2]] for part in parts if part is not None)
        )
        if self.now_ns > LONGEST_NS:
            raise ValueError("a profile lasts a day at most")

    def tc(self, number: int, given: list[str]) -> None:
        """Change what a device is like."""
        verb = given[1] if len(given) > 1 else ""
        if given[:1] != ["qdisc"] or verb not in VERBS or "dev" not in given or "root" not in given:
            self.warnings.append(f"line {number}: only netem at a device's root is read")
            return
        at = given.index("dev") + 1
        device = given[at] if at < len(given) else ""
        if not device:
            raise ValueError("dev: its name is missing")
        before = self.states.get(device, [(0, {})])[-1][1]
        if verb in ("del", "delete"):
            if device in self.states:
                self.put(device, {})
        elif "netem" not in given:
            self.warnings.append(f"line {number}: a qdisc other than netem is left out")
        else:
            changed = None if verb == "add" else before
            found, left_out = words.read(given[given.index("netem") + 1 :], changed)
            self.warnings += [f"line {number}: {what} is left out" for what in left_out]
            self.put(device, found)

    def put(self, device: str, state: dict[str, Any]) -> None:
        """Note what a device is like from now on."""
        states = self.states.setdefault(device, [])
        if not states and self.now_ns:
            states.append((0, {}))
        if states and states[-1][0] == self.now_ns:
            states.pop()
        states.append((self.now_ns, state))


def read(text: str, direction: str) -> tuple[dict[str, Any], list[str]]:
    """Return the document of a profile that does what a script does, and warnings.

    Parameters
    ----------
    text
        Lines of `tc qdisc ... dev X root netem ...` and of `sleep`, which may be in one endless
        loop.
    direction
        What leaves by its devices: `to_server`, `to_client` or `both`.

    Raises
    ------
    ScriptError
        When a line cannot be read.
    """
    reader = Reader()
    for number, line in enumerate(text.replace("\\\n", "  ").splitlines(), 1):
        reader.line(number, line.strip())
    document: dict[str, Any] = {}
    if reader.looped and reader.now_ns:
        document["repeat_s"] = reader.now_ns / 1e9
    paths = {
        device: table_of([state for state in states if _counts(reader, state[0])], direction)
        for device, states in reader.states.items()
    }
    return document | {"paths": paths}, reader.warnings


def write(
    profile: Profile, paths: Sequence[str], direction: str, duration_ns: int
) -> tuple[str, list[str]]:
    """Return a script that does what a profile says of a direction, and what it cannot do.

    The script needs root, names devices by paths, and removes what it did when it ends.

    Raises
    ------
    ProfileError
        When the profile cannot be scheduled.
    """
    if direction == "both":
        direction = "to_server"
    steps = schedule(profile, paths, duration_ns)
    warnings = _warnings(profile, steps, direction)
    mine = [step for step in steps if step.direction == direction]
    lines = list(_lines(mine, duration_ns, looped=profile.repeat_ns == duration_ns))
    removal = "; ".join(f"tc qdisc del dev {shlex.quote(path)} root" for path in paths)
    name = "".join(c if c.isprintable() else "?" for c in profile.name)
    head = [
        "#!/bin/sh",
        f"# {name}: {direction.replace('_', ' ')}.",
        "set -eu",
        f"trap {shlex.quote(removal)} EXIT",
        "trap 'exit 1' INT TERM",
    ]
    return "\n".join([*head, *lines]) + "\n", warnings


def _commands(text: str) -> Iterator[list[str]]:
    """The commands of a line, as words."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=SEPARATORS)
    lexer.whitespace_split = True
    for between, group in groupby(lexer, key=lambda word: not word.strip(SEPARATORS)):
        if not between:
            yield list(group)


def _counts(reader: Reader, at_ns: int) -> bool:
    """What a loop does last, at its very end, is undone by its beginning."""
    return not (reader.looped and reader.now_ns and at_ns >= reader.now_ns)


def _lines(steps: Sequence[Step], duration_ns: int, *, looped: bool) -> Iterator[str]:
    if looped:
        yield "while :; do"
    now_ns = 0
    for at_ns, group in groupby(steps, key=lambda step: step.at_ns):
        if at_ns > now_ns:
            yield f"sleep {_seconds(at_ns - now_ns)}"
        now_ns = at_ns
        for step in group:
            arguments = " ".join(netem.arguments(_own(step.impairment)))
            yield f"tc qdisc replace dev {shlex.quote(step.path)} root netem {arguments}"
    if looped:
        yield f"sleep {_seconds(duration_ns - now_ns)}"
        yield "done"
    else:
        yield "sleep infinity"


def _seconds(time_ns: int) -> str:
    return f"{time_ns / 1e9:.9f}".rstrip("0").rstrip(".")


def _own(impairment: dict[str, Any]) -> dict[str, Any]:
    if impairment["distribution"] in (UNIFORM, *STANDARD):
        return impairment
    return impairment | {"distribution": STAND_IN}


def _warnings(profile: Profile, steps: Sequence[Step], direction: str) -> list[str]:
    found = []
    nothing = complete({})
    if any(step.direction != direction and step.impairment != nothing for step in steps):
        found.append(f"a script impairs what leaves by a device: only {direction} is in it")
    found += [
        f"the table {name} is not in it: {STAND_IN} stands in" for name in profile.distributions
    ]
    if any("random" in table for table in profile.paths.values()):
        found.append("random values are written as they were drawn")
    return found
