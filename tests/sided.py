"""Small results to compare, written by hand: only what a comparison of what happened looks at."""

from __future__ import annotations

from typing import Any

from pathscope.analyzer.compare.pairing import Group
from pathscope.analyzer.compare.runs import Run

Node = dict[str, Any]

A_PATH = ("wlan", "cellular", "dsl")


def handover(old: str, new: str, cause: str = "timeout", at_ns: int = 1000, **more: Node) -> Node:
    """A handover that has its first new DATA in frame 9, and what else is given."""
    instants = {
        "t_fail": {"ns": None, "reason": "nobody said"},
        "t_first_new": {"ns": at_ns, "frame": 9, "basis": "observed"},
        **more,
    }
    return {
        "sender": "a",
        "from_path": A_PATH.index(old),
        "to_path": A_PATH.index(new),
        "cause": cause,
        "cause_frames": [7],
        "instants": instants,
    }


def finding(rule: str, *frames: int) -> Node:
    return {"rule": rule, "frames": list(frames)}


def timer(value: float | None, low: float | None = None, high: float | None = None) -> Node:
    if value is None:
        return {"value": None, "reason": "no expiry"}
    return {"value": value, "low": low, "high": high, "frames": [3]}


def result(
    *handovers: Node,
    findings: tuple[Node, ...] = (),
    timers: Node | None = None,
    paths: tuple[str, ...] = A_PATH[:2],
    **capture: Any,
) -> Node:
    association = {
        "capture": 0,
        "id": 0,
        "totals": {},
        "captured_at": "a",
        "paths": [{"id": n, "label": label} for n, label in enumerate(paths)],
        "handovers": list(handovers),
        "findings": list(findings),
        "timers": {"a": timers or {}, "b": {}},
    }
    facts = {"path": "x.pcap", "damage": None, "dropped_by_capture": None, "clock_steps": 0}
    return {
        "schema": "pathscope.result/1",
        "tool": {"version": "1"},
        "captures": [facts | capture],
        "associations": [association],
        **{key: [] for key in ("flows", "connections", "icmp_errors", "simulations")},
        "verdicts": [],
        "warnings": [],
    }


def runs(*documents: Node, **known: Any) -> list[Run]:
    return [Run(f"run-{n}", document, **known) for n, document in enumerate(documents, 1)]


def group(baseline: list[Run], candidate: list[Run]) -> Group:
    return Group("all runs", tuple(baseline), tuple(candidate), (), ())
