"""The command line: a thin face of the public API."""

from __future__ import annotations

import json
import math
import os
import re
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .api import Analysis, analyze, dissect, read
from .dissectors import ledger as ledgers
from .dissectors._core import CaptureError, FilterError, __version__
from .dissectors.ledger import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa
    from rich.console import RenderableType

LONG_BYTES = 64_000_000
"""From this file size on, a terminal gets a progress bar."""

WIDTH_WITHOUT_TERMINAL = 140

LONGEST_BIN_MS = 86_400_000
LONGEST_WINDOW_S = 86_400
"""A day: longer ones are slips of the keyboard."""

BAD_INPUT = 2
"""Exit code for input that cannot be read."""

DAMAGED_INPUT = 1
"""Exit code of --strict for input that could be read in part."""

CONTROLS = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x09\x0b-\x1a\x1c-\x1f\x7f-\x9f]")
"""What a name in a capture could do to a terminal, colours apart."""

CAPTURE = click.Path(path_type=Path)


class Refusal(click.ClickException):
    """Input that cannot be used: the message alone, exit code 2."""

    exit_code = BAD_INPUT


@contextmanager
def refusals() -> Iterator[None]:
    """Turn what can go wrong with input and output into a message without a traceback."""
    try:
        yield
    except (CaptureError, FilterError, ValueError) as error:
        raise Refusal(str(error)) from error
    except OSError as error:
        raise _refusal(error) from error


def _refusal(error: OSError) -> Exception:
    if isinstance(error, BrokenPipeError):
        return error  # whoever reads our output has seen enough: click ends quietly
    name = "" if error.filename is None else f"{error.filename}: "
    return Refusal(f"{name}{error.strerror or error}")


class Commands(click.Group):
    """Commands whose results may find no room, or no letters, on standard output."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command."""
        try:
            return super().invoke(ctx)
        except UnicodeEncodeError as error:
            raise Refusal(f"standard output cannot show {error.object[error.start]!r}") from error
        except OSError as error:
            raise _refusal(error) from error


