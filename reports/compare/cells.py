"""The cells that every form of a comparison has: numbers with units, sentences, footnotes."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ..units import bits_per_second, duration

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from ...analyzer.compare.model import Verdict

Node = dict[str, Any]

NS_PER_S = 1e9
NOTHING = "-"
NO_DIFFERENCE = "~"
MOST_REASONS = 3
"""Why there is no verdict, told of rows that are not shown."""

TOLD = frozenset(("better", "worse", "changed"))
"""Verdicts of a difference."""

FIRST = frozenset(("worse", "better"))
"""Verdicts that are shown unless someone asks for more: counts change with everything else."""

ORDER: tuple[Verdict, ...] = (
    "worse",
    "better",
    "changed",
    "not-significant",
    "same",
    "not-enough-runs",
)
"""Rows are shown by verdict."""

FORMS: dict[str, Callable[[float], str]] = {
    "s": duration,
    "ns": lambda ns: duration(ns / NS_PER_S),
    "bit/s": bits_per_second,
}

HEAD = ("metric", "where", "baseline", "candidate", "difference", "p", "n", "verdict")


def number(value: float, unit: str) -> str:
    """Return a number with its unit.

    >>> number(1.5165, "s"), number(51.0, "chunks"), number(0.13746630, "1")
    ('1.516 s', '51 chunks', '0.1375')
    """
    if unit in FORMS:
        return FORMS[unit](value)
    return f"{value:.4g}" if unit == "1" else f"{value:.6g} {unit}"


def signed(value: float, unit: str) -> str:
    """Return a difference.

    >>> signed(0.25, "s"), signed(-2.0, "chunks")
    ('+250.000 ms', '-2 chunks')
    """
    return f"{'+' if value > 0 else ''}{number(value, unit)}"


def cells(row: Node, notes: Notes) -> tuple[str, ...]:
    """Return a row's cells, below `HEAD`; what stands in footnotes is added to them."""
    unit = row["unit"]
    differs = row["verdict"] in TOLD or row["verdict"] == "same"
    marks = notes.marks(row)
    return (
        row["metric"],
        row["place"],
        _side(row["baseline"], unit),
        _side(row["candidate"], unit),
        _difference(row) if differs else NO_DIFFERENCE,
        _p(row["p_holm"]),
        "+".join(str(0 if row[s] is None else row[s]["n"]) for s in ("baseline", "candidate")),
        f"{row['verdict']} {marks}".strip(),
    )


def _p(value: float | None) -> str:
    if value is None:
        return NOTHING
    return "<0.001" if value < 0.001 else f"{value:.3f}"


def _side(side: Node | None, unit: str) -> str:
    """Return the mean, and the standard deviation as a share of it."""
    if side is None:
        return NOTHING
    mean = number(side["mean"], unit)
    if not side["sd"] or not side["mean"]:
        return mean
    return f"{mean} \N{PLUS-MINUS SIGN} {abs(side['sd'] / side['mean']) * 100:.1f} %"


def _difference(row: Node) -> str:
    """Return by how much the means differ, with the interval: as a share, where there is one."""
    ratio, found = row["ratio"], row["difference"]
    if found is not None and found["value"] == 0:
        return "0"
    if ratio is not None:
        value, low, high = (
            None if ratio[key] is None else f"{(ratio[key] - 1) * 100:+.2f}"
            for key in ("value", "low", "high")
        )
        return f"{value} %" if low is None or high is None else f"{value} % [{low}, {high}]"
    if found is None:
        return NOTHING
    value, low, high = (
        None if found[key] is None else signed(found[key], row["unit"])
        for key in ("value", "low", "high")
    )
    return f"{value}" if low is None or high is None else f"{value} [{low}, {high}]"


