"""Letters that nobody sees: what they could do where a text is shown, they do not."""

from __future__ import annotations

import json
import re
from typing import Any

UNSEEN = re.compile(
    r"[\x00-\x09\x0b-\x1f\x7f-\x9f"  # controls, but for the end of a line
    r"\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""What a name in a capture could do to a terminal, or to the order of the letters beside it."""


def plain(text: str) -> str:
    """Return text without what could do something to a terminal."""
    return UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def json_text(document: Any, indent: int | None = None) -> str:
    r"""Return a document as JSON that does nothing to a terminal either, and says the same.

    >>> json_text({"interface": "\x9b31m wlan\u00e9"})
    '{"interface": "\\u009b31m wlan\u00e9"}'
    """
    text = json.dumps(document, indent=indent, ensure_ascii=False)
    return UNSEEN.sub(lambda found: json.dumps(found[0])[1:-1], text)
