"""`pathscope analyze`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .faults import BAD_INPUT, DAMAGED_INPUT, Refusal, refusals
from .options import CAPTURE, flows_option, merge_option, read_options, reading_options
from .terminal import progress, show

if TYPE_CHECKING:
    from ..api import Analysis

LONGEST_BIN_MS = 86_400_000
"""A day: longer ones are slips of the keyboard."""


@click.command("analyze")
@click.argument("captures", nargs=-1, required=True, type=CAPTURE)
@click.option(
    "--events",
    type=CAPTURE,
    help="JSON lines with link changes: annotates when links failed and returned.",
)
@click.option(
    "--label",
    "labels",
    multiple=True,
    metavar="NET=NAME",
    help="Call paths with an address in NET by this name; repeat for more.",
)
@click.option(
    "--end",
    type=click.Choice(["client", "server", "both"]),
    default="both",
    show_default=True,
    help="Whose capture of a run of the lab is analyzed.",
)
@click.option(
    "--ends/--no-ends",
    default=None,
    help="Two captures are those of the two ends of one run, or are not. [default: found out]",
)
@click.option(
    "--bin",
    "bin_ms",
    type=click.IntRange(1, LONGEST_BIN_MS),
    default=100,
    show_default=True,
    metavar="MS",
    help="Width of the time bins of the interval table.",
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the result contract (pathscope.result/1) instead of tables.",
)
@click.option(
    "--out",
    type=CAPTURE,
    metavar="DIR",
    help="Also write result.json and every table as Parquet there.",
)
@click.option("--force", is_flag=True, help="Let --out overwrite.")
@merge_option
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 when a capture is damaged, after showing what could be read.",
)
@flows_option(default=True)
@reading_options
def analyze_command(
    captures: tuple[Path, ...],
    events: Path | None,
    labels: tuple[str, ...],
    end: str,
    ends: bool | None,
    bin_ms: int,
    as_json: bool,
    out: Path | None,
    force: bool,
    merge: bool,
    strict: bool,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
) -> None:
    """Show associations, paths, handovers, how long data were held up, why, and what looks wrong.

    TCP and UDP flows, MPTCP connections and ICMP errors follow.

    CAPTURES are pcap, pcapng or snoop files, plain or compressed with gzip, zstd, xz or lz4; - is
    standard input. Each is analyzed by itself, unless --merge makes them one, or two of them are
    found to be of the two ends of one run: then what was lost between them and how long the rest
    took is measured, too. One can also be the folder of a run (pathscope lab run): then the names of
    its paths and its events are known.

    \b
    Examples:
      pathscope analyze fixtures/captures/failover-v6/client.pcapng \\
        --events fixtures/captures/failover-v6/events.jsonl --label 2001:db8:1::/64=WLAN
      pathscope analyze fixtures/captures/lab-lossy/client.pcapng \\
        fixtures/captures/lab-lossy/server.pcapng
    """
    from ..api import analyze, analyze_two

    if ends and (merge or len(captures) != 2):
        raise click.UsageError("--ends takes two captures, without --merge")
    options = read_options(expression, udp_ports, window_s, bin_ms, flows=flows)
    if out is not None:
        from ..reports.export import prepare_folder

        with refusals():
            prepare_folder(out, force=force)
    how: dict[str, Any] = {"events": events, "labels": labels, "options": options}
    done: list[Analysis] = []
    failures: list[str] = []
    groups = [captures] if merge else [(capture,) for capture in captures]
    if _may_be_two_ends(groups, ends):
        try:
            with refusals(), progress(captures) as advance:
                done += analyze_two(*captures, ends=ends, progress=advance, **how)
            groups = []
        except Refusal as refusal:
            if ends:
                failures.append(refusal.message)
                groups = []
            # Else each by itself: one that cannot be read says so there.
    for capture in groups:
        source = capture[0] if len(capture) == 1 else capture
        try:
            if len(capture) == 1 and capture[0].is_dir():
                _tell_of_a_run(capture[0], end)
            with refusals(), progress(capture) as advance:
                done.append(analyze(source, progress=advance, end=end, **how))
        except Refusal as refusal:
            failures.append(refusal.message)
    if as_json:
        from ..reports.contract import result

        click.echo(json.dumps(result([a.result for a in done]), ensure_ascii=False))
    else:
        _show_analyses(done)
    if out is not None:
        _write(out, done, force=force)
    for failure in failures:
        click.echo(f"Error: {failure}", err=True)
    if failures:
        sys.exit(BAD_INPUT)
    if strict and any(a.result.capture["damage"] is not None for a in done):
        sys.exit(DAMAGED_INPUT)


def _may_be_two_ends(groups: list[tuple[Path, ...]], ends: bool | None) -> bool:
    """Tell whether two files were named that nobody says are something else."""
    files = [path for group in groups for path in group if not path.is_dir()]
    # What can be read once only cannot be read again by itself.
    once = [path for path in files if str(path) == "-"]
    return ends is not False and len(groups) == len(files) == 2 and (ends is True or not once)


def _tell_of_a_run(run: Path, end: str) -> None:
    from ..replay.lab.folder import CAPTURES, chosen, is_run, too_slow

    if not is_run(run):
        return
    with refusals():
        seen = chosen(run, end)
        who = "both ends" if len(seen) == len(CAPTURES) else f"its {seen[0].stem}"
        click.echo(f"{run}: a run; its events, and what {who} saw", err=True)
        for reason in too_slow(run):
            click.echo(f"warning: {run}: the machine did not keep up: {reason}", err=True)


def _show_analyses(done: list[Analysis]) -> None:
    from ..reports.console import report

    for number, analysis in enumerate(done):
        show(report(analysis.result), blank_before=number > 0)


def _write(out: Path, done: list[Analysis], *, force: bool) -> None:
    from ..reports.contract import result
    from ..reports.export import write_results

    tables = {
        f"{number}-{Path(analysis.ledger.path).name}": analysis.ledger.tables
        for number, analysis in enumerate(done)
    } | {
        f"{number}-other-end-{Path(analysis.other.path).name}": analysis.other.tables
        for number, analysis in enumerate(done)
        if analysis.other is not None
    }
    with refusals():
        write_results(out, result([a.result for a in done]), tables, force=force)
    click.echo(f"wrote {out / 'result.json'} and the tables of {len(done)} captures", err=True)