class Notes:
    """Footnotes: each text once, with the number that stands beside its rows."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def marks(self, row: Node) -> str:
        """Return the marks of a row: its warnings, and why it has no verdict."""
        why = [row["why"]] if row["verdict"] == "not-enough-runs" and row["why"] else []
        texts = dict.fromkeys((*why, *row["warnings"]))
        return "".join(
            f"[{self._numbers.setdefault(text, len(self._numbers) + 1)}]" for text in texts
        )

    def lines(self) -> list[str]:
        """Return the footnotes."""
        return [f"[{number}] {text}" for text, number in self._numbers.items()]


def shown_rows(group: Node, verdicts: Collection[str]) -> list[Node]:
    """Return the rows of these verdicts: what is worse first, and those of a metric together."""
    order = {verdict: number for number, verdict in enumerate(ORDER)}
    met = dict.fromkeys(row["metric"] for row in group["rows"])
    metrics = {metric: number for number, metric in enumerate(met)}
    rows = [row for row in group["rows"] if row["verdict"] in verdicts]
    return sorted(rows, key=lambda row: (order[row["verdict"]], metrics[row["metric"]]))


def hidden(group: Node, verdicts: Collection[str]) -> list[str]:
    """Say what is not shown, by verdict, and why there is none; nothing where all is."""
    left = [row for row in group["rows"] if row["verdict"] not in verdicts]
    if not left:
        return []
    counts = Counter(row["verdict"] for row in left)
    text = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    few = Counter(row["why"] for row in left if row["verdict"] == "not-enough-runs")
    return [
        f"not shown: {text} (--all lists them)",
        *(f"not-enough-runs: {why} ({count})" for why, count in few.most_common(MOST_REASONS)),
    ]


def changes(group: Node) -> list[str]:
    """Say what each side has another value of; once, where it is the same at both ends of a run."""
    found = [(one["key"], f"{one['baseline']} -> {one['candidate']}") for one in group["changes"]]
    known = set(found)
    texts = []
    for key, values in found:
        end, _, rest = key.partition(".")
        of_both = end in ENDS and {(f"{name}.{rest}", values) for name in ENDS} <= known
        texts.append(f"{rest if of_both else key}: {values}")
    return list(dict.fromkeys(texts))


ENDS = ("client", "server")


def difference(one: Node) -> str:
    """Say what happened on one side and not, or otherwise, on the other."""
    before, after = one["baseline"], one["candidate"]
    what = {
        "appeared": f"{one['kind']} appeared: {after['what']}",
        "vanished": f"{one['kind']} vanished: {before['what']}",
    }.get(one["what"], f"{one['what']}: {before['what']} => {after['what']}")
    runs = f"{before['runs']} of {before['of']} runs against {after['runs']} of {after['of']}"
    if one["kind"] == "handover":
        runs = f"common course of {runs}"
    chance = "" if one["clear"] else "; not in all runs, so it may be chance"
    return f"{one['place']}: {what} ({runs}{chance}){_evidence(before, after)}"


def _evidence(*sides: Node) -> str:
    found = []
    for side in sides:
        evidence = side["evidence"]
        if evidence is not None and side["what"] is not None and evidence["frames"]:
            found.append(f"{evidence['run']} frames {_some(evidence['frames'])}")
    return f": {'; '.join(found)}" if found else ""


MOST_FRAMES = 4


def _some(frames: list[int]) -> str:
    text = ", ".join(map(str, frames[:MOST_FRAMES]))
    return text if len(frames) <= MOST_FRAMES else f"{text} and {len(frames) - MOST_FRAMES} more"


ELSEWHERE = "'"
"""Beside a frame of the other end's capture."""

TIMELINE_HEAD = ("instant", "baseline", "frame", "candidate", "frame", "difference")


def timeline(one: Node) -> list[tuple[str, ...]]:
    """Return the cells of an aligned handover, below `TIMELINE_HEAD`."""
    return [
        (instant["instant"], *_moments(instant["baseline"], instant["candidate"]))
        for instant in one["instants"]
    ]


def _moments(before: Node, after: Node) -> tuple[str, ...]:
    offsets = [side["offset_ns"] for side in (before, after)]
    found: list[str] = []
    for side, offset in zip((before, after), offsets, strict=True):
        frame = side.get("frame")
        found += (
            NOTHING if offset is None else _seconds(offset),
            NOTHING if frame is None else f"{frame}{ELSEWHERE if 'other_capture' in side else ''}",
        )
    if None in offsets:
        return (*found, NOTHING)
    return (*found, _seconds(offsets[1] - offsets[0]))


def _seconds(offset_ns: int) -> str:
    return f"{offset_ns / NS_PER_S:+.6f} s"


def timeline_title(one: Node) -> str:
    """Say which handover it is, from when on times count, and whose frames are marked."""
    origin = "the link's failure" if one["origin"] == "t_fail" else "the first new DATA"
    moments = (side for i in one["instants"] for side in (i["baseline"], i["candidate"]))
    marked = any("other_capture" in moment for moment in moments)
    note = f" ({ELSEWHERE}: a frame of the other end's capture)" if marked else ""
    return f"{one['place']}: from {origin} on{note}"


def summary(document: Node) -> str:
    """Say in one line what came out."""
    told = document["summary"]
    counts = [f"{count} {verdict}" for verdict, count in told["verdicts"].items() if count]
    text = ", ".join(counts) or "no numbers"
    differences = told["differences"]
    if differences:
        plural = "" if differences == 1 else "s"
        text += f"; {differences} difference{plural} in what happened"
        text += f", {told['clear_differences']} of them clear"
    return text


def left_out(document: Node) -> Iterable[str]:
    """Say what had no partner, and what could not be read."""
    for one in document["unpaired"]:
        count = len(one["runs"])
        runs = "1 run" if count == 1 else f"{count} runs"
        yield f"{one['group']}: {runs} of the {one['side']} without a partner"
    for one in document["unread"]:
        yield f"{one['side']}: {one['name']} could not be read: {one['reason']}"
