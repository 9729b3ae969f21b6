"""The scenarios that come with pathscope, by name."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from .scenario import ScenarioError

FOLDER = Path(__file__).parents[2] / "fixtures" / "scenarios"


def names() -> list[str]:
    """Return the names of the scenarios that come with pathscope."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def find(name: str) -> Path:
    """Return the file of a scenario: a path, or one of `names()`.

    Raises
    ------
    ScenarioError
        When there is none.
    """
    path = Path(name)
    if path.suffix == ".toml" or path.is_file():
        return path
    if name in names():
        return FOLDER / f"{name}.toml"
    raise ScenarioError(f"{name}: no file, and none of pathscope's scenarios: `pathscope lab list`")


def document(name: str) -> dict[str, Any]:
    """Return one of `names()` as its file has it, unchecked."""
    return tomllib.loads((FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def description(name: str) -> str:
    """Return what one of `names()` says that it is."""
    return str(document(name).get("description", ""))
