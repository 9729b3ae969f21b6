"""The ledger's rows of one association, side by side, as every analysis needs them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .bins import Bins, split_bins

if TYPE_CHECKING:
    from ..dissectors.ledger import Ledger, Row
    from .model import End, LinkEvent

    # Rows of each sender, and of each sender on each path.
    Groups = dict[tuple[End, int | None], list[Row]]

ENDS: tuple[End, End] = ("a", "b")


def other(end: End) -> End:
    """Return the opposite end."""
    return "b" if end == "a" else "a"


@dataclass(frozen=True, slots=True)
class Context:
    """Rows of one association, and what the user said of its paths."""

    row: Row
    paths: list[Row]
    addresses: list[Row]
    runs: list[Row]
    timeouts: list[Row]
    stalls: list[Row]
    heartbeats: list[Row]
    asconf: list[Row]
    control: list[Row]
    rtt: list[Row]
    silences: list[Row]
    retransmissions: list[Row]
    streams: list[Row]
    blocking: list[Row]
    zero_windows: list[Row]
    acknowledgements: list[Row]
    lone_packets: list[Row]
    authentication: list[Row]
    oddities: list[Row]
    bins: Bins
    labels: dict[int, str]
    link_events: dict[int, list[LinkEvent]]
    # By the table's identity; the table is held with its groups, so that no other takes that.
    _sent: dict[int, tuple[list[Row], Groups]] = field(default_factory=dict, init=False, repr=False)

    def sent(self, table: list[Row], sender: End, path: int | None = None) -> list[Row]:
        """Rows of one sender, and of one path when it is given."""
        # Grouped once: every path is asked for in turn, and a hostile capture has very many.
        _, groups = self._sent.get(id(table)) or self._sent.setdefault(
            id(table), (table, _grouped(table))
        )
        return groups.get((sender, path), [])

    def odd(self, kind: str, sender: End | None = None) -> list[Row]:
        """Rows of one kind of oddity, of both senders or of one."""
        return [
            row for row in self.oddities if row["kind"] == kind and sender in (None, row["sender"])
        ]

    def packets(self, sender: End) -> int:
        """Packets of one sender on all paths."""
        return sum(
            totals.sums["packets"] for (_, end), totals in self.bins.totals.items() if end == sender
        )

    def rtt_max_ns(self, sender: End, path: int) -> int | None:
        """Longest round-trip time seen for a sender on a path."""
        found = [row["max_ns"] for row in self.sent(self.rtt, sender, path)]
        return max(found) if found else None

    def path_addresses(self, path: int) -> tuple[str, str]:
        """Addresses of a and b on a path."""
        row = self.paths[path]
        return row["a_address"], row["b_address"]


def _grouped(table: list[Row]) -> Groups:
    groups: Groups = defaultdict(list)
    for row in table:
        groups[row["sender"], None].append(row)
        if "path" in row:
            groups[row["sender"], row["path"]].append(row)
    return groups


_TABLES = (
    "paths",
    "addresses",
    "runs",
    "timeouts",
    "stalls",
    "heartbeats",
    "asconf",
    "control",
    "rtt",
    "silences",
    "retransmissions",
    "streams",
    "blocking",
    "zero_windows",
    "acknowledgements",
    "lone_packets",
    "authentication",
    "oddities",
)


def contexts(
    ledger: Ledger,
    labels: dict[tuple[int, int], str],
    link_events: dict[tuple[int, int], list[LinkEvent]],
) -> list[Context]:
    """Split a ledger by association.

    Parameters
    ----------
    ledger
        The ledger.
    labels
        Label of each path, by association and path number.
    link_events
        Link events of each path, by association and path number.
    """
    groups = {table: ledger.by_association(table) for table in _TABLES}
    bins = split_bins(ledger.tables["intervals"], ledger.options.bin_ns)
    found = []
    for row in ledger.rows("associations"):
        number = row["association"]
        rows = {table: groups[table].get(number, []) for table in _TABLES}
        count = len(rows["paths"])
        found.append(
            Context(
                row=row,
                **rows,
                bins=bins.get(number) or Bins.empty(ledger.options.bin_ns),
                labels={path: labels[number, path] for path in range(count)},
                link_events={path: link_events.get((number, path), []) for path in range(count)},
            )
        )
    return found
