"""What the results of a study say, in cells and sentences: for text and page alike."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ...analyzer.units import SHOWN, scaled
from .numbers import interval, named, number, plain

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]


def unit_of(figure: Node) -> tuple[float, str]:
    """Return what a figure's numbers are multiplied by to be shown, and the unit they are in."""
    return scaled(figure["unit"], figure["shown_in"])


def head(figure: Node) -> list[str]:
    """Return the heads of a figure's columns."""
    series, x, unit = figure["series"], figure["x"], unit_of(figure)[1]
    of = f" [{unit}]" if unit else ""
    columns = [_head(series)] if series else []
    columns += [_head(x), "n", f"mean{of}"]
    if _varies(figure):
        columns += [f"sd{of}", f"95 % interval{of}"]
    return [*columns, f"published{of}", "off [%]"] if figure["published"]["points"] else columns


def _head(axis: Node) -> str:
    return f"{axis['name']} [{axis['unit']}]" if axis["unit"] else str(axis["name"])


def _varies(figure: Node) -> bool:
    """Whether there is a point of several runs: a single one has neither deviation nor interval."""
    return any(point["n"] > 1 for point in figure["ours"])


NOT_MEASURED: Node = {"n": 0, "mean": None, "sd": None, "low": None, "high": None, "slow": 0}


def brief(experiment: Node) -> tuple[list[str], list[list[str]]]:
    """Return one table of all figures of an experiment, heads and rows: what they show alone."""
    xs = dict.fromkeys(_head(figure["x"]) for figure in experiment["figures"])
    heads = ["", " or ".join(xs), "here", "published", "off [%]"]
    found = []
    for figure in experiment["figures"]:
        # What is counted stands in the title.
        unit = unit_of(figure)[1] if figure["unit"] in SHOWN else ""
        title = f"{figure['title']} [{unit}]" if unit else figure["title"]
        for cells in rows(figure):
            # By their heads, which carry the unit.
            by_head = dict(zip((name.split(" [")[0] for name in head(figure)), cells, strict=True))
            place = " ".join(cells[: 2 if figure["series"] else 1])
            published, off = (by_head.get(name, "-") for name in ("published", "off"))
            found.append([title, place, by_head["mean"], published, off])
    return heads, found


def rows(figure: Node) -> Iterator[list[str]]:
    """Yield a row for every point that was measured or published."""
    scale = unit_of(figure)[0]
    ours = {(point["series"], point["x"]): point for point in figure["ours"]}
    published = {
        (point.get("series"), point["x"]): point for point in figure["published"]["points"]
    }
    # What was published of no series stands beside every one of ours.
    measured = {x for _, x in ours}
    alone = [key for key in published if key[0] is not None or key[1] not in measured]
    for key in dict.fromkeys([*ours, *alone]):
        cells = [plain(key[0]) if key[0] is not None else "-"] if figure["series"] else []
        cells.append(plain(key[1]))
        point = ours.get(key, NOT_MEASURED)
        mean, sd, low, high = (
            None if point[name] is None else point[name] * scale
            for name in ("mean", "sd", "low", "high")
        )
        slow = f" ({point['slow']} slow)" if point["slow"] else ""
        cells += [f"{point['n']}{slow}", _number(mean, figure)]
        if _varies(figure):
            cells += [number(sd, 3), interval(low, high)]
        if published:
            beside = published.get(key, published.get((None, key[1])))
            cells += [_published(beside, figure), _off(point["mean"], beside)]
        yield cells


def _number(value: float | None, figure: Node) -> str:
    """A number as the figure shows it; what is counted, without decimals where it has none."""
    if value is not None and figure["unit"] not in SHOWN and value == round(value):
        return f"{value:.0f}"
    return number(value, figure["digits"])


def _published(point: Node | None, figure: Node) -> str:
    if point is None:
        return "-"
    scale = unit_of(figure)[0]
    sd = f" (sd {number(point['sd'] * scale, 3)})" if "sd" in point else ""
    return _number(point["y"] * scale, figure) + sd


def _off(mean: float | None, point: Node | None) -> str:
    """How far ours is off the published, in percent of that."""
    if mean is None or point is None or not point["y"]:
        return "-"
    percent = round(100 * (mean - point["y"]) / abs(point["y"]), 2)
    return f"{percent:+.2f}" if percent else "0.00"


def what(figure: Node, document: Node) -> str:
    """Say what a figure shows, and against what."""
    definition = document["quantities"][figure["quantity"]]["definition"]
    seen = "" if figure["end"] is None else f"; captured at the {figure['end']}"
    text = f"{figure['quantity']}: {definition}{seen}."
    x = figure["x"]["name"]
    if x in document["numbers"]:
        text += f" {x}: {document['numbers'][x]['definition']}."
    return text


