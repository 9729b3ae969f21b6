"""Put what studies gave into docs/studies.md, from their folders: `make studies`.

A part stands between `<!-- study: NAME -->` and `<!-- end -->`; what is around it is written by
hand.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pathscope.reports.study.markdown import brief

if TYPE_CHECKING:
    from collections.abc import Iterable

PAGE = Path(__file__).with_name("studies.md")
PART = re.compile(r"(<!-- study: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
LEVEL = 3
"""Of the headings: below that of the study."""


def render(text: str, found: dict[str, dict[str, Any]]) -> str:
    """Fill in the parts of those studies of which there are results, by name."""

    def fill(match: re.Match[str]) -> str:
        if match["name"] not in found:
            return match[0]
        return f"{match[1]}\n{brief(found[match['name']], LEVEL)}{match[3]}"

    return PART.sub(fill, text)


def main(folders: Iterable[str]) -> None:
    """Write the page anew, with the results in these folders."""
    documents = [
        json.loads((Path(folder) / "study.json").read_text(encoding="utf-8")) for folder in folders
    ]
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(render(text, {one["study"]: one for one in documents}), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
