"""What `pathscope replay --dry-run` shows: what would be sent, what not, and how impaired."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from ...replay.lab import netem
from ...replay.prepare import left_out

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from ...replay.prepare import Prepared
    from ...replay.profiles.schedule import Step

MOST_STEPS = 20
"""More of a profile's steps are not shown one by one."""


def planned(prepared: Prepared) -> RenderableType:
    """Return the plan of a replay, for a terminal."""
    steps = prepared.replay.steps()
    parts: list[RenderableType] = [_routes(prepared), Text("\n".join(told(prepared.plan)))]
    if steps:
        parts += [_steps(steps[:MOST_STEPS]), Text(_more(steps, prepared.replay.duration_ns))]
    return Group(*parts)


def _routes(prepared: Prepared) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    for heading in ("path", "direction", "interface"):
        table.add_column(heading)
    for heading in ("frames", "bytes", "first (s)", "last (s)", "largest"):
        table.add_column(heading, justify="right")
    for outlet, route in zip(prepared.replay.orders.outlets, prepared.plan["routes"], strict=True):
        place = "" if outlet.netns is None else f" of {outlet.netns}"
        table.add_row(
            route["path"],
            route["direction"],
            f"{outlet.device}{place}",
            str(route["frames"]),
            str(route["bytes"]),
            _seconds(route["first_due_ns"]),
            _seconds(route["last_due_ns"]),
            str(route["largest_frame"]),
        )
    return table


def told(plan: Mapping[str, Any]) -> Iterator[str]:
    """Yield what a plan says of all routes together, line by line."""
    frames = plan["frames"]
    read, sent = frames["read"], frames["planned"]
    yield f"{sent} frames in {_seconds(plan['duration_ns'])} s, of {read} read"
    for reason, count in left_out(plan).items():
        yield f"not sent: {count} ({reason})"
    for what, count in plan["rewriting"].items():
        yield f"rewriting: {count} ({what})"
    for what, count in plan["warnings"].items():
        yield f"warning: {count} ({what})"
    if plan["disordered"]:
        yield f"{plan['disordered']} frames are earlier than the one before them in the trace"
    if plan["damage"]:
        yield f"warning: the trace is damaged: {plan['damage']}"


def _steps(steps: list[Step]) -> Table:
    table = Table(box=box.SIMPLE_HEAD)
    table.add_column("at (s)", justify="right")
    for heading in ("path", "direction", "netem"):
        table.add_column(heading)
    for step in steps:
        words = " ".join(netem.arguments(step.impairment))
        table.add_row(_seconds(step.at_ns), step.path, step.direction, words)
    return table


def _more(steps: list[Step], duration_ns: int) -> str:
    until = f"until {_seconds(duration_ns)} s"
    hidden = len(steps) - MOST_STEPS
    return f"{len(steps)} steps {until}" + (f", {hidden} of them not shown" if hidden > 0 else "")


def _seconds(time_ns: int | None) -> str:
    return "-" if time_ns is None else f"{time_ns / 1e9:.3f}"
