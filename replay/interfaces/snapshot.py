"""What `tc` shows of an interface: taken before a session, and held against what it shows after."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from . import commands

if TYPE_CHECKING:
    from collections.abc import Mapping

VIEWS = {
    "qdiscs": ("qdisc", "show", "dev"),
    "classes": ("class", "show", "dev"),
    "filters": ("filter", "show", "dev"),
}

PASSING = re.compile(
    r" direct_packets_stat \S+|^class (?:cake|fq_codel|fq_pie|sfq|sfb|hhf) .*\n", re.MULTILINE
)
"""What packets change: a counter in htb's own line, and classes that are flows of the moment."""


def take(device: str) -> dict[str, str]:
    """Return what `tc` shows of an interface, without what packets change.

    Raises
    ------
    InterfaceError
        When it cannot be shown.
    """
    shown = {name: commands.run("tc", "-d", *words, device) for name, words in VIEWS.items()}
    for hook in re.findall(r"^qdisc (clsact|ingress) ", shown["qdiscs"], re.MULTILINE):
        for side in ("ingress", "egress") if hook == "clsact" else ("ingress",):
            shown[f"{side} filters"] = commands.run(
                "tc", "-d", "filter", "show", "dev", device, side
            )
    return {name: PASSING.sub("", text) for name, text in shown.items()}


def differences(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the views that show something else than before."""
    names = [*before, *(name for name in after if name not in before)]
    return [name for name in names if before.get(name, "") != after.get(name, "")]
