"""`pathscope report`."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import click

from ..replay.interfaces.signals import unwinding
from .faults import BAD_INPUT, Refusal, need, refusals
from .options import CAPTURE, knowledge_options, packet_options, read_options
from .terminal import echo

if TYPE_CHECKING:
    from ..reports.report.data import Shelf
    from ..reports.report.load import How

NEEDED = ("dash", "dash_ag_grid", "dash_mantine_components", "plotly", "tsdownsample")

DEFAULT_PORT = 8050


@click.command("report")
@click.argument("results", nargs=-1)
@knowledge_options
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Address to listen on; others than this machine's own need a token.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=DEFAULT_PORT,
    show_default=True,
    help="Port to listen on; 0 for any that is free.",
)
@click.option(
    "--token",
    metavar="WORD",
    envvar="PATHSCOPE_TOKEN",
    show_envvar=True,
    help="What a visitor has to know. [default: a new one, where other machines may connect]",
)
@click.option("--browser/--no-browser", default=True, help="Open the report in a browser.")
@click.option(
    "--baseline",
    metavar="SET",
    help="Also compare RESULTS with this set of runs, named as for compare.",
)
@click.option(
    "--watch",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    metavar="DIR",
    help="Also show what runs and captures appear in this folder.",
)
@click.option(
    "--html", type=CAPTURE, metavar="FILE", help="Instead write one page that needs no server."
)
@click.option(
    "--figures",
    type=CAPTURE,
    metavar="DIR",
    help="Instead write every figure there, as SVG and PNG.",
)
@click.option("--force", is_flag=True, help="Let --html and --figures overwrite.")
@packet_options
def report_command(
    results: tuple[str, ...],
    events: Path | None,
    labels: tuple[str, ...],
    end: str,
    host: str,
    port: int,
    token: str | None,
    browser: bool,
    baseline: str | None,
    watch: Path | None,
    html: Path | None,
    figures: Path | None,
    force: bool,
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
) -> None:
    """Show captures, runs and results in a browser.

    RESULTS are captures as for analyze, folders of runs, results and datasets of analyze --out,
    folders and globs of these; what compare --format json wrote, and the fidelity of a replay.

    \b
    Example:
      pathscope report fixtures/captures/failover-v6/client.pcapng \\
        --events fixtures/captures/failover-v6/events.jsonl --html failover.html
    """
    if not results and watch is None:
        raise click.UsageError("name captures, runs or results, or a folder to --watch")
    if token == "":
        raise click.BadParameter("expected a word", param_hint="--token")
    _check(html, figures, force=force)
    from ..reports.report.load import How

    options = read_options(expression, udp_ports, window_s, flows=True)
    with unwinding(), TemporaryDirectory(prefix="pathscope-report-") as indexes:
        how = How(events, labels, options, end, Path(indexes))
        shelf = _read(results, how, watch, baseline)
        if html is not None:
            _write(html, shelf, force=force)
        if figures is not None:
            _draw(figures, shelf, force=force)
        if html is None and figures is None:
            _serve(shelf, host, port, token, watch, how, browser=browser)


def _check(html: Path | None, figures: Path | None, *, force: bool) -> None:
    """Refuse what would fail after the captures have been read."""
    need("report", *NEEDED)
    if html is not None and html.exists() and not force:
        raise Refusal(f"{html} exists; --force overwrites it")
    if figures is not None:
        from ..reports.export import prepare_folder
        from ..reports.report import pictures

        if reason := pictures.missing():
            raise Refusal(reason)
        with refusals():
            prepare_folder(figures, force=force)


def _read(results: tuple[str, ...], how: How, watch: Path | None, baseline: str | None) -> Shelf:
    """Read what was named; what cannot be is told, and ends the command where nothing else is."""
    from ..reports.report.data import Shelf
    from ..reports.report.load import load

    named = (*results, *((str(watch),) if watch is not None and any(watch.iterdir()) else ()))
    with refusals():
        data = load(named, how, _tell)
        if baseline is not None:
            data = replace(data, comparison=_compared(baseline, results, how.labels))
    for name, reason in data.unread:
        echo(f"Error: {name}: {reason}", err=True)
    if data.unread and not (data.cases or data.comparison or data.replays):
        sys.exit(BAD_INPUT)
    return Shelf(data)


def _compared(baseline: str, results: tuple[str, ...], labels: tuple[str, ...]) -> dict[str, Any]:
    need("compare", "scipy", "jsonschema")
    from ..comparisons import compare
    from ..reports.compare.document import document

    return document(compare(baseline, ",".join(results), labels=labels, progress=_tell), seed=0)


def _tell(name: str) -> None:
    if sys.stderr.isatty():
        echo(f"analyzing {name}", err=True)


def _write(path: Path, shelf: Shelf, *, force: bool) -> None:
    from ..reports.export import whole_file
    from ..reports.report.desk import Desk
    from ..reports.report.drawing import FIGURES
    from ..reports.report.static import page

    with refusals(), whole_file(path, force=force) as stream:
        for part in page(Desk(shelf, FIGURES)):
            stream.write(part.encode("utf-8", "replace"))
    echo(f"wrote {path}", err=True)


def _draw(folder: Path, shelf: Shelf, *, force: bool) -> None:
    from ..reports.report import contents, pictures
    from ..reports.report.desk import Desk
    from ..reports.report.drawing import FIGURES

    for sentence in contents.left_out(shelf.data):
        echo(f"warning: {sentence}", err=True)
    found = pictures.pictures(Desk(shelf, FIGURES))
    with refusals():
        number = pictures.write(found, folder, force=force, told=_say)
    echo(f"wrote {number} figures to {folder}, each as SVG and PNG", err=True)


def _say(sentence: str) -> None:
    echo(sentence, err=True)


def _serve(
    shelf: Shelf,
    host: str,
    port: int,
    token: str | None,
    watch: Path | None,
    how: How,
    *,
    browser: bool,
) -> None:
    from ..reports.report import guard
    from ..reports.report.server import Server
    from ..reports.report.watch import Watch

    if token is None and not guard.is_loopback(host):
        token = guard.new_token()
    with refusals():
        server = Server(shelf, host, port, token, is_watched=watch is not None)
    echo(f"the report is at {server.settings.url}  (Ctrl-C ends it)", err=True)
    watching = None if watch is None else Watch(watch, shelf, how, _tell)
    if watching is not None:
        watching.start()
    if browser:
        click.launch(server.settings.url)
    try:
        server.serve()
    except KeyboardInterrupt:
        echo("ended", err=True)
    finally:
        if watching is not None:
            watching.stop()
