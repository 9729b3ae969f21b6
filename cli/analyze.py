"""`pathscope analyze`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .faults import BAD_INPUT, DAMAGED_INPUT, Refusal, refusals
from .options import (
    CAPTURE,
    flows_option,
    knowledge_options,
    merge_option,
    read_options,
    reading_options,
)
from .terminal import progress, show

if TYPE_CHECKING:
    from ..api import Analysis

LONGEST_BIN_MS = 86_400_000
"""A day: longer ones are slips of the keyboard."""


@click.command("analyze")
@click.argument("captures", nargs=-1, required=True, type=CAPTURE)
@knowledge_options
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
    help="Also write result.json and every table there (docs/exports.md).",
)
@click.option(
    "--tables",
    "form",
    type=click.Choice(["parquet", "csv"]),
    help="Format of the tables in --out. [default: parquet]",
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
    bin_ms: int,
    as_json: bool,
    out: Path | None,
    form: str | None,
    force: bool,
    merge: bool,
    strict: bool,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    hosts: tuple[tuple[int, ...], ...],
) -> None:
    """Show associations, paths, handovers, how long data were held up, why, and what looks wrong.

    TCP and UDP flows, MPTCP connections and ICMP errors follow.

    CAPTURES are pcap, pcapng or snoop files, plain or compressed with gzip, zstd, xz or lz4; - is
    standard input. Each is analyzed by itself, unless --merge makes them one. One can also be the
    folder of a run (pathscope lab run): then the names of its paths and its events are known.

    \b
    Example:
      pathscope analyze fixtures/captures/failover-v6/client.pcapng \\
        --events fixtures/captures/failover-v6/events.jsonl --label 2001:db8:1::/64=WLAN
    """
    from ..api import analyze

    options = read_options(expression, udp_ports, window_s, hosts, bin_ms, flows=flows)
    if out is None and form is not None:
        raise click.UsageError("--tables says how --out writes: give --out, too")
    if out is not None:
        from ..reports.export import prepare_folder

        with refusals():
            prepare_folder(out, force=force)
    done: list[Analysis] = []
    failures: list[str] = []
    for capture in [captures] if merge else [(capture,) for capture in captures]:
        if len(capture) == 1 and (capture[0] / "run.json").is_file():
            click.echo(f"{capture[0]}: a run; its events, and what its {end} saw", err=True)
        try:
            if len(capture) == 1 and capture[0].is_dir():
                _warn_of_a_slow_machine(capture[0])
            with refusals(), progress(capture) as advance:
                done.append(
                    analyze(
                        capture[0] if len(capture) == 1 else capture,
                        events=events,
                        labels=labels,
                        options=options,
                        progress=advance,
                        end=end,
                    )
                )
        except Refusal as refusal:
            failures.append(refusal.message)
    if as_json:
        from ..reports.contract import result

        click.echo(json.dumps(result([a.result for a in done]), ensure_ascii=False))
    else:
        _show_analyses(done)
    if out is not None:
        _write(out, done, form or "parquet", force=force)
    for failure in failures:
        click.echo(f"Error: {failure}", err=True)
    if failures:
        sys.exit(BAD_INPUT)
    if strict and any(a.result.capture["damage"] is not None for a in done):
        sys.exit(DAMAGED_INPUT)


def _warn_of_a_slow_machine(run: Path) -> None:
    from ..replay.lab.folder import too_slow

    with refusals():
        for reason in too_slow(run):
            click.echo(f"warning: {run}: the machine did not keep up: {reason}", err=True)


def _show_analyses(done: list[Analysis]) -> None:
    from ..reports.console import report

    for number, analysis in enumerate(done):
        show(report(analysis.result), blank_before=number > 0)


def _write(out: Path, done: list[Analysis], form: str, *, force: bool) -> None:
    from ..reports.contract import result
    from ..reports.folder import TABLE_FORMATS, write_folder

    chosen = next(known for known in TABLE_FORMATS if known == form)
    document = result([a.result for a in done])
    with refusals():
        write_folder(out, document, [a.ledger for a in done], chosen, force=force)
    click.echo(f"wrote {out / 'result.json'} and the tables of {len(done)} captures", err=True)
