"""The package as it is installed: one version, one top-level name, a release build."""

import tomllib
from importlib import metadata
from pathlib import Path

from pathscope.dissectors import _core

ROOT = Path(__file__).parents[1]


def test_one_version_everywhere() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text())
    assert cargo["workspace"]["package"]["version"] == metadata.version("pathscope")
    assert _core.__version__ == metadata.version("pathscope"), "rebuild with `make build`"


def test_editable_install_has_the_release_build() -> None:
    assert _core.build_profile == "release"


def test_typing_marker_ships() -> None:
    assert (ROOT / "py.typed").is_file()
