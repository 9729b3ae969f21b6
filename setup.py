"""The version, which Cargo.toml has; all other metadata is in setup.cfg."""

import tomllib
from pathlib import Path

from setuptools import setup

CARGO = Path(__file__).parent / "Cargo.toml"

setup(version=tomllib.loads(CARGO.read_text(encoding="utf-8"))["workspace"]["package"]["version"])
