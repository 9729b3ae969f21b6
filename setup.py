"""The version, which Cargo.toml has; all other metadata is in setup.cfg."""

import tomllib
from pathlib import Path

from setuptools import setup

CARGO = Path(__file__).parent / "Cargo.toml"
VERSION = tomllib.loads(CARGO.read_text(encoding="utf-8"))["workspace"]["package"]["version"]

# setuptools leaves the script of this name out of the package, whose folder it is in; a build front
# end would tell it another.
setup(script_name="setup.py", version=VERSION)
