"""What the callbacks work with: the data, the figures, and what was read last."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import packets, query
from .kept import Kept
from .view import view_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from ..figures.look import Look
    from .data import Shelf
    from .drawing import Drawer, Drawn
    from .view import View

ANSWERS = 3
"""Of the packets page: each may have `query.MOST_ROWS` rows."""

WINDOWS = 4
"""Whose packets are drawn one by one: each has a few thousand."""


class Desk:
    """Answers what pages ask; it belongs to one application."""

    def __init__(self, shelf: Shelf, figures: Mapping[str, Drawer]) -> None:
        self.shelf = shelf
        self._figures = figures
        self._rows: Kept[query.Found] = Kept(ANSWERS)
        self._chunks: Kept[pa.Table] = Kept(WINDOWS)

    def view(self, address: str | None) -> View:
        """Return what an address asks for, of what is shown now."""
        return view_of(self.shelf.data, address)

    def draw(self, name: str, view: View, look: Look | None = None) -> Drawn:
        """Draw a figure.

        Raises
        ------
        KeyError
            When there is no such figure.
        CaptureError, ValueError, OSError
            When the packets that it needs cannot be read.
        """
        from ..figures.look import Look

        return self._figures[name](view, look or Look(), self._chunks)

    def rows(self, view: View) -> query.Found:
        """Return the rows of the packets page; raises what `packets.found` does."""
        return packets.found(view, self._rows)
