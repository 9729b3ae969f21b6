"""What happened in a handover, event by event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..measure import seconds
from ..timers import nominal_s
from .model import Event

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ...dissectors.ledger import Row
    from ..context import Context
    from ..model import Handover
    from .model import Kind, Value

ORDER: tuple[Kind, ...] = (
    "path-working",
    "path-acknowledged",
    "link-failed",
    "timer-started",
    "last-data",
    "timer-expired",
    "other-path-works",
    "link-returned",
    "heartbeat-unanswered",
    "path-heard",
    "heartbeat-answered",
    "asconf-asked",
    "asconf-answered",
    "moved",
    "acknowledged",
    "recovered",
)
"""Which of two events in one frame is told first: causes before what they cause."""

MOST_HEARTBEATS = 20
"""Unanswered HEARTBEATs told one by one; a long outage has thousands."""


@dataclass(frozen=True, slots=True)
class Scene:
    """A handover with the rows of its association."""

    context: Context
    handover: Handover

    @property
    def old(self) -> str:
        """Label of the path that new DATA left."""
        return self.context.labels[self.handover.from_path]

    @property
    def new(self) -> str:
        """Label of the path that it went to."""
        return self.context.labels[self.handover.to_path]

    @property
    def moved_ns(self) -> int:
        """When it did."""
        return self.handover.instants["t_first_new"].ns or 0

    def expiries(self) -> list[Row]:
        """Rows of the time-outs that led to the move."""
        frames = {timeout.at.frame for timeout in self.handover.timeouts}
        rows = self.context.sent(
            self.context.timeouts, self.handover.sender, self.handover.from_path
        )
        return [row for row in rows if row["frame"] in frames]


def tell_events(scene: Scene) -> tuple[Event, ...]:
    """Return everything that happened in a handover, in time order."""
    found = [
        *_instants(scene),
        *_timers(scene),
        *_heartbeats(scene),
        *_requests(scene),
    ]
    return tuple(sorted(found, key=lambda event: (event.time_ns, ORDER.index(event.kind))))


def _instants(scene: Scene) -> Iterator[Event]:
    old, new = scene.old, scene.new
    words: dict[str, tuple[Kind, str]] = {
        "t_last_ok": ("path-working", f"the last DATA that {old} delivers is sent"),
        "t_last_sack": ("path-acknowledged", f"the SACK for the last DATA that {old} delivered"),
        "t_fail": ("link-failed", f"{old} fails"),
        "t_last_data_old": ("last-data", f"the last DATA on {old}"),
        "t_return_link": ("link-returned", f"{new} is back"),
        "t_return_packet": ("path-heard", f"the first packet heard on {new} since it failed"),
        "t_first_new": ("moved", f"the first new DATA on {new}"),
        "t_first_ack": ("acknowledged", f"the first SACK for new DATA on {new}"),
        "t_recovered": ("recovered", "all that was outstanding at the move is delivered"),
    }
    for name, (kind, words_of_it) in words.items():
        instant = scene.handover.instants[name]
        if instant.ns is None or instant.basis is None:
            continue
        if name == "t_last_data_old" and instant == scene.handover.instants["t_last_ok"]:
            continue
        text = words_of_it
        values: dict[str, Value] = {}
        if instant.low_ns is not None and instant.high_ns is not None:
            values = {"low_ns": instant.low_ns, "high_ns": instant.high_ns}
        if name == "t_first_new":
            values["outstanding_chunks"] = outstanding = _outstanding(scene)
            text += f"; {outstanding} chunks are outstanding" if outstanding else ""
        yield Event(kind, instant.ns, instant.frame, instant.basis, text, values)


def _outstanding(scene: Scene) -> int:
    runs = scene.context.sent(scene.context.runs, scene.handover.sender, scene.handover.to_path)
    found = [row["outstanding_chunks"] for row in runs if row["first_ns"] == scene.moved_ns]
    return int(found[0]) if found else 0


def _timers(scene: Scene) -> Iterator[Event]:
    rows = scene.expiries()
    for number, row in enumerate(rows, start=1):
        if row["armed_ns"] is not None:
            text = f"T3-rtx of {scene.old} starts"
            yield Event("timer-started", row["armed_ns"], row["armed_frame"], "inferred", text, {})
        yield _expiry(scene, row, number, last=number == len(rows))
        yield from _answer(scene, row)


def _expiry(scene: Scene, row: Row, number: int, *, last: bool) -> Event:
    path = scene.context.labels[row["retransmission_path"]]
    chunks = len(_sent_again(scene, row))
    values: dict[str, Value] = {"consecutive": row["consecutive"], "chunks": chunks}
    text = f"T3-rtx of {scene.old} expires"
    if row["elapsed_ns"] is not None:
        values |= {
            "elapsed_s": seconds(row["elapsed_ns"]),
            "rto_s": nominal_s(seconds(row["elapsed_ns"])),
        }
        text += f" after {values['elapsed_s']:.3f} s (RTO {values['rto_s']:g} s)"
    text += f", expiry {number} in a row: {chunks} chunks are sent again on {path}"
    if last:
        is_pf = scene.handover.cause == "potentially-failed"
        text += f"; {scene.old} is {'potentially failed' if is_pf else 'given up'}"
    elif row["retransmission_path"] != scene.handover.from_path:
        text += f", new DATA stays on {scene.old}"
    return Event("timer-expired", row["time_ns"], row["frame"], "inferred", text, values)


def _sent_again(scene: Scene, row: Row) -> list[Row]:
    """Chunks of the packet that the expiry caused."""
    return [
        again
        for again in scene.context.sent(
            scene.context.retransmissions, scene.handover.sender, row["retransmission_path"]
        )
        if again["frame"] == row["frame"]
    ]


def _answer(scene: Scene, row: Row) -> Iterator[Event]:
    """The SACK for what an expiry sent again elsewhere, before the move: a sign not heeded."""
    if row["retransmission_path"] == scene.handover.from_path:
        return
    answered = [again for again in _sent_again(scene, row) if again["ack_ns"] is not None]
    if answered and answered[0]["ack_ns"] < scene.moved_ns:
        path = scene.context.labels[row["retransmission_path"]]
        yield Event(
            "other-path-works",
            answered[0]["ack_ns"],
            answered[0]["ack_frame"],
            "observed",
            f"what was sent again on {path} is acknowledged: {path} works",
            {},
        )


def _heartbeats(scene: Scene) -> Iterator[Event]:
    """HEARTBEATs on the path that failed, or on the one that is gone back to."""
    handover, instants = scene.handover, scene.handover.instants
    returned = handover.cause == "path-returned"
    path = handover.to_path if returned else handover.from_path
    until_ns = scene.moved_ns if returned else (instants["t_recovered"].ns or scene.moved_ns)
    from_ns = _left_ns(scene) if returned else (instants["t_last_ok"].ns or 0)
    label = scene.context.labels[path]
    rows = [
        row
        for row in scene.context.sent(scene.context.heartbeats, handover.sender, path)
        if from_ns <= row["time_ns"] <= until_ns
    ]
    lost = [row for row in rows if row["ack_ns"] is None]
    for row in lost[-MOST_HEARTBEATS:]:
        text = f"HEARTBEAT on {label}: never answered"
        yield Event("heartbeat-unanswered", row["time_ns"], row["frame"], "observed", text, {})
    for row in rows:
        if row["ack_frame"] is not None and row["ack_frame"] == instants["t_decision"].frame:
            yield Event(
                "heartbeat-answered",
                row["ack_ns"],
                row["ack_frame"],
                "observed",
                f"the HEARTBEAT on {label} of frame {row['frame']} is answered after"
                f" {seconds(row['rtt_ns']) * 1e3:.1f} ms: the path may be used",
                {"heartbeat_frame": row["frame"], "rtt_ns": row["rtt_ns"]},
            )


def _left_ns(scene: Scene) -> int:
    """When the path that is gone back to had been left."""
    left = [
        row["last_ns"]
        for row in scene.context.sent(
            scene.context.runs, scene.handover.sender, scene.handover.to_path
        )
        if row["last_ns"] < scene.moved_ns
    ]
    return max(left, default=0)


def _requests(scene: Scene) -> Iterator[Event]:
    frame = scene.handover.instants["t_decision"].frame
    for row in scene.context.asconf:
        if row["frame"] != frame or scene.handover.cause not in ("set-primary", "address-deleted"):
            continue
        asked = f"ASCONF {row['request'].upper()} of {row['address']}"
        yield Event(
            "asconf-asked", row["time_ns"], row["frame"], "observed", f"{asked} is sent", {}
        )
        if row["ack_ns"] is not None:
            text = f"its ASCONF-ACK: {row['outcome']}"
            yield Event("asconf-answered", row["ack_ns"], row["ack_frame"], "observed", text, {})
