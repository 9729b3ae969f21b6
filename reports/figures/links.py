"""Changes of links by the user's word, path by path: what the swimlane marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ...analyzer.events import assign_events, comment_events
from .part import LinkChange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...analyzer.model import LinkEvent
    from ...dissectors.ledger import Ledger
    from .part import Node


def told(
    ledger: Ledger, associations: Iterable[Node], events: Iterable[LinkEvent] = ()
) -> dict[int, tuple[LinkChange, ...]]:
    """Return the changes of links by association, in the order of time.

    Parameters
    ----------
    ledger
        Its comments may tell of links (docs/events.md).
    associations
        Their entries in a document of `pathscope.result/1`, which know the paths' labels.
    events
        What an events file tells.
    """
    labels = {
        (one["id"], path["id"]): path["label"] for one in associations for path in one["paths"]
    }
    # A path that the document does not describe has no name: events are not about it.
    for row in ledger.rows("paths"):
        labels.setdefault((row["association"], row["path"]), "")
    assigned, _ = assign_events([*events, *comment_events(ledger)], ledger, labels)
    found: dict[int, list[LinkChange]] = {}
    for (association, path), own in assigned.items():
        found.setdefault(association, []).extend(
            LinkChange(path, one.ns, one.up, "annotated", one.ns, one.ns) for one in own
        )
    return {
        association: tuple(sorted(own, key=lambda one: (one.ns, one.path)))
        for association, own in found.items()
    }
