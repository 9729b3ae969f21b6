"""A derived profile as a file to be edited, and what it is made of as lines of text."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from .model import NS_PER_MS, NS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .model import Derived, Interval, Outage, RouteEvidence

WIDTH = 100


def toml(derived: Derived) -> str:
    """Return the profile as TOML, with what it is made of as comments at the top."""
    import tomli_w

    document = dict(derived.document)
    tables = document.pop("distributions", {})
    lines = [f"# {line}".rstrip() for line in summary(derived)]
    text = "\n".join(lines) + "\n\n" + tomli_w.dumps(document)
    if tables:
        text += "\n[distributions]\n"
    for name, values in tables.items():
        # tomli-w writes a line a number. Names have a dot at most, which asks for quotes.
        numbers = textwrap.fill(", ".join(f"{value:g}" for value in values), WIDTH - 4)
        text += f'"{name}" = [\n{textwrap.indent(numbers, "    ")},\n]\n'
    return text


def write(derived: Derived, path: Path, *, force: bool = False) -> None:
    """Write the profile to a file.

    Raises
    ------
    FileExistsError
        When there is one and `force` is not given.
    OSError
        When it cannot be written.
    """
    with path.open("w" if force else "x", encoding="utf-8") as file:
        file.write(toml(derived))


def summary(derived: Derived) -> list[str]:
    """Say in lines what was measured of each route, with bounds, and what limits it."""
    up = [f"{_s(at)} s" for at in derived.established_ns if at is not None]
    lines = [
        str(derived.document["description"]),
        f"Time 0 is the first frame; the capture is {_s(derived.duration_ns)} s long.",
    ]
    if up:
        lines.append(f"Associations were up at {', '.join(up)}.")
    for one in derived.evidence:
        lines += ["", f"{one.path} {one.direction} ({one.basis})", *(f"  {s}" for s in _route(one))]
    if derived.warnings:
        lines += ["", *(f"Warning: {text}" for text in derived.warnings)]
    return lines


def _route(evidence: RouteEvidence) -> Iterator[str]:
    what = "packets" if evidence.basis == "observed" else "DATA chunks"
    yield f"{evidence.sent} {what} sent, {evidence.lost} lost"
    yield f"delay: {_delay(evidence)}"
    yield f"loss outside outages: {_loss(evidence)}"
    for one in evidence.outages:
        yield f"outage: {_outage(one)}"
    if evidence.rate.steps:
        for step in evidence.rate.steps:
            yield (
                f"rate from {_s(step.at_ns)} s: {_interval(step.bps, 1 / 1000, 'kbit/s')}, by"
                f" {evidence.rate.pairs} pairs; its queue explains"
                f" {100 * (evidence.rate.explained or 0):.1f} % of the delay's variance"
            )
    else:
        yield f"no rate: {evidence.rate.reason}"
    if evidence.duplicated:
        yield f"{evidence.duplicated} packets arrived twice"
    if evidence.order is not None and (evidence.order.early or evidence.order.expected):
        yield (
            f"{evidence.order.early} packets overtook others without delay; of neighbours"
            f" {evidence.order.turned} were turned around, of independent delays"
            f" {evidence.order.expected} would be"
        )


def _delay(evidence: RouteEvidence) -> str:
    if not evidence.delays:
        return "not known"
    delays = [one.delay_ms for one in evidence.delays]
    jitters = [one.jitter_ms for one in evidence.delays]
    steps = f"{len(delays)} step" + "s" * (len(delays) > 1)
    error = evidence.delay_error_ms
    off = "" if not error else f"; it may be off by {error:.3f} ms"
    return f"{_range(delays)} ms, deviation {_range(jitters)} ms, in {steps}{off}"


def _loss(evidence: RouteEvidence) -> str:
    loss = evidence.loss
    if loss.ratio is None:
        return "nothing was sent"
    text = _interval(loss.ratio, 100, "%")
    if loss.enter is not None and loss.leave is not None:
        text += f"; p {_interval(loss.enter, 100, '%')}, r {_interval(loss.leave, 100, '%')}"
    if loss.burst_packets is not None:
        text += f"; in bursts of {_interval(loss.burst_packets, 1, 'packets')}"
    return f"{text}; {len(loss.steps)} step" + "s" * (len(loss.steps) != 1)


def _outage(outage: Outage) -> str:
    begin = "the start" if outage.last_arrival_ns is None else f"{_s(outage.last_arrival_ns)} s"
    text = f"from {_s(outage.start_ns)} s ({begin} to {_s(outage.first_loss_ns)} s)"
    if outage.end_ns is None or outage.first_arrival_ns is None:
        text += f" to the end (last loss {_s(outage.last_loss_ns)} s)"
    else:
        bounds = f"{_s(outage.last_loss_ns)} s to {_s(outage.first_arrival_ns)} s"
        text += f" to {_s(outage.end_ns)} s ({bounds})"
    if outage.both:
        text += ", both directions at once"
    return text if outage.packets is None else f"{text}, {outage.packets} packets"


def _interval(interval: Interval, times: float, unit: str) -> str:
    value, low, high = (
        f"{times * one:.4g}" for one in (interval.value, interval.low, interval.high)
    )
    return f"{value} {unit} ({low} to {high})"


def _range(values: list[float]) -> str:
    low, high = min(values), max(values)
    return f"{low:.3f}" if high - low < 0.0005 else f"{low:.3f} to {high:.3f}"


def _s(at_ns: int) -> str:
    return f"{at_ns / NS_PER_S:.3f}" if at_ns >= NS_PER_MS else f"{at_ns / NS_PER_S:.6f}"
