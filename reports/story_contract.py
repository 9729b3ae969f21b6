"""The contract `pathscope.story/1` (docs/contract-story.md): stories to JSON."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from ..dissectors import _core
from .units import file_name
from .values import measures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..analyzer.settings import Setting, Settings
    from ..analyzer.story.model import Alternative, Event, Phase, Story

SCHEMA = "pathscope.story/1"


def document(path: str, stories: Sequence[Story]) -> dict[str, Any]:
    """Return the stories of one capture as JSON's types."""
    return {
        "schema": SCHEMA,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "capture": file_name(path),
        "stories": [_story(story) for story in stories],
    }


def _story(story: Story) -> dict[str, Any]:
    return {
        "association": story.association,
        "handover": story.handover,
        "sender": story.sender,
        "from": story.from_label,
        "to": story.to_label,
        "cause": story.cause,
        "events": [_event(event) for event in story.events],
        "phases": [_phase(phase) for phase in story.phases],
        "why": list(story.why),
        "measured": measures(story.measured),
        "settings": None if story.settings is None else _settings(story.settings),
        "alternatives": [_alternative(one) for one in story.alternatives],
    }


def _event(event: Event) -> dict[str, Any]:
    return {
        "kind": event.kind,
        "time_ns": event.time_ns,
        "frame": event.frame,
        "basis": event.basis,
        "text": event.text,
        "values": event.values,
    }


def _phase(phase: Phase) -> dict[str, Any]:
    return {
        "name": phase.name,
        "text": phase.text,
        "start_ns": phase.start_ns,
        "end_ns": phase.end_ns,
    }


def _settings(settings: Settings) -> dict[str, Any]:
    return {field.name: _setting(getattr(settings, field.name)) for field in fields(settings)}


def _setting(setting: Setting) -> dict[str, Any]:
    low, high = setting.bounds
    return {"value": setting.value, "source": setting.source, "low": low, "high": high}


def _alternative(one: Alternative) -> dict[str, Any]:
    return {
        "given": one.given,
        "settings": _settings(one.prediction.settings),
        "time_outs_s": list(one.prediction.time_outs_s),
        "metrics": measures(one.prediction.metrics),
        "caveats": list(one.prediction.caveats),
    }
