"""Numbers that are none: TOML has infinity and NaN, and a JSON Schema lets both pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

Key = tuple[str | int, ...]

EXPECTED = "expected a finite number"


def not_finite(value: Any, key: Key = ()) -> Iterator[Key]:
    """Yield where infinity and NaN stand in a document: NaN is within all bounds."""
    if isinstance(value, float) and not math.isfinite(value):
        yield key
    items = value.items() if isinstance(value, dict) else ()
    for name, inner in enumerate(value) if isinstance(value, list) else items:
        yield from not_finite(inner, (*key, name))
