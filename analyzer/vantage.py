"""Where the capture was taken, by which end's questions are answered at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .context import ENDS

if TYPE_CHECKING:
    from .context import Context
    from .model import End, Vantage

NEAR = 0.1
"""At an end, the other end's HEARTBEATs are answered in less than this share of the way."""


def captured_at(context: Context) -> Vantage:
    """Infer the end that the capture was taken at.

    On each path the least time until an end's HEARTBEATs (else its DATA) are answered is the way
    from the tap to the other end and back. Near an end, its own share is nearly the whole. The
    ends' shares are compared on every path where both are known.
    """
    shares = []
    for path in range(len(context.paths)):
        ways = {end: _way_ns(context, end, path) for end in ENDS}
        a_ns, b_ns = ways["a"], ways["b"]
        if a_ns is not None and b_ns is not None and a_ns + b_ns > 0:
            shares.append(a_ns / (a_ns + b_ns))
    if not shares:
        return "unknown"
    if min(shares) > 1 - NEAR:
        return "a"
    if max(shares) < NEAR:
        return "b"
    return "between"


def _way_ns(context: Context, end: End, path: int) -> int | None:
    rows = context.sent(context.rtt, end, path)
    beats = [row["min_ns"] for row in rows if row["kind"] == "heartbeat"]
    return min(beats) if beats else min((row["min_ns"] for row in rows), default=None)