def remarks(figure: Node, confidence: float) -> Iterator[str]:
    """Yield what stands below a figure: the line, what was published, what is absent."""
    published, fit = figure["published"], figure["fit"]
    if fit is not None:
        yield f"Fitted line ({fit['n']} runs): {line_in_words(figure, confidence)}."
    if published["line"] is not None:
        line = published["line"]
        yield (
            f"Beside it: {line['text']}: slope {number(line['slope'])},"
            f" intercept {number(line['intercept'])}."
        )
    if published["text"] is not None:
        yield f"Published: {published['text']}"
    slow = sum(point["slow"] for point in figure["ours"])
    if slow:
        total = sum(point["n"] for point in figure["ours"])
        yield (
            f"In {slow} of these {total} runs the machine did not keep up: slow in the table,"
            " hollow in the figure."
        )
    for reason, count in Counter(one["reason"] for one in figure["absent"]).items():
        yield f"{count} {'run has' if count == 1 else 'runs have'} no such number: {reason}."


def line_in_words(figure: Node, confidence: float) -> str:
    """Return slope and intercept of the fitted line with their intervals and units."""
    fit, unit, x = figure["fit"], figure["unit"], figure["x"]
    per = f" {unit} per {x['unit'] or x['name']}" if unit != x["unit"] else ""
    slope, intercept = fit["slope"], fit["intercept"]
    return (
        f"slope {number(slope['value'])}{per}"
        f" ({_percent(confidence)}: {interval(slope['low'], slope['high'])}),"
        f" intercept {number(intercept['value'])} {unit}"
        f" ({_percent(confidence)}: {interval(intercept['low'], intercept['high'])}),"
        f" r2 {fit['r2']:.6f}"
    )


def _percent(confidence: float) -> str:
    return f"{100 * confidence:g} %"


def failures(experiment: Node) -> list[str]:
    """Return the runs that gave nothing, with their reasons."""
    return [f"{run['folder']}: {run['failure']}" for run in experiment["runs"] if run["failure"]]


def _runs(document: Node) -> dict[str, Node]:
    """Every run by its folder: one of several routes is one run."""
    return {run["folder"]: run for one in document["experiments"] for run in one["runs"]}


def slow(document: Node) -> tuple[str, list[str]] | None:
    """Say in how many runs the machine was too slow, and in which, with the reasons."""
    runs = _runs(document)
    found = [f"{name}: {', '.join(run['slow'])}" for name, run in runs.items() if run["slow"]]
    if not found:
        return None
    made = sum(run["failure"] is None for run in runs.values())
    return f"In {len(found)} of {made} runs the machine did not keep up; they are counted", found


def states(experiment: Node) -> str:
    """Say how many runs there are."""
    runs = {run["folder"]: run["failure"] for run in experiment["runs"]}
    made = sum(failure is None for failure in runs.values())
    axes = ", ".join(
        f"{axis['name']} {_values(experiment, axis['name'])} {axis['unit'] or ''}".rstrip()
        for axis in experiment["axes"]
    )
    varied = f"; varied: {axes}" if axes else ""
    routes = f"; routes: {', '.join(experiment['routes'])}" if experiment["routes"] else ""
    return f"Scenario {experiment['scenario']}, {made} of {len(runs)} runs{varied}{routes}."


def _values(experiment: Node, axis: str) -> str:
    return ", ".join(dict.fromkeys(plain(run["settings"][axis]) for run in experiment["runs"]))


def facts(document: Node) -> Iterator[str]:
    """Yield what is told of the whole study, a sentence each."""
    yield f"Source: {document['source']}"
    yield f"Kept: {document['kept']}"
    yield f"Approximated: {document['approximated']}"
    kind = "A quick run: fewer values and repetitions" if document["quick"] else "The full run"
    runs = _runs(document).values()
    missing = sum(run["failure"] is not None for run in runs)
    lack = f", of which {missing} of {len(runs)} runs gave nothing" if missing else ""
    yield f"{kind}{lack}. Made by pathscope {document['tool']['version']}; {document['machine']}."
    yield (
        "n is the number of runs, sd their standard deviation (n - 1); intervals hold"
        f" {_percent(document['confidence'])} and are Student's (t with n - 1 degrees of freedom;"
        " for slope and intercept n - 2)."
    )


def title_of_series(figure: Node, value: Any) -> str:
    """Return what a series is called."""
    series = figure["series"]
    return "" if series is None else named(value, series["name"], series["unit"])
