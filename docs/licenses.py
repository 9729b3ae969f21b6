"""Write THIRD-PARTY-NOTICES.txt and docs/licenses.md: `make licenses`.

The first goes into the wheel: what is linked into the extensions asks for its notice there. It is
made of what cargo-about found (`cargo about generate --format json`), and of what that leaves out:
NOTICE files (Apache-2.0, section 4 d) and licence files that hold more than one licence.
"""

from __future__ import annotations

import json
import sys
from configparser import ConfigParser
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(__file__).parents[1]
NOTICES = ROOT / "THIRD-PARTY-NOTICES.txt"
PAGE = ROOT / "docs" / "licenses.md"
WORKERS_EXTRAS = frozenset({"all", "bench", "docs", "test", "wheel"})

Node = dict[str, Any]

PREFACE = """\
The two extensions in the binary packages of pathscope contain, or were made with, the software
that is listed here, each under the licence that follows it. pathscope itself is under the MIT
licence, in the file LICENSE. `make licenses` writes this file.
"""

STANDARD_LIBRARY = """\
The Rust standard library, (c) The Rust Project contributors, https://www.rust-lang.org,
MIT OR Apache-2.0; it is used under the MIT licence, which has the same text as pathscope's own.
"""

HEAD = """\
# Licences

*What comes with pathscope, and under which licences?*

pathscope is under the MIT licence. This is what comes with it, by the Cargo.lock and in the
environment from which `make licenses` wrote this page. What is linked into the extensions has its
notices and licence texts in `THIRD-PARTY-NOTICES.txt`, which is in the wheel.

Not part of it are programs that it runs where they are installed (tshark, user-mode Linux,
iproute2, ethtool, tcpdump, ns-2, a Chromium), and libpcap, which it loads for `--filter`.
"""


def crate_name(crate: Node) -> str:
    """Name and version, as Cargo.lock has them."""
    return f"{crate['name']} {crate['version']}"


def notices(about: Node) -> str:
    """All names, licences and notices of what is linked in."""
    parts = [PREFACE, STANDARD_LIBRARY]
    licences = sorted(about["licenses"], key=lambda one: (one["id"] != "MIT", bool(_path(one))))
    for licence in licences:
        crates = [one["crate"] for one in licence["used_by"] if one["crate"]["source"]]
        apart = {} if _path(licence) else {crate_name(one): _own_licence(one) for one in crates}
        own = {name: text for name, text in apart.items() if text}
        rest = [one for one in crates if crate_name(one) not in own]
        parts += [f"{name}\n\n{text}" for name, text in own.items()]
        if rest:
            lines = [f"{crate_name(one)}{_authors(one, licence)}" for one in rest]
            parts.append("\n".join([*lines, "", licence["text"].strip()]))
    parts += _notice_files(about)
    return ("\n" + "-" * 80 + "\n\n").join(f"{_clean(part)}\n" for part in parts)


def _path(licence: Node) -> str | None:
    found: str | None = licence.get("source_path")
    return found


def _own_licence(crate: Node) -> str:
    """The licence file of a crate in which cargo-about could not tell licences apart."""
    folder = Path(crate["manifest_path"]).parent
    found = [*sorted(folder.glob("LICENSE")), *sorted(folder.glob("LICENSE.txt"))]
    return found[0].read_text(encoding="utf-8") if found else ""


def _authors(crate: Node, licence: Node) -> str:
    """Who a text without a name of its own is about."""
    if _path(licence) or not crate["authors"]:
        return ""
    return f", (c) {', '.join(crate['authors'])}"


def _notice_files(about: Node) -> Iterator[str]:
    seen: dict[str, list[str]] = {}
    for one in about["crates"]:
        crate = one["package"]
        if not crate["source"]:
            continue
        for path in sorted(Path(crate["manifest_path"]).parent.glob("NOTICE*")):
            seen.setdefault(path.read_text(encoding="utf-8"), []).append(crate_name(crate))
    for text, names in seen.items():
        yield "\n".join([f"NOTICE of {', '.join(names)}", "", text])


def _clean(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip().splitlines())


def page(about: Node) -> str:
    """The tables of docs/licenses.md."""
    lines = [HEAD, "## Linked into the extensions", ""]
    crates = (
        (one["package"]["name"], one["package"]["version"], one["license"])
        for one in about["crates"]
        if one["package"]["source"]
    )
    lines += [*_table(("crate", "version", "licence"), crates), "", "## Python packages", ""]
    lines += ["Installed beside pathscope, or by an extra, each with what it needs in turn.", ""]
    lines += _table(("package", "licence", "for"), _python())
    return "\n".join(lines) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    body = [f"| {' | '.join(row)} |" for row in rows]
    return [f"| {' | '.join(head)} |", "|" + "---|" * len(head), *body]


def _python() -> Iterator[tuple[str, str, str]]:
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg", encoding="utf-8")
    asked = {"pathscope": setup["options"]["install_requires"]}
    extras = setup["options.extras_require"]
    asked |= {f"[{name}]": extras[name] for name in sorted(set(extras) - WORKERS_EXTRAS)}
    wanted: dict[str, list[str]] = {}
    for who, requirements in asked.items():
        for name in _closure(line for line in requirements.splitlines() if line.strip()):
            if "pathscope" not in wanted.get(name, []):
                wanted.setdefault(name, []).append(who)
    for name, users in sorted(wanted.items()):
        yield name, _licence(metadata.metadata(name)), ", ".join(users)


def _closure(requirements: Iterable[str]) -> set[str]:
    """What these requirements install here: every package with what it requires."""
    found: set[str] = set()
    todo = [Requirement(line) for line in requirements]
    while todo:
        one = todo.pop()
        name = canonicalize_name(one.name)
        if name in found or (one.marker and not one.marker.evaluate({"extra": ""})):
            continue
        found.add(name)
        todo += [Requirement(line) for line in metadata.requires(name) or ()]
    return found


def _licence(about: metadata.PackageMetadata) -> str:
    """What a package says its licence is: an expression, classifiers, or its first words."""
    if "License-Expression" in about:
        return about["License-Expression"]
    approved = "License :: OSI Approved :: "
    classifiers = (one for one in about.get_all("Classifier") or () if one.startswith(approved))
    found = ", ".join(one.removeprefix(approved) for one in classifiers)
    if not found and "License" in about:
        found = about["License"].strip().partition("\n")[0]
    if not found:
        raise ValueError(f"{about['Name']} does not say its licence")
    return found


def main(path: str) -> None:
    """Write both files from what cargo-about found."""
    about: Node = json.loads(Path(path).read_text(encoding="utf-8"))
    NOTICES.write_text(notices(about), encoding="utf-8")
    PAGE.write_text(page(about), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
