"""`pathscope profile derive`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..options import CAPTURE
from .options import FILE, force_option, profile_refusals, tell, write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...api import Analysis
    from ...replay.profiles.derived.model import Points
    from ...replay.profiles.plot import Measured

NS_PER_MS = 1_000_000


@click.command("derive")
@click.argument("captures", nargs=-1, required=True, type=CAPTURE, metavar="CAPTURE [CAPTURE2]")
@click.option("-o", "--output", type=FILE, required=True, metavar="FILE", help="The profile.")
@click.option("--plot", type=FILE, metavar="FILE.html", help="Draw it, beside what was measured.")
@click.option(
    "--step",
    "step_ms",
    type=click.IntRange(1, 86_400_000),
    default=100,
    show_default=True,
    metavar="MS",
    help="No step of the profile is much shorter.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NET=NAME",
    help="Call paths with an address in NET by this name; repeat for more.",
)
@click.option(
    "--one-clock",
    is_flag=True,
    help="Both captures have one clock's times, as those of a run of the lab have.",
)
@force_option
def derive_command(
    captures: tuple[Path, ...],
    output: Path,
    plot: Path | None,
    step_ms: int,
    labels: tuple[str, ...],
    one_clock: bool,
    force: bool,
) -> None:
    """Derive a profile from what captures show: delay, jitter, loss, rate and outages of each path.

    Captures of both ends, or the folder of a run of the lab, know what became of every packet. One
    capture knows round trips and retransmissions: what each direction adds is inferred.

    \b
    Example:
      pathscope profile derive client.pcapng -o derived.toml --plot derived.html
    """
    from ...replay.profiles.derive import Resolution, derive
    from ...replay.profiles.derived.text import toml
    from ...replay.profiles.profile import parse

    if len(captures) > 2:
        raise click.UsageError("expected a capture, or those of both ends")
    with profile_refusals():
        analysis, is_run = _analysis(captures, labels)
        resolution = Resolution(step_ns=step_ms * NS_PER_MS)
        derived = derive(analysis, resolution=resolution, one_clock=one_clock or is_run)
        profile = parse(derived.document, output.stem)
        tell(derived.warnings, strict=False)
        write(output, toml(derived), force=force)
        if plot is not None:
            from ...replay.profiles.plot import figure, page

            measured = _measured(derived.points)
            drawn = figure(profile, list(profile.paths), derived.duration_ns, measured)
            write(plot, page(drawn), force=force)


def _analysis(captures: tuple[Path, ...], labels: tuple[str, ...]) -> tuple[Analysis, bool]:
    """The captures, analyzed, and whether they are those of a run of the lab: of one clock."""
    from ... import api
    from ...dissectors.ledger import ReadOptions
    from ...replay.lab import folder

    is_run = len(captures) == 1 and captures[0].is_dir() and folder.is_run(captures[0])
    if is_run:
        labels = (*labels, *folder.labels(captures[0]))
        captures = tuple(folder.chosen(captures[0], "both"))
    if len(captures) == 1:
        return api.analyze(captures[0], labels=labels), False
    options = ReadOptions(flows=True, sightings=True)
    (both,) = api.analyze_two(*captures, ends=True, labels=labels, options=options)
    return both, is_run


def _measured(points: Iterable[Points]) -> Iterable[Measured]:
    from ...replay.profiles.plot import Measured

    for one in points:
        arrived = one.delay_ms == one.delay_ms
        yield Measured(one.path, one.direction, one.sent_ns[arrived] / 1e9, one.delay_ms[arrived])
