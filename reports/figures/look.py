"""How a figure is to look: the theme, and the screen that it is for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..report import theme as themes

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ..report.theme import Colours, Hue, Theme

MOST_POINTS = 4_000
"""Of one line: more than any screen is wide. Browsers draw some times as many without a wait."""

POINTS_A_PIXEL = 4
"""First, least, greatest and last of what one column of pixels stands for."""

MOST_TOGETHER = 24_000
"""Of all lines of a figure: more takes a browser longer than the answer of the server."""

FEWEST_POINTS = 200

LETTERS_PX, SMALL_PX = 13, 11
"""Of the figures' words; the smaller ones on a screen in the hand."""

NARROW_PX = 600
"""Below this, names go above their lines and legends below."""


@dataclass(frozen=True, slots=True)
class Look:
    """How a figure is to look.

    Attributes
    ----------
    theme
        `light` or `dark`.
    width_px
        Of the figure on the screen.
    """

    theme: Theme = "light"
    width_px: int = 1200

    @property
    def colours(self) -> Colours:
        """The theme's colours that mean no path."""
        return themes.colours(self.theme)

    @property
    def template(self) -> go.layout.Template:
        """The theme's Plotly template, with smaller letters on a screen in the hand."""
        return themes.template(self.theme, SMALL_PX if self.is_narrow else LETTERS_PX)

    def path(self, index: int) -> str:
        """Return the colour of a path, by its `id`."""
        return themes.path_colour(index, self.theme)

    def hue(self, name: Hue) -> str:
        """Return a colour of the palette."""
        return themes.colour(name, self.theme)

    @property
    def is_narrow(self) -> bool:
        """Whether it is for a screen in the hand."""
        return self.width_px < NARROW_PX

    def points(self, lines: int = 1) -> int:
        """Return how many points each of so many lines may have."""
        share = MOST_TOGETHER // max(lines, 1)
        return max(FEWEST_POINTS, min(MOST_POINTS, self.width_px * POINTS_A_PIXEL, share))
