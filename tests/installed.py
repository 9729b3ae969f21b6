"""Use an installed pathscope as its user does: `installed.py CAPTURE EVENTS`, by its Python.

Run in a folder with this capture and nothing of the repository; the capture is that of `make demo`.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib import metadata
from pathlib import Path

PREFIX = Path(sys.prefix)


def pathscope(*arguments: str) -> str:
    """Run the installed program, and return what it prints."""
    program = [str(PREFIX / "bin" / "pathscope"), *arguments]
    return subprocess.run(program, stdout=subprocess.PIPE, text=True, check=True).stdout


def check(what: str, found: object, expected: object) -> None:
    """Say what was seen, or end with what was seen instead."""
    if found != expected:
        sys.exit(f"{what}: {found!r}, expected {expected!r}")
    print(f"{what}: {found}")


def api() -> None:
    """Every public name can be had, from the installation."""
    import pathscope as package

    place = Path(str(package.__file__))
    check("imported from the installation", place.is_relative_to(PREFIX), expected=True)
    public = [name for name in package.__all__ if getattr(package, name) is not None]
    check("public names", public, package.__all__)
    version = metadata.version("pathscope")
    check("version in Python", package.__version__, version)
    check("its version", pathscope("--version").strip(), f"pathscope, version {version}")


def handovers(capture: str, events: str) -> None:
    """The handovers of the demonstration."""
    result = json.loads(pathscope("analyze", capture, "--events", events, "--json"))
    association = result["associations"][0]
    causes = [one["cause"] for one in association["handovers"]]
    check("handovers", causes, ["timeout", "path-returned"])


def extras(capture: str) -> None:
    """What needs the packages of extras: jsonschema and SciPy, SciPy, Plotly and Dash."""
    profile = "profile.toml"
    pathscope("profile", "derive", capture, "-o", profile)
    pathscope("profile", "show", profile, "--plot", "profile.html")
    check("a page was drawn", Path("profile.html").stat().st_size > 0, expected=True)
    pathscope("compare", capture, capture)
    pathscope("report", capture, "--html", "report.html")
    check("a report was written", Path("report.html").stat().st_size > 0, expected=True)


def shared() -> None:
    """Manual pages and completion are where systems look for them."""
    share = PREFIX / "share"
    pages = {path.stem for path in (share / "man" / "man1").glob("pathscope*.1")}
    check("manual page", "pathscope-analyze" in pages, expected=True)
    for path in ("bash-completion/completions", "zsh/site-functions", "fish/vendor_completions.d"):
        check(f"completion in {path}", any((share / path).iterdir()), expected=True)


if __name__ == "__main__":
    api()
    handovers(*sys.argv[1:])
    extras(sys.argv[1])
    shared()
