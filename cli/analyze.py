"""`pathscope analyze`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..dissectors.ledger import STANDARD_INPUT
from .faults import BAD_INPUT, DAMAGED_INPUT, FAILED_VERDICT, Refusal, refusals
from .many import analyze_to_dataset, is_many, many_options
from .options import (
    CAPTURE,
    flows_option,
    knowledge_options,
    merge_option,
    read_options,
    reading_options,
)
from .terminal import echo, progress, show

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ..analyzer.thresholds import Thresholds
    from ..api import Analysis

    How = Mapping[str, Any]
    Done = tuple[list[Analysis], list[str]]

LONGEST_BIN_MS = 86_400_000
"""A day: longer ones are slips of the keyboard."""


@click.command("analyze")
@click.argument("captures", nargs=-1, required=True)
@many_options
@knowledge_options
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
    help="Also write result.json and every table there (docs/exports.md); of many captures, the"
    " dataset (docs/many.md).",
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
    captures: tuple[str, ...],
    jobs: int | None,
    scheduler: str | None,
    ledger: bool,
    events: Path | None,
    labels: tuple[str, ...],
    end: str,
    ends: bool | None,
    bin_ms: int,
    as_json: bool,
    out: Path | None,
    form: str | None,
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
    zstd, xz or lz4; - is standard input. Each is analyzed by itself, unless --merge makes them one,
    or two of them are found to be of the two ends of one run: then what was lost between them and
    how long the rest took is measured, too. One can also be the folder of a run (pathscope lab
    run): then the names of its paths and its events are known.

    Folders of captures, globs in quotes, addresses such as s3://bucket/*.pcapng, and --jobs or
    --scheduler make a dataset in --out instead: captures that it has are skipped, and one that
    fails stops no other (exit code 3).

    \b
    Both ends of a run:
      pathscope analyze client.pcapng server.pcapng

    \b
    Example:
      pathscope analyze fixtures/captures/failover-v6/client.pcapng \\
        --events fixtures/captures/failover-v6/events.jsonl --label 2001:db8:1::/64=WLAN
    """
    if fail_on_verdict and thresholds is None:
        raise click.UsageError("--fail-on-verdict needs --thresholds")
    if ends and (merge or len(captures) != 2):
        raise click.UsageError("--ends takes two captures, without --merge")
    options = read_options(expression, udp_ports, window_s, hosts, bin_ms, flows=flows)
    if is_many(captures, out, jobs, scheduler):
        unfit = {"--json": as_json, "--merge": merge, "--fail-on-verdict": fail_on_verdict}
        unfit |= {"--ends": ends is not None, "--tables": form is not None}
        if refused := [name for name, given in unfit.items() if given]:
            raise click.UsageError(f"{refused[0]} is not for many captures (docs/many.md)")
        analyze_to_dataset(
            captures,
            out,
            strict=strict,
            jobs=jobs or 1,
            scheduler=scheduler,
            ledger=ledger,
            force=force,
            events=events,
            labels=labels,
            options=options,
            end=end,
            thresholds=thresholds,
        )
        return
    if ledger:
        raise click.UsageError("--ledger is for many captures: one's --out has those tables")
    if out is None and form is not None:
        raise click.UsageError("--tables says how --out writes: give --out, too")
    if out is not None:
        from ..reports.export import prepare_folder

        with refusals():
            prepare_folder(out, force=force)
    limits = None if thresholds is None else _limits(thresholds)
    how = {"events": events, "labels": labels, "options": options}
    paths = tuple(map(Path, captures))
    groups: list[tuple[Path, ...]] = [paths] if merge else [(one,) for one in paths]
    done, failures = _two_ends(groups, ends, how) or _each(groups, end, how)
    if limits is not None:
        done = [analysis.judged(limits) for analysis in done]
    (_show_document if as_json else _show_analyses)(done)
    if out is not None:
        _write(out, done, form or "parquet", force=force)
    for failure in failures:
        echo(f"Error: {failure}", err=True)
    code = _exit_code(done, failed=bool(failures), strict=strict, verdicts=fail_on_verdict)
    if code:
        sys.exit(code)


def _show_document(done: list[Analysis]) -> None:
    from ..reports.contract import result
    from ..reports.unseen import json_text

    click.echo(json_text(result([a.result for a in done])))


def _limits(thresholds: str) -> Thresholds:
    from ..api import read_thresholds

    with refusals():
        return read_thresholds(thresholds)


def _exit_code(done: list[Analysis], *, failed: bool, strict: bool, verdicts: bool) -> int:
    """Return the worst that befell: what could not be read, was damaged, or fails a limit."""
    if failed:
        return BAD_INPUT
    read = [ledger for a in done for ledger in a.ledgers]
    if strict and any(ledger.capture["damage"] is not None for ledger in read):
        return DAMAGED_INPUT
    return FAILED_VERDICT if verdicts and _fails(done) else 0


def _fails(done: list[Analysis]) -> bool:
    from ..analyzer.verdicts import unmet

    return any(unmet(analysis.result.verdicts) for analysis in done)


def _two_ends(groups: list[tuple[Path, ...]], ends: bool | None, how: How) -> Done | None:
    """Analyze two files that may be of two ends; None where they are to be read by themselves."""
    from ..api import analyze_two

    files = [group[0] for group in groups if len(group) == 1 and not group[0].is_dir()]
    # What can be read once only cannot be read again by itself.
    once = any(str(path) == STANDARD_INPUT for path in files)
    if ends is False or not len(groups) == len(files) == 2 or (once and not ends):
        return None
    try:
        with refusals(), progress(files) as advance:
            return list(analyze_two(*files, ends=ends, progress=advance, **how)), []
    except Refusal as refusal:
        # By itself each says what is wrong with it, and the other one is still analyzed.
        return ([], [refusal.message]) if ends else None


def _each(groups: list[tuple[Path, ...]], end: str, how: How) -> Done:
    """Analyze captures one by one."""
    from ..api import analyze

    done: list[Analysis] = []
    failures = []
    for group in groups:
        source = group[0] if len(group) == 1 else group
        try:
            if len(group) == 1 and group[0].is_dir():
                _tell_of_a_run(group[0], end)
            with refusals(), progress(group) as advance:
                done.append(analyze(source, progress=advance, end=end, **how))
        except Refusal as refusal:
            failures.append(refusal.message)
    return done, failures


def _tell_of_a_run(run: Path, end: str) -> None:
    from ..replay.lab.folder import CAPTURES, chosen, is_run, too_slow

    if not is_run(run):
        return
    with refusals():
        seen = chosen(run, end)
        who = "both ends" if len(seen) == len(CAPTURES) else f"its {seen[0].stem}"
        echo(f"{run}: a run; its events, and what {who} saw", err=True)
        for reason in too_slow(run):
            echo(f"warning: {run}: the machine did not keep up: {reason}", err=True)


def _show_analyses(done: list[Analysis]) -> None:
    from ..reports.console import report

    for number, analysis in enumerate(done):
        show(report(analysis.result), blank_before=number > 0)


def _write(out: Path, done: list[Analysis], form: str, *, force: bool) -> None:
    from ..reports.contract import result
    from ..reports.folder import TABLE_FORMATS, write_folder

    chosen = next(known for known in TABLE_FORMATS if known == form)
    document = result([a.result for a in done])
    read = [ledger for a in done for ledger in a.ledgers]
    with refusals():
        write_folder(out, document, read, chosen, force=force)
    echo(f"wrote {out / 'result.json'} and the tables of {len(read)} captures", err=True)
