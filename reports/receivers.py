"""Receivers, outages and waiting messages in the result contract, and in the console's words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..analyzer.context import ENDS
from .units import duration
from .values import instant, measure, measures

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..analyzer.model import Association, Stream
    from ..analyzer.receiver_model import Moment, Outage, Receiver, Waiting

MOST_STREAMS = 4
"""Lines on streams whose messages waited; those that waited longest."""


def waiting_object(waiting: Waiting) -> dict[str, Any]:
    """Return head-of-line blocking of a stream."""
    return {
        "metrics": measures(waiting.metrics),
        "longest_tsn": waiting.longest_tsn,
        "longest_start": instant(waiting.longest_start),
        "longest_end": instant(waiting.longest_end),
    }


def receiver_object(receiver: Receiver) -> dict[str, Any]:
    """Return one end as a receiver."""
    return {
        "metrics": measures(receiver.metrics),
        "longest_zero_window": {
            "start": instant(receiver.longest_start),
            "end": instant(receiver.longest_end),
        },
    }


def outage_object(outage: Outage) -> dict[str, Any]:
    """Return one outage of a path."""
    return {
        "sender": outage.sender,
        "start": _moment(outage.start),
        "end": None if outage.end is None else _moment(outage.end),
        "first_lost": _moment(outage.first_lost),
        "last_lost": _moment(outage.last_lost),
        "duration_s": measure(outage.duration_s),
    }


def _moment(moment: Moment) -> dict[str, int | None]:
    return {"ns": moment.ns, "frame": moment.frame}


def lines(association: Association) -> Iterator[str]:
    """Lines on messages that waited and on closed windows, where there were any."""
    waited = [stream for stream in association.streams if _wait_s(stream) > 0]
    waited.sort(key=_wait_s, reverse=True)
    for stream in waited[:MOST_STREAMS]:
        metrics = stream.waiting.metrics
        yield (
            f"stream {stream.number} of {stream.sender}:"
            f" {metrics['waited_messages'].value} messages waited {duration(_wait_s(stream))} for"
            f" earlier ones, longest {duration(metrics['wait_max_s'].value or 0)} for TSN"
            f" {stream.waiting.longest_tsn} (frame {stream.waiting.longest_end.frame})"
            + _in_one(association, stream)
        )
    if (left := len(waited) - MOST_STREAMS) > 0:
        yield f"{left} more streams had messages that waited"
    for end in ENDS:
        metrics = association.receivers[end].metrics
        if metrics["zero_windows"].value:
            closed_s = metrics["zero_window_s"].value or 0
            yield (
                f"{end} closed its window {metrics['zero_windows'].value} times,"
                f" {duration(closed_s)} in all,"
                f" longest from frame {association.receivers[end].longest_start.frame}"
            )


def _in_one(association: Association, stream: Stream) -> str:
    """What a single stream would have cost, where the sender had several."""
    if sum(other.sender == stream.sender for other in association.streams) == 1:
        return ""
    return f"; in one stream {duration(stream.waiting.metrics['single_stream_wait_s'].value or 0)}"


def _wait_s(stream: Stream) -> float:
    return stream.waiting.metrics["wait_s"].value or 0
