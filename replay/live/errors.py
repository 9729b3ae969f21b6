"""Why a trace cannot be sent again."""

from __future__ import annotations


class LiveError(ValueError):
    """A trace, a setting or a profile that cannot be taken; the message says which and why."""
