"""Colours: told apart by the colour-blind, readable on both papers, the same for a path always."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from pathscope.reports.report import theme

# Machado, Oliveira, Fernandes 2009, severity 1.0: linear RGB to linear RGB.
BLINDNESS = {
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
    "none": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
}  # fmt: skip

# D65, sRGB to XYZ.
TO_XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
     [0.0193339, 0.1191920, 0.9503041]]
)  # fmt: skip
WHITE = np.array([0.95047, 1.0, 1.08883])


def linear(colour: str) -> np.ndarray:
    parts = np.array([int(colour[at : at + 2], 16) for at in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    scaled = TO_XYZ @ np.clip(rgb, 0, 1) / WHITE
    bent = np.where(scaled > 216 / 24389, np.cbrt(scaled), (24389 / 27 * scaled + 16) / 116)
    return np.array([116 * bent[1] - 16, 500 * (bent[0] - bent[1]), 200 * (bent[1] - bent[2])])


def contrast(one: str, other: str) -> float:
    light = sorted((float(TO_XYZ[1] @ linear(colour)) for colour in (one, other)), reverse=True)
    return (light[0] + 0.05) / (light[1] + 0.05)


@pytest.mark.parametrize("name", theme.THEMES)
@pytest.mark.parametrize("blindness", BLINDNESS)
def test_any_two_colours_are_told_apart(blindness: str, name: theme.Theme) -> None:
    matrix = np.array(BLINDNESS[blindness])
    colours = theme.PALETTE[name]
    seen = {hue: lab(matrix @ linear(colour)) for hue, colour in colours.items()}
    for one, other in combinations(colours, 2):
        assert float(np.linalg.norm(seen[one] - seen[other])) > 14, (one, other)


@pytest.mark.parametrize("name", theme.THEMES)
def test_text_is_readable(name: theme.Theme) -> None:
    found = theme.colours(name)
    for paper in (found.paper, found.shade):
        # WCAG 2.2, 1.4.3: 4.5 for text.
        assert contrast(found.ink, paper) >= 7
        assert contrast(found.muted, paper) >= 4.5


@pytest.mark.parametrize("name", theme.THEMES)
def test_paths_stand_out_from_the_paper(name: theme.Theme) -> None:
    paper = theme.colours(name).paper
    # WCAG 2.2, 1.4.11 asks for 3; what has less is told by dash, marker and name, too.
    contrasts = [contrast(theme.path_colour(path, name), paper) for path in range(6)]
    assert min(contrasts[:4]) >= 3
    assert min(contrasts) >= 2.2


def test_a_path_looks_like_no_other_for_long() -> None:
    looks = [
        (theme.path_colour(index), theme.path_dash(index), theme.path_marker(index))
        for index in range(210)
    ]
    assert len(set(looks)) == len(looks)
    lines = [look[:2] for look in looks[:30]]
    assert len(set(lines)) == len(lines)
    assert theme.path_colour(0) == theme.colour("blue", "light")


@pytest.mark.parametrize("name", theme.THEMES)
def test_templates_differ(name: theme.Theme) -> None:
    found = theme.template(name)
    assert found.layout.paper_bgcolor == theme.colours(name).paper
    assert found.layout.xaxis.gridcolor == theme.colours(name).grid
