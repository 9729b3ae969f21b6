"""Names from captures as text of a figure, and numbers with their units."""

from __future__ import annotations

from html import escape

LONGEST = 48
"""Letters of a name that are shown: a capture's interface may have one of 65,535."""


def escaped(name: str, longest: int = LONGEST) -> str:
    r"""Return a name from a capture as text that Plotly shows letter by letter.

    Plotly takes some HTML in text (links, too), and dollar signs for the ends of a formula. What
    no printer prints, such as marks that turn the direction of writing, is replaced.

    >>> escaped('<a href="x">$1$</a>')
    '&lt;a href="x"&gt;&#36;1&#36;&lt;/a&gt;'
    >>> ascii(escaped("wlan\u202e0"))
    "'wlan\\ufffd0'"
    """
    shown = name if len(name) <= longest else f"{name[: longest - 1]}…"
    printable = "".join(one if one.isprintable() else "\N{REPLACEMENT CHARACTER}" for one in shown)
    return escape(printable, quote=False).replace("$", "&#36;")


def counted(count: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun.

    >>> counted(1, "path"), counted(1500, "packet")
    ('1 path', '1,500 packets')
    """
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def left_out(paths: int, drawn: int, most: int) -> str:
    """Say how many paths are not drawn because a figure holds no more; nothing where all are.

    >>> left_out(14, 12, 12), left_out(2, 1, 12)
    ('2 paths that carried less are not drawn: choose one.', '')
    """
    if drawn < most or paths <= most:
        return ""
    return f"{counted(paths - drawn, 'path')} that carried less are not drawn: choose one."