def _finite(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not a time")
    return value


def _reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a capture is read."""
    options = (
        click.option(
            "--filter",
            "expression",
            metavar="BPF",
            help="Read only packets that this libpcap filter takes.",
        ),
        click.option(
            "--sctp-udp-port",
            "udp_ports",
            type=click.IntRange(1, 65535),
            multiple=True,
            help="UDP port that carries SCTP (RFC 6951); repeat for more. [default: 9899]",
        ),
        click.option(
            "--reorder-window",
            "window_s",
            type=click.FloatRange(0, LONGEST_WINDOW_S),
            callback=_finite,
            metavar="SECONDS",
            help="Put packets in time order within this window."
            " [default: 2 where a capture has several interfaces, else 0]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def _read_options(
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    bin_ms: int = 100,
    *,
    flows: bool = False,
) -> ReadOptions:
    return ReadOptions(
        bin_ns=bin_ms * 1_000_000,
        udp_ports=udp_ports or None,
        reorder_window_ns=None if window_s is None else round(window_s * 1e9),
        filter=expression,
        flows=flows,
    )


_flows_option = click.option(
    "--flows",
    is_flag=True,
    help="Also follow TCP and UDP flows and read ICMP errors, for their tables.",
)


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100}
)
@click.version_option(__version__, prog_name="pathscope")
def main() -> None:
    """Say what happened on every path and in every handover of a multihomed transport capture.

    \b
    Example:
      pathscope analyze client.pcapng --events events.jsonl --label 10.0.1.0/24=wlan
    """
    # No linear algebra is done here, and numpy's threads for it spin while they wait for some.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


@main.command("analyze")
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
@click.option(
    "--merge",
    is_flag=True,
    help="Read the files as one capture, merged by time: a rotated file, or one file an interface.",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 when a capture is damaged, after showing what could be read.",
)
@_flows_option
@_reading_options
def analyze_command(
    captures: tuple[Path, ...],
    events: Path | None,
    labels: tuple[str, ...],
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

    CAPTURES are pcap, pcapng or snoop files, plain or compressed with gzip, zstd, xz or lz4; - is
    standard input. Each is analyzed by itself, unless --merge makes them one.

    \b
    Example:
      pathscope analyze fixtures/captures/failover-v6/client.pcapng \\
        --events fixtures/captures/failover-v6/events.jsonl --label 2001:db8:1::/64=WLAN
    """
    options = _read_options(expression, udp_ports, window_s, bin_ms, flows=flows)
    if out is not None:
        from .reports.export import prepare_folder

        with refusals():
            prepare_folder(out, force=force)
    done: list[Analysis] = []
    failures: list[str] = []
    for capture in [captures] if merge else [(capture,) for capture in captures]:
        try:
            with refusals(), _progress(capture) as progress:
                done.append(
                    analyze(
                        capture, events=events, labels=labels, options=options, progress=progress
                    )
                )
        except Refusal as refusal:
            failures.append(refusal.message)
    if as_json:
        from .reports.contract import result

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


def _show_analyses(done: list[Analysis]) -> None:
    from .reports.console import report

    for number, analysis in enumerate(done):
        _print(report(analysis.result), blank_before=number > 0)


def _write(out: Path, done: list[Analysis], *, force: bool) -> None:
    from .reports.contract import result
    from .reports.export import write_results

    tables = {
        f"{number}-{Path(analysis.ledger.path).name}": analysis.ledger.tables
        for number, analysis in enumerate(done)
    }
    with refusals():
        write_results(out, result([a.result for a in done]), tables, force=force)
    click.echo(f"wrote {out / 'result.json'} and the tables of {len(done)} captures", err=True)


@main.command("info")
@click.argument("capture", type=CAPTURE)
@_reading_options
def info_command(
    capture: Path, expression: str | None, udp_ports: tuple[int, ...], window_s: float | None
) -> None:
    """Show what a capture is: format, interfaces, frames read and skipped, associations.

    \b
    Example:
      pathscope info client.pcapng
    """
    from .reports.overview import overview

    with refusals():
        ledger = read(capture, _read_options(expression, udp_ports, window_s))
    _print(overview(ledger))


@main.command("dissect")
@click.argument("capture", type=CAPTURE)
@click.option(
    "--table",
    default=ledgers.STREAMED_TABLE,
    show_default=True,
    type=click.Choice(ledgers.table_names()),
    help="Which table.",
)
@click.option(
    "--format",
    "form",
    default="csv",
    show_default=True,
    type=click.Choice(["csv", "json", "parquet"]),
    help="json is one object a line.",
)
@click.option("--output", "-o", type=CAPTURE, help="Write here instead of to standard output.")
@click.option("--force", is_flag=True, help="Let --output overwrite.")
@click.option(
    "--strict",
    is_flag=True,
    help="Exit with 1 when the capture is damaged, after giving what could be read.",
)
@_flows_option
@_reading_options
def dissect_command(
    capture: Path,
    table: str,
    form: str,
    output: Path | None,
    force: bool,
    strict: bool,
    flows: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
) -> None:
    """Print a table of the ledger, or every chunk of every packet.

    A table of flows is filled without --flows, too.

    \b
    Example:
      pathscope dissect client.pcapng --table chunks --format parquet -o chunks.parquet
    """
    from .reports.export import FORMATS, whole_file, write_table

    chosen = next(known for known in FORMATS if known == form)
    if output is None and chosen == "parquet" and sys.stdout.isatty():
        raise click.UsageError("Parquet is not for a terminal: give --output, or redirect")
    schema = ledgers.schemas()[table]
    reading = _read_options(expression, udp_ports, window_s, flows=flows)
    options = ledgers.options_for(table, reading)
    damage: list[str] = []
    with refusals():
        batches = _up_to_damage(capture, table, options, damage)
        if output is None:
            write_table(batches, schema, chosen, sys.stdout.buffer)
        else:
            with whole_file(output, force=force) as stream:
                rows = write_table(batches, schema, chosen, stream)
            click.echo(f"wrote {rows} rows to {output}", err=True)
    for what in damage:
        click.echo(f"warning: the capture is damaged, the table goes up to there: {what}", err=True)
    if damage and strict:
        sys.exit(DAMAGED_INPUT)


def _up_to_damage(
    capture: Path, table: str, options: ReadOptions, damage: list[str]
) -> Iterator[pa.RecordBatch]:
    """Yield what could be read of a table, and note in `damage` why that is not all."""
    if table != ledgers.STREAMED_TABLE:
        ledger = read(capture, options)
        yield from ledger.tables[table].to_batches()
        if ledger.capture["damage"] is not None:
            damage.append(ledger.capture["damage"])
        return
    begun = False
    try:
        for batch in dissect(capture, table, options):
            begun = True
            yield batch
    except CaptureError as error:
        if not begun:
            raise  # no capture at all
        damage.append(str(error))


@main.command("tables")
@click.option("--table", type=click.Choice(ledgers.table_names()), help="Only this one.")
def tables_command(table: str | None) -> None:
    """List the ledger's tables with the type and meaning of every column.

    \b
    Example:
      pathscope tables --table runs
    """
    for name, schema in ledgers.schemas().items():
        if table not in (None, name):
            continue
        click.echo(f"{name}: {schema.metadata[b'description'].decode()}")
        for row in ledgers.describe():
            if row["table"] == name:
                absent = ", can be absent" if row["nullable"] else ""
                click.echo(f"  {row['column']} ({row['type']}{absent}): {row['description']}")


@main.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the shell's completion script.

    \b
    Example:
      pathscope completion bash > ~/.local/share/bash-completion/completions/pathscope
    """
    from click.shell_completion import get_completion_class

    found = get_completion_class(shell)
    if found is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(found(main, {}, "pathscope", "_PATHSCOPE_COMPLETE").source())


@contextmanager
def _progress(capture: Sequence[Path]) -> Iterator[Callable[[int, int | None], None] | None]:
    """Show a progress bar on standard error, when it is a terminal and the work is long."""
    length = sum(path.stat().st_size for path in capture if path.is_file())
    if not (length >= LONG_BYTES and sys.stderr.isatty()):
        yield None
        return
    with click.progressbar(length=length, label=capture[0].name, file=sys.stderr) as bar:

        def show(read_bytes: int, _: int | None) -> None:
            bar.update(read_bytes - bar.pos)

        yield show


def _print(content: RenderableType, *, blank_before: bool = False) -> None:
    from rich.console import Console

    terminal = sys.stdout.isatty()
    # No markup: a name in a capture may well have brackets.
    console = Console(
        width=None if terminal else WIDTH_WITHOUT_TERMINAL,
        highlight=False,
        markup=False,
        emoji=False,
    )
    with console.capture() as captured:
        console.print(content)
    text = CONTROLS.sub("\N{REPLACEMENT CHARACTER}", captured.get())
    if not terminal:
        # Tables fill their lines with blanks, which nobody wants in a file.
        text = "\n".join(line.rstrip() for line in text.split("\n"))
    click.echo(("\n" if blank_before else "") + text, nl=False)
