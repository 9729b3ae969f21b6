"""`pathscope analyze`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .faults import BAD_INPUT, DAMAGED_INPUT, FAILED_VERDICT, Refusal, refusals
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
    type=click.Choice(["client", "server"]),
    default="client",
    show_default=True,
    help="Whose capture of a run of the lab is analyzed.",
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
@click.option(
    "--thresholds",
    metavar="FILE",
    help="Hold numbers against the limits in this TOML file; itu: delay to 100 ms, jitter to"
    " 50 ms.",
)
@click.option(
    "--fail-on-verdict",
    is_flag=True,
    help="Exit with 3 when a number fails its limit, or a limit has no number anywhere.",
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
    force: bool,
    merge: bool,
    strict: bool,
    thresholds: str | None,
    fail_on_verdict: bool,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    hosts: tuple[tuple[int, ...], ...],
) -> None:
    """Show associations, paths, handovers, how long data were held up, why, and what looks wrong.

    TCP and UDP flows, MPTCP connections and ICMP errors follow.

    CAPTURES are pcap, pcapng or snoop files, or traces of ns-2, plain or compressed with gzip,
    zstd, xz or lz4; - is standard input. Each is analyzed by itself, unless --merge makes them one.
    One can also be the folder of a run (pathscope lab run): then the names of its paths and its
    events are known.

    \b
    Example:
      pathscope analyze fixtures/captures/failover-v6/client.pcapng \\
        --events fixtures/captures/failover-v6/events.jsonl --label 2001:db8:1::/64=WLAN
    """
    from ..api import analyze, read_thresholds

    if fail_on_verdict and thresholds is None:
        raise click.UsageError("--fail-on-verdict needs --thresholds")
    with refusals():
        limits = None if thresholds is None else read_thresholds(thresholds)
    options = read_options(expression, udp_ports, window_s, hosts, bin_ms, flows=flows)
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
    if limits is not None:
        done = [analysis.judged(limits) for analysis in done]
    if as_json:
        from ..reports.contract import result

        click.echo(json.dumps(result([a.result for a in done]), ensure_ascii=False))
    else:
        _show_analyses(done)
    if out is not None:
        _write(out, done, force=force)
    for failure in failures:
        click.echo(f"Error: {failure}", err=True)
    code = _exit_code(done, failed=bool(failures), strict=strict, verdicts=fail_on_verdict)
    if code:
        sys.exit(code)


def _exit_code(done: list[Analysis], *, failed: bool, strict: bool, verdicts: bool) -> int:
    """Return the worst that befell: what could not be read, was damaged, or fails a limit."""
    if failed:
        return BAD_INPUT
    if strict and any(a.result.capture["damage"] is not None for a in done):
        return DAMAGED_INPUT
    return FAILED_VERDICT if verdicts and _fails(done) else 0


def _fails(done: list[Analysis]) -> bool:
    from ..analyzer.verdicts import unmet

    return any(unmet(analysis.result.verdicts) for analysis in done)


def _warn_of_a_slow_machine(run: Path) -> None:
    from ..replay.lab.folder import too_slow

    with refusals():
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
    }
    with refusals():
        write_results(out, result([a.result for a in done]), tables, force=force)
    click.echo(f"wrote {out / 'result.json'} and the tables of {len(done)} captures", err=True)
