"""A handover's story for people: events and the gaps between, where the time went, what if."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.text import Text

from ..analyzer.story.alternatives import setting_text
from .layout import grid, section, shown
from .units import duration, ratio

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from ..analyzer.measure import Measure
    from ..analyzer.settings import Settings
    from ..analyzer.story.model import Alternative, Event, Phase, Story

COLUMNS = {
    "failure_detection_s": "detection",
    "link_failure_recovery_s": "failure to new path",
    "data_interruption_s": "without DATA",
    "link_recognition_s": "link's return to DATA",
}

RETURN = ("link_recognition_s",)
"""All that a move back to a path has to show."""


def report(stories: Sequence[Story], start_ns: int) -> Group:
    """Render stories; times are seconds since the capture's first frame."""
    parts: list[RenderableType] = []
    for story in stories:
        parts += [""] if parts else []
        parts += _story(story, start_ns)
    return Group(*parts)


def _story(story: Story, start_ns: int) -> list[RenderableType]:
    title = (
        f"Association {story.association}, handover {story.handover} of {story.sender}:"
        f" {story.from_label} -> {story.to_label}, {story.cause}"
    )
    parts: list[RenderableType] = [Text(title, style="bold")]
    parts.append(section("What happened", _events(story.events, start_ns)))
    if story.phases:
        parts.append(section("Where the time went", _phases(story.phases)))
    parts.append(section("Why", Text("\n".join(story.why))))
    if story.settings is not None:
        parts.append(section("What it would have cost", _alternatives(story)))
    return parts


def _events(events: Sequence[Event], start_ns: int) -> Table:
    table = grid("when", "gap", "frame", "basis", "", right=("when", "gap", "frame"))
    before_ns: int | None = None
    for event in events:
        gap = "" if before_ns is None else f"+{duration((event.time_ns - before_ns) / 1e9)}"
        before_ns = event.time_ns
        table.add_row(
            f"{(event.time_ns - start_ns) / 1e9:.6f} s",
            gap,
            "" if event.frame is None else str(event.frame),
            event.basis,
            event.text + _bounds(event, start_ns),
        )
    return table


def _bounds(event: Event, start_ns: int) -> str:
    if "low_ns" not in event.values:
        return ""
    low_s, high_s = ((int(event.values[name]) - start_ns) / 1e9 for name in ("low_ns", "high_ns"))
    return f" (between {low_s:.6f} and {high_s:.6f} s)"


def _phases(phases: Sequence[Phase]) -> Table:
    table = grid("part", "", "how long", "share", right=("how long", "share"))
    total_ns = sum(phase.end_ns - phase.start_ns for phase in phases)
    for phase in phases:
        took_ns = phase.end_ns - phase.start_ns
        table.add_row(phase.name, phase.text, duration(took_ns / 1e9), ratio(took_ns / total_ns))
    table.add_row("", "together", duration(total_ns / 1e9), "")
    return table


def _alternatives(story: Story) -> Group:
    names = RETURN if story.cause == "path-returned" else tuple(COLUMNS)
    table = grid("at", *(COLUMNS[name] for name in names))
    table.add_row("measured", *(shown(story.measured[name], _seconds) for name in names))
    for one in story.alternatives:
        metrics = one.prediction.metrics
        table.add_row(
            one.text if one.given else "model, as it was", *(_span(metrics[name]) for name in names)
        )
    parts: list[RenderableType] = [table]
    if story.settings is not None:
        parts += ["", Text(f"Settings: {_settings(story.settings)}.", style="dim")]
    parts += [Text(f"{text}.", style="dim") for text in _caveats(story.alternatives)]
    return Group(*parts)


def _seconds(time_s: float) -> str:
    """Every cell in the same unit, so that a column can be compared."""
    return f"{time_s:.3f} s"


def _span(measure: Measure) -> str:
    if measure.value is None or measure.low is None or measure.high is None:
        return shown(measure, _seconds)
    return f"{_seconds(float(measure.value))} ({measure.low:.3f} to {measure.high:.3f})"


def _settings(settings: Settings) -> str:
    named = {name: getattr(settings, name) for name in settings.__slots__}
    return ", ".join(
        f"{setting_text({name: one.value})} {one.source}" for name, one in named.items()
    )


def _caveats(alternatives: Sequence[Alternative]) -> list[str]:
    return [f"{one.text}: {text}" for one in alternatives for text in one.prediction.caveats]
