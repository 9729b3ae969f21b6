"""Routes: a direction of a path each."""

from __future__ import annotations

from .packets.orders import Direction

Route = tuple[str, str]
"""Path and direction."""

NEAR = {"to_server": "client", "to_client": "server"}
"""The end that sends the frames of a direction."""

FAR = {"to_server": "server", "to_client": "client"}
"""The end that they arrive at."""

Places = dict[tuple[str, Direction], tuple[str, int]]
"""Interface and its MTU, of routes that leave through given ones."""

HERE = "here"
"""The host of given interfaces, where counters are told by host."""
