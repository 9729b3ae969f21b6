"""The Wireshark display filter of what a view looks at: association or flow, path, window."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..wireshark import NS2_TRACE, frames_filter, window_filter, within
from .pages.packets import table_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .view import View

Node = dict[str, Any]

PROTOCOLS = {
    "chunks": "sctp",
    "messages": "sctp",
    "retransmissions": "sctp",
    "heartbeats": "sctp",
    "control": "sctp",
    "segments": "tcp",
    "datagrams": "udp",
}
"""Of the packet tables that are of one protocol."""


def of_association(view: View) -> str | None:
    """Return the filter for the association's packets on the chosen path, of the whole time."""
    one, path = view.the_association(), view.state.path
    found: str | None = one["wireshark"] if path is None else one["paths"][path]["wireshark"]
    return found


def in_window(expression: str | None, view: View) -> str | None:
    """Cut a filter to the window, where one is asked for."""
    if expression is None or view.window is None:
        return expression
    return within(expression, *view.span_ns())


def of_packets(view: View) -> str | None:
    """Return the filter for what the packets page lists, before the filters of its columns."""
    if not _is_read(view):
        return None
    if view.asked_association is not None or view.state.path is not None:
        return in_window(of_association(view), view)
    protocol = PROTOCOLS.get(table_of(view))
    if protocol is None:
        return None if view.window is None else window_filter(*view.span_ns())
    return in_window(protocol, view)


def of_frames(view: View, frames: Iterable[int | None]) -> str | None:
    """Return the filter for frames by their numbers, which those of several files are not."""
    known = sorted({one for one in frames if one is not None})
    several = len(view.the_case().capture["files"]) != 1
    return None if several or not known or not _is_read(view) else frames_filter(known)


def _is_read(view: View) -> bool:
    """Whether Wireshark reads the capture: a simulator's trace is none."""
    return NS2_TRACE not in view.the_case().capture["format"]
