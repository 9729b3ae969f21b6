"""JSON that somebody else wrote."""

from __future__ import annotations

import json
from typing import Any


def parsed(text: str | bytes) -> Any:
    """Return what a JSON text says.

    Raises
    ------
    ValueError
        When it is none, or its parts are deeper in each other than can be read.
    """
    try:
        return json.loads(text)
    except RecursionError as error:
        raise ValueError("its parts are too deep in each other") from error
