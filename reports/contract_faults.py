"""Where a document is not of the result contract (result.schema.json)."""

from __future__ import annotations

import json
from functools import cache
from textwrap import shorten
from typing import Any

from .result_shape import SCHEMA

LONGEST = 200
"""Letters that are told of what is wrong: it may have all of the document in it."""


def fault(document: Any) -> str | None:
    """Say what is wrong with a result, and where, or None: as JSON path and in words."""
    from jsonschema.exceptions import best_match

    error = best_match(_validator().iter_errors(document))
    return None if error is None else f"{error.json_path}: {shorten(error.message, LONGEST)}"


@cache
def _validator() -> Any:
    import jsonschema

    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8")))
