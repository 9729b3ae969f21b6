"""A trace sent again: the contract `pathscope.live/1` (docs/contract-live.md), and its text."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.text import Text

from ...analyzer.compare.courses import courses_of, matched
from ...dissectors import _core
from ..compare import cells
from ..compare import document as compared
from ..layout import grid, section
from ..units import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from ...analyzer.compare.comparison import Comparison
    from ...analyzer.compare.courses import Move
    from ...analyzer.compare.runs import Run
    from ...live import LiveRun
    from ...replay.live.run import Planned

SCHEMA = "pathscope.live/1"

Node = dict[str, Any]

HANDOVER = "handover "
"""How the places of a handover's numbers begin."""

DEFAULT = "default"
NOTHING = "-"


def document(made: LiveRun, seed: int = 1) -> Node:
    """Return all that is known of it as one JSON document."""
    return planned(made.made.planned) | {
        "folder": file_name(str(made.folder)),
        "runs": [file_name(str(place)) for place in made.made.runs],
        "handovers": [
            {"sender": sender, "original": _move(before), "live": _move(after)}
            for sender, before, after in _handovers(made.comparison)
        ],
        "comparison": compared.document(made.comparison, seed),
    }


def planned(plan: Planned) -> Node:
    """Return what is known before a run: the document without its results."""
    talk = plan.talk
    return {
        "schema": SCHEMA,
        "tool": {"version": _core.__version__, "build_profile": _core.build_profile},
        "what": talk.what,
        "protocol": talk.protocol,
        "duration_s": plan.scenario["duration_s"],
        "messages": {
            host: {"messages": len(sent), "user_bytes": sent.user_bytes}
            for host, sent in talk.sent.items()
        },
        "paths": [
            {
                "name": path.name,
                "label": path.trace.label,
                "trace": {"a": path.trace.a_address, "b": path.trace.b_address},
                "lab": {"client": path.client, "server": path.server},
            }
            for path in talk.paths.paths
        ],
        "settings": [asdict(one) for one in talk.settings],
        "actions": len(plan.scenario["actions"]),
        "warnings": list(plan.warnings),
    }


def _move(move: Move | None) -> Node | None:
    return None if move is None else asdict(move)


def _handovers(
    comparison: Comparison,
) -> Iterator[tuple[str, Move | None, Move | None]]:
    """Yield the handovers of the first run of either side, matched in order, with their sender."""
    for group in comparison.pairing.groups:
        if not (group.baseline and group.candidate):
            continue
        ours, theirs = (_courses(side[0]) for side in (group.baseline, group.candidate))
        for sender in dict.fromkeys((*ours, *theirs)):
            one, other = ours.get(sender, ()), theirs.get(sender, ())
            for match in matched(one, other):
                yield (
                    sender,
                    None if match.baseline is None else one[match.baseline],
                    None if match.candidate is None else other[match.candidate],
                )


def _courses(run: Run) -> dict[str, tuple[Move, ...]]:
    found = courses_of(run).items()
    return {sender: tuple(move for move, _ in moves) for (_, sender), moves in found}


def report(found: Node) -> Group:
    """Render a document of `pathscope.live/1`, or what `planned` returned."""
    return Group(*_parts(found))


def _parts(found: Node) -> Iterator[RenderableType]:
    yield Text(f"{found['what']}, sent again for {found['duration_s']:.1f} s")
    for host, sent in found["messages"].items():
        yield Text(f"{host}: {sent['messages']} messages, {sent['user_bytes']} bytes")
    yield Text(f"changes of links and acts of the ends meanwhile: {found['actions']}")
    yield section("Paths", _paths(found["paths"]))
    changed = [one for one in found["settings"] if one["value"] != one["was"]]
    if changed:
        yield section("Changed", Group(*map(Text, map(_change, changed))))
    if found["settings"]:
        yield section("Settings", _settings(found["settings"]))
    if "comparison" in found:
        yield from _results(found)
    if found["warnings"]:
        yield section("Not as it was", Group(*map(Text, found["warnings"])))


def _results(found: Node) -> Iterator[RenderableType]:
    yield section("Handovers", Group(*_of_handovers(found)))
    differences = [d for g in found["comparison"]["groups"] for d in g["differences"]]
    if differences:
        yield section("What happened", Group(*(Text(cells.difference(d)) for d in differences)))


def _paths(paths: Sequence[Node]) -> Table:
    table = grid("path", "in the trace", "in the lab")
    for path in paths:
        trace = f"{path['trace']['a']} - {path['trace']['b']}"
        lab = f"{path['lab']['client']} - {path['lab']['server']}"
        table.add_row(path["name"], trace, "the same" if lab == trace else lab)
    return table


def _change(one: Node) -> str:
    before = "unset" if one["was"] is None else _plain(one["was"])
    return f"{one['host']}: {one['name']}: {before} -> {_plain(one['value'])}"


def _plain(value: float | bool) -> str:
    return str(value).lower()


def _settings(settings: Sequence[Node]) -> Group:
    """Show what is known; the rest is the lab's own."""
    table = grid("end", "setting", "value", "basis", "why", right=("value",))
    for one in settings:
        if one["source"] != DEFAULT:
            value = _plain(one["value"])
            table.add_row(one["host"], one["name"], value, one["source"], one["why"])
    names = dict.fromkeys(one["name"] for one in settings if one["source"] == DEFAULT)
    own = f"as the lab has them where not listed: {', '.join(names)}" if names else ""
    return Group(table, Text(own, style="dim")) if own else Group(table)


def _of_handovers(found: Node) -> Iterator[RenderableType]:
    if not found["handovers"]:
        yield Text("none in the trace, and none in the run")
        return
    moves = grid("sender", "original", "live")
    for one in found["handovers"]:
        moves.add_row(one["sender"], *(_shown(one[side]) for side in ("original", "live")))
    yield moves
    rows = [
        row
        for group in found["comparison"]["groups"]
        for row in group["rows"]
        if row["place"].startswith(HANDOVER)
    ]
    if rows:
        yield ""
        yield _numbers(rows)


def _shown(move: Node | None) -> str:
    return NOTHING if move is None else f"{move['from_path']} -> {move['to_path']}, {move['cause']}"


def _numbers(rows: Sequence[Node]) -> Table:
    """Put the numbers of either side beside each other; a verdict stands where there is one."""
    columns = ("original", "live", "difference")
    table = grid("", *columns, "n", "verdict", right=(*columns, "n"))
    before = None
    for row in rows:
        if row["place"] != before:
            table.add_row(row["place"])
            before = row["place"]
        sides = row["baseline"], row["candidate"]
        table.add_row(
            f"  {row['metric']}",
            *(_side(side, row["unit"]) for side in sides),
            _difference(row),
            "+".join(str(0 if side is None else side["n"]) for side in sides),
            NOTHING if row["verdict"] == "not-enough-runs" else row["verdict"],
        )
    return table


def _side(side: Node | None, unit: str) -> str:
    if side is None:
        return NOTHING
    mean = cells.number(side["mean"], unit)
    if not side["sd"]:
        return mean
    return f"{mean} \N{PLUS-MINUS SIGN} {cells.number(side['sd'], unit)}"


def _difference(row: Node) -> str:
    sides = row["baseline"], row["candidate"]
    if None in sides:
        return NOTHING
    value = sides[1]["mean"] - sides[0]["mean"]
    share = f" ({value / sides[0]['mean']:+.1%})" if sides[0]["mean"] else ""
    return f"{cells.signed(value, row['unit'])}{share}"
