"""What the results of a study say, in cells and sentences: for text and page alike."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from .numbers import interval, named, number, plain, scaled

if TYPE_CHECKING:
    from collections.abc import Iterator

Node = dict[str, Any]


def head(figure: Node) -> list[str]:
    """Return the heads of a figure's columns."""
    series, x, unit = figure["series"], figure["x"], scaled(figure["unit"])[1]
    of = f" [{unit}]" if unit else ""
    columns = [_head(series)] if series else []
    columns += [_head(x), "n", f"mean{of}", f"sd{of}", f"95 % interval{of}"]
    return [*columns, f"published{of}"] if figure["published"]["points"] else columns


def _head(axis: Node) -> str:
    return f"{axis['name']} [{axis['unit']}]" if axis["unit"] else str(axis["name"])


def rows(figure: Node) -> Iterator[list[str]]:
    """Yield a row for every point that was measured or published."""
    scale = scaled(figure["unit"])[0]
    ours = {(point["series"], point["x"]): point for point in figure["ours"]}
    published = {
        (point.get("series"), point["x"]): point for point in figure["published"]["points"]
    }
    for key in dict.fromkeys([*ours, *published]):
        cells = [plain(key[0]) if key[0] is not None else "-"] if figure["series"] else []
        cells.append(plain(key[1]))
        point = ours.get(key, {"n": 0, "mean": None, "sd": None, "low": None, "high": None})
        mean, sd, low, high = (
            None if point[name] is None else point[name] * scale
            for name in ("mean", "sd", "low", "high")
        )
        cells += [str(point["n"]), number(mean), number(sd, 3), interval(low, high)]
        if published:
            cells.append(_published(published.get(key), scale))
        yield cells


def _published(point: Node | None, scale: float) -> str:
    if point is None:
        return "-"
    sd = f" (sd {number(point['sd'] * scale, 3)})" if "sd" in point else ""
    return number(point["y"] * scale) + sd


def what(figure: Node, document: Node) -> str:
    """Say what a figure shows, and against what."""
    definition = document["quantities"][figure["quantity"]]["definition"]
    text = f"{figure['quantity']}: {definition}; captured at the {figure['end']}."
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


def failed(experiment: Node) -> list[str]:
    """Return what became of the runs of which there is nothing to measure."""
    return [f"{run['folder']}: {run['failure']}" for run in experiment["runs"] if run["failure"]]


def states(experiment: Node) -> str:
    """Say how many runs there are."""
    runs = experiment["runs"]
    made = sum(run["failure"] is None for run in runs)
    axes = ", ".join(
        f"{axis['name']} {_values(experiment, axis['name'])}{' ' + axis['unit'] if axis['unit'] else ''}"
        for axis in experiment["axes"]
    )
    varied = f"; varied: {axes}" if axes else ""
    return f"Scenario {experiment['scenario']}, {made} of {len(runs)} runs{varied}."


def _values(experiment: Node, axis: str) -> str:
    return ", ".join(dict.fromkeys(plain(run["settings"][axis]) for run in experiment["runs"]))


def facts(document: Node) -> Iterator[str]:
    """Yield what is told of the whole study, a sentence each."""
    yield f"Source: {document['source']}"
    yield f"Kept: {document['kept']}"
    yield f"Approximated: {document['approximated']}"
    kind = "A quick run: fewer values and repetitions." if document["quick"] else "The full run."
    yield f"{kind} Made by pathscope {document['tool']['version']}; {document['machine']}."
    yield (
        f"n is the number of runs, sd their standard deviation (n - 1); intervals hold"
        f" {_percent(document['confidence'])} and are Student's (t with n - 1 degrees of freedom; for"
        " slope and intercept n - 2)."
    )


def title_of_series(figure: Node, value: Any) -> str:
    """Return what a series is called."""
    series = figure["series"]
    return "" if series is None else named(value, series["name"], series["unit"])
