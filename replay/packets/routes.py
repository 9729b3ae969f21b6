"""Which paths a trace has, and which addresses belong to them, out of its ledger."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ...analyzer.labels import NODE, LabelRule, label_of, path_labels
from .orders import Pair

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...dissectors.ledger import Ledger, Row

DEVICE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,14}", re.ASCII)
"""What an interface can be called, and no program takes for an option: paths have links of their
names, which may be a capture's."""

TAKEN = frozenset(("lo", "any", "all", "default"))
"""Names that the kernel or a capture gives to something else."""


@dataclass(frozen=True, slots=True)
class Path:
    """One path of a trace.

    Attributes
    ----------
    name
        Unique in the trace, and fit for an interface.
    label
        What the analysis calls it.
    pairs
        Its pairs of addresses, in order of first sight; the first of each is at the client.
    """

    name: str
    label: str
    pairs: tuple[tuple[str, str], ...]


def find(ledger: Ledger, rules: tuple[LabelRule, ...] = ()) -> tuple[Path, ...]:
    """Find the paths of a trace: of its associations, then of flows between other addresses.

    A path is called by the user's rule, else by the interface it was captured on, else `path-1`,
    or `flow-1` where no association uses it. Pairs with one name are one path. The client is end a:
    the one that sent INIT or SYN, or was seen first; an address that was at one end of a path stays
    there.

    Parameters
    ----------
    ledger
        Of the trace; for paths of TCP, UDP and MPTCP read with `flows=True`.
    rules
        Names for paths.

    Raises
    ------
    ValueError
        When the trace is a simulator's, which has no addresses.
    """
    labels = path_labels(ledger, rules)
    found = _Found()
    for path in ledger.rows("paths"):
        found.add(path, labels[path["association"], path["path"]], "path")
    for flow in ledger.rows("flows"):
        found.add(flow, label_of(flow, rules), "flow")
    return tuple(Path(path.name, path.label, tuple(path.pairs)) for path in found.paths.values())


def pairs(paths: Iterable[Path]) -> tuple[Pair, ...]:
    """Return the pairs of all paths, as orders have them."""
    return tuple(Pair(a, b, path.name) for path in paths for a, b in path.pairs)


@dataclass(slots=True)
class _Path:
    name: str
    label: str
    pairs: list[tuple[str, str]] = field(default_factory=list)
    clients: set[str] = field(default_factory=set)
    servers: set[str] = field(default_factory=set)


@dataclass(slots=True)
class _Found:
    """Paths so far, by label."""

    paths: dict[str, _Path] = field(default_factory=dict)
    known: set[frozenset[str]] = field(default_factory=set)
    numbers: dict[str, int] = field(default_factory=dict)

    def add(self, row: Row, label: str, kind: str) -> None:
        a, b = row["a_address"], row["b_address"]
        if NODE.fullmatch(a):
            raise ValueError("a simulator's trace says what happened, and holds no frames to send")
        ends = frozenset((a, b))
        if ends in self.known:
            return
        self.known.add(ends)
        path = self.paths.get(label)
        if path is None:
            path = self.paths[label] = _Path(self._name(label, kind), label)
        # Whoever opened it, what one host sent goes one way.
        if a in path.servers or b in path.clients:
            a, b = b, a
        path.pairs.append((a, b))
        path.clients.add(a)
        path.servers.add(b)

    def _name(self, label: str, kind: str) -> str:
        if DEVICE.fullmatch(label) and label not in TAKEN and label not in self._names():
            return label
        while True:
            self.numbers[kind] = self.numbers.get(kind, 0) + 1
            name = f"{kind}-{self.numbers[kind]}"
            if name not in self._names():
                return name

    def _names(self) -> set[str]:
        return {path.name for path in self.paths.values()}
