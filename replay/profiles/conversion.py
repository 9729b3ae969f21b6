"""Profiles from and to other formats, with what a format cannot hold said."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, Literal

from . import document, mahimahi, script, tcconfig
from .profile import load, parse
from .schedule import EVERY_PATH, last_instant_ns, nanoseconds

if TYPE_CHECKING:
    from pathlib import Path

    from .profile import Profile

Format = Literal["profile", "mahimahi", "tcconfig", "tc"]
FORMATS: tuple[Format, ...] = ("profile", "mahimahi", "tcconfig", "tc")

SUFFIXES: dict[str, Format] = {".toml": "profile", ".json": "tcconfig", ".sh": "tc"}
"""What else a file is called, it is a trace of mahimahi: those have no common suffix."""

CONSTANT_NS = 1_000_000_000
"""How much of a profile that does not change is written to a format that needs a length."""


class ConversionError(ValueError):
    """Input that cannot be read, or a profile that cannot be written."""


@dataclass(frozen=True, slots=True)
class Options:
    """What formats leave open.

    Attributes
    ----------
    paths
        Names of paths: of what is read where the format names none, of what is written where the
        profile says `*`.
    direction
        `both`, `to_server` or `to_client`: what a format of one direction is of.
    bin_ms
        Width of the steps that a trace of mahimahi is read into.
    duration_s
        How much of the profile is written; None for one repetition, or until its last change.
    """

    paths: tuple[str, ...] = ()
    direction: str = "both"
    bin_ms: int = 100
    duration_s: float | None = None


def format_of(path: Path | PurePath) -> Format:
    """Return the format that a file's name tells."""
    return SUFFIXES.get(path.suffix.lower(), "mahimahi")


def read(path: Path, form: Format, options: Options) -> tuple[Profile, list[str]]:
    """Return the profile that a file holds, and what of the file it cannot hold.

    Raises
    ------
    ConversionError, ProfileError
        When the file cannot be read as that.
    OSError
        When it cannot be read at all.
    """
    if form == "profile":
        return load(path), []
    try:
        text = path.read_text(encoding="utf-8")
        found, warnings = _read(text, form, options)
    except ValueError as error:
        raise ConversionError(f"{path}: {error}") from error
    try:
        return parse({"description": f"From {path.name}.", **found}, path.stem), warnings
    except ValueError as error:
        raise ConversionError(f"{path}: as a profile: {error}") from error


def write(profile: Profile, form: Format, options: Options) -> tuple[str, list[str]]:
    """Return a profile as text in a format, and what of it the format cannot hold.

    Raises
    ------
    ConversionError
        When the format has no room for it.
    ProfileError
        When the profile cannot be scheduled.
    """
    if form == "profile":
        return document.text(profile), []
    paths = _paths(profile, options)
    duration_ns = _duration_ns(profile, options)
    try:
        if form == "tcconfig":
            return tcconfig.write(profile, paths)
        if form == "tc":
            return script.write(profile, paths, options.direction, duration_ns)
        return _trace(profile, paths, options, duration_ns)
    except (tcconfig.TcconfigError, mahimahi.MahimahiError) as error:
        raise ConversionError(f"{profile.name}: {error}") from error


def _read(text: str, form: Format, options: Options) -> tuple[dict[str, Any], list[str]]:
    if form == "tcconfig":
        return tcconfig.read(text)
    if form == "tc":
        direction = "to_server" if options.direction == "both" else options.direction
        return script.read(text, direction)
    if len(options.paths) > 1:
        raise ConversionError("a trace is of one path")
    path = options.paths[0] if options.paths else EVERY_PATH
    return mahimahi.read(text, path, options.direction, options.bin_ms)


def extent(profile: Profile, options: Options) -> tuple[list[str], int]:
    """Return the paths there are, and how long a profile is, in nanoseconds.

    Raises
    ------
    ConversionError
        When neither the profile nor the options name a path.
    """
    return _paths(profile, options), _duration_ns(profile, options)


def _paths(profile: Profile, options: Options) -> list[str]:
    named = [name for name in profile.paths if name != EVERY_PATH]
    paths = list(dict.fromkeys([*named, *options.paths]))
    if not paths:
        raise ConversionError(f"{profile.name} names no path: say with --path which there are")
    return paths


def _trace(
    profile: Profile, paths: list[str], options: Options, duration_ns: int
) -> tuple[str, list[str]]:
    wanted = list(options.paths) or paths
    if len(wanted) > 1:
        raise ConversionError(f"a trace is of one path: choose one with --path: {', '.join(paths)}")
    direction = "to_server" if options.direction == "both" else options.direction
    text, warnings = mahimahi.write(profile, wanted[0], paths, direction, duration_ns)
    if options.direction == "both":
        warnings.append("a trace is of one direction: this one is to_server")
    return text, warnings


def _duration_ns(profile: Profile, options: Options) -> int:
    if options.duration_s is not None:
        return nanoseconds(options.duration_s)
    if profile.repeat_ns is not None:
        return profile.repeat_ns
    last_ns = max(map(last_instant_ns, profile.paths.values()), default=0)
    # The last change holds for a while, too.
    return last_ns + CONSTANT_NS
