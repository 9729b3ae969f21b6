"""A comparison as JUnit's XML: a test suite a group, a test case a row or difference."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

from . import cells

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]

DECLARATION = '<?xml version="1.0" encoding="UTF-8"?>'

UNKNOWN_TO_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""What an XML 1.0 document cannot have, not even escaped."""

Case = tuple[str, str, str | None, str, str]
"""Class, name, outcome (`failure`, `skipped`, `error`, or None for passed), message, text."""


def xml(document: Node, fail_on: str) -> str:
    """Return a document of `pathscope.compare/1` as JUnit XML.

    Parameters
    ----------
    document
        The comparison.
    fail_on
        `worse`: worse rows fail. `changed`: better and changed ones and clear differences, too.
    """
    root = ET.Element("testsuites", name="pathscope compare")
    for group in document["groups"]:
        _suite(root, group["name"], list(_cases(group, fail_on)))
    left: list[Case] = [
        ("left out", one["name"], "error", one["reason"], f"of the {one['side']}")
        for one in document["unread"]
    ]
    left += [
        ("left out", one["group"], "skipped", "no partner", f"of the {one['side']}")
        for one in document["unpaired"]
    ]
    if left:
        _suite(root, "left out", left)
    ET.indent(root)
    return f"{DECLARATION}\n{ET.tostring(root, encoding='unicode')}\n"


def _cases(group: Node, fail_on: str) -> Iterator[Case]:
    failing = {"worse"} if fail_on == "worse" else cells.TOLD
    for row in group["rows"]:
        outcome = None
        if row["verdict"] in failing:
            outcome = "failure"
        elif row["verdict"] == "not-enough-runs":
            outcome = "skipped"
        text = " | ".join(filter(None, cells.cells(row, cells.Notes())[2:]))
        yield (f"{group['name']}.{row['metric']}", row["place"], outcome, row["why"], text)
    for one in group["differences"]:
        fails = one["clear"] and fail_on == "changed"
        outcome = "failure" if fails else None
        before, after = (one[side]["what"] or "nothing" for side in ("baseline", "candidate"))
        name = f"{one['place']}, {before} => {after}"
        yield (f"{group['name']}.{one['kind']}", name, outcome, one["what"], cells.difference(one))


def _suite(root: ET.Element, name: str, cases: list[Case]) -> None:
    outcomes = [case[2] for case in cases]
    suite = ET.SubElement(
        root,
        "testsuite",
        name=_clean(name),
        tests=str(len(cases)),
        failures=str(outcomes.count("failure")),
        errors=str(outcomes.count("error")),
        skipped=str(outcomes.count("skipped")),
    )
    for class_name, case_name, outcome, message, text in cases:
        case = ET.SubElement(
            suite, "testcase", classname=_clean(class_name), name=_clean(case_name), time="0"
        )
        if outcome is None:
            ET.SubElement(case, "system-out").text = _clean(text)
        else:
            ET.SubElement(case, outcome, message=_clean(message)).text = _clean(text)


def _clean(text: str) -> str:
    return UNKNOWN_TO_XML.sub("\N{REPLACEMENT CHARACTER}", text)
