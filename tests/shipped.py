"""What an installed pathscope holds, told from the repository alone: `shipped.py WHEEL` compares.

A folder with `__init__.py` is a package, all its files but Rust are installed; so are scenarios and
studies. Only tracked files count, and none of the folders that are for who works on pathscope.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path, PurePosixPath
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
NOT_INSTALLED = frozenset({"bench", "docs", "tests"})
DATA_FOLDERS = frozenset({"fixtures/scenarios", "fixtures/studies"})
"""Packages without a module: what is in them is read as files."""
SUFFIXES = frozenset({".css", ".js", ".json", ".py", ".pyi", ".svg", ".toml", ".typed"})
ROOT_FILES = frozenset({".py", ".typed"})
"""At the root there are also the project's own files: of these it is the modules only."""
NO_MODULES = frozenset({"setup.py"})
EXTENSIONS = frozenset({"pathscope/dissectors/_core.abi3.so", "pathscope/replay/_native.abi3.so"})
LICENCES = frozenset({"LICENSE", "THIRD-PARTY-NOTICES.txt"})


def tracked() -> list[PurePosixPath]:
    """Every file of the repository."""
    found = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, stdout=subprocess.PIPE, check=True)
    return [PurePosixPath(name) for name in found.stdout.decode().split("\0") if name]


def folders(files: list[PurePosixPath]) -> set[str]:
    """The folders that are packages, `.` among them."""
    found = {str(path.parent) for path in files if path.name == "__init__.py"}
    return {name for name in found if name.split("/")[0] not in NOT_INSTALLED} | DATA_FOLDERS


def packages() -> set[str]:
    """The names of all packages."""
    return {".".join(("pathscope", *PurePosixPath(name).parts)) for name in folders(tracked())}


def modules_and_data() -> set[str]:
    """Every tracked file that is installed, by its place in the wheel."""
    files = tracked()
    where = folders(files)
    return {str(PurePosixPath("pathscope", path)) for path in files if _is_installed(path, where)}


def _is_installed(path: PurePosixPath, where: set[str]) -> bool:
    at_root = len(path.parts) == 1
    suffixes = ROOT_FILES if at_root else SUFFIXES
    # Assets lie in folders of a package that are none.
    inside = str(path.parent) in where or path.parent.name == "assets"
    return inside and _suffix(path) in suffixes and not (at_root and path.name in NO_MODULES)


def _suffix(path: PurePosixPath) -> str:
    return ".typed" if path.name == "py.typed" else path.suffix


def differences(wheel: Path) -> list[str]:
    """What a wheel lacks, and what it has too much, a line each."""
    with ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if not name.endswith("/")}
    version = wheel.name.split("-")[1]
    info, shared = f"pathscope-{version}.dist-info/", f"pathscope-{version}.data/data/share/"
    beside = {name for name in held if name.startswith((info, shared))}
    expected = modules_and_data() | EXTENSIONS
    licences = {f"{info}licenses/{name}" for name in LICENCES}
    missing = [f"not in the wheel: {name}" for name in sorted((expected | licences) - held)]
    return missing + [f"only in the wheel: {name}" for name in sorted(held - expected - beside)]


if __name__ == "__main__":
    found = differences(Path(sys.argv[1]))
    print("\n".join(found) or f"{sys.argv[1]}: every file that belongs into it, and no other")
    sys.exit(bool(found))
