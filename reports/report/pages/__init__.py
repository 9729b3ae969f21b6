"""The pages by name: each makes blocks of a view, and answers one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from . import association, compare, flows, handover, overview, packets, replay, sets

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ..blocks import Block
    from ..view import View


class Page(NamedTuple):
    """A page: its title, the question that it answers, what it is made of."""

    title: str
    question: str
    blocks: Callable[[View], Iterator[Block]]
    of_case: bool = True
    """Whether it is of one case, rather than of all."""


PAGES: dict[str, Page] = {
    "overview": Page("Overview", "What is here, and what looks wrong?", overview.blocks, False),
    "association": Page("Association", "What happened on every path?", association.blocks),
    "handover": Page("Handover", "Why did it take as long as it did?", handover.blocks),
    "flows": Page("Flows", "What else was on the wire?", flows.blocks),
    "packets": Page("Packets", "Which packets are it?", packets.blocks),
    "sets": Page("Sets", "How do numbers spread over runs?", sets.blocks, False),
    "compare": Page("Compare", "What is better, what is worse?", compare.blocks, False),
    "replay": Page("Replay", "Did the replay do as it was asked?", replay.blocks, False),
}


def blocks(view: View) -> list[Block]:
    """Return what a page is made of."""
    return list(PAGES[view.state.page].blocks(view))
