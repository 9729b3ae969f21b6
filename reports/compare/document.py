"""The contract `pathscope.compare/1` (docs/contract-compare.md): comparison to JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, get_args

from ...analyzer.compare.model import Verdict
from ...dissectors import _core
from ..units import file_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...analyzer.compare.alignment import Aligned, Moment
    from ...analyzer.compare.comparison import Comparison
    from ...analyzer.compare.difference import Difference, Seen
    from ...analyzer.compare.model import Row
    from ...analyzer.compare.pairing import Group
    from ...analyzer.compare.runs import Run

SCHEMA = "pathscope.compare/1"

Node = dict[str, Any]


def document(comparison: Comparison, seed: int) -> Node:
    """Return a comparison as one JSON document."""
    verdicts = Counter(row.verdict for row in comparison.rows)
    return {
        "schema": SCHEMA,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "baseline": file_name(comparison.baseline),
        "candidate": file_name(comparison.candidate),
        "seed": seed,
        "summary": {
            "verdicts": {verdict: verdicts[verdict] for verdict in get_args(Verdict)},
            "differences": len(comparison.differences),
            "clear_differences": sum(one.clear for one in comparison.differences),
            "worse": comparison.is_worse,
            "changed": comparison.is_changed,
        },
        "groups": [_group(group, comparison) for group in comparison.pairing.groups],
        "unpaired": [
            {"side": one.side, "group": one.group, "runs": list(map(file_name, one.runs))}
            for one in comparison.pairing.unpaired
        ],
        "unread": [
            {"side": one.side, "name": file_name(one.name), "reason": file_name(one.reason)}
            for one in comparison.unread
        ],
    }


def _group(group: Group, comparison: Comparison) -> Node:
    name = group.name
    return {
        "name": file_name(name),
        "baseline": _names(group.baseline),
        "candidate": _names(group.candidate),
        "changes": [asdict(change) for change in group.changes],
        "rows": [_row(row) for row in comparison.rows if row.group == name],
        "differences": [_difference(one) for one in comparison.differences if one.group == name],
        "timelines": [_timeline(one) for one in comparison.timelines if one.group == name],
        "warnings": [
            {"kind": one.kind, "text": file_name(one.text), "runs": list(map(file_name, one.runs))}
            for one in comparison.warnings
            if one.group == name
        ],
    }


def _names(runs: Iterable[Run]) -> list[str]:
    return [file_name(run.name) for run in runs]


def _row(row: Row) -> Node:
    found = asdict(row)
    del found["group"]
    return found | {"place": file_name(row.place), "warnings": list(row.warnings)}


def _difference(one: Difference) -> Node:
    return {
        "kind": one.kind,
        "what": one.what,
        "place": one.place,
        "baseline": _seen(one.baseline),
        "candidate": _seen(one.candidate),
        "clear": one.clear,
    }


def _seen(one: Seen) -> Node:
    evidence = one.evidence
    return {
        "what": None if one.what is None else file_name(one.what),
        "runs": one.runs,
        "of": one.of,
        "evidence": None
        if evidence is None
        else {"run": file_name(evidence.run), "frames": list(evidence.frames)},
    }


def _timeline(one: Aligned) -> Node:
    return {
        "place": one.place,
        "origin": one.origin,
        "baseline_run": file_name(one.baseline_run),
        "candidate_run": file_name(one.candidate_run),
        "instants": [
            {"instant": name, "baseline": _moment(before), "candidate": _moment(after)}
            for name, before, after in one.instants
        ],
    }


def _moment(moment: Moment) -> Node:
    if moment.offset_ns is None:
        return {"offset_ns": None, "reason": moment.reason}
    found: Node = {"offset_ns": moment.offset_ns, "frame": moment.frame}
    return found | ({"other_capture": True} if moment.elsewhere else {})
