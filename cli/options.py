"""Options that several commands have."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..dissectors.ledger import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_WINDOW_S = 86_400
"""A day: longer ones are slips of the keyboard."""

CAPTURE = click.Path(path_type=Path)


def _finite(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not a time")
    return value


def _nodes(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> tuple[tuple[int, ...], ...]:
    hosts = [value.split(",") for value in values]
    for value, parts in zip(values, hosts, strict=True):
        if not all(part.isascii() and part.isdigit() and int(part) < 2**32 for part in parts):
            raise click.BadParameter(f"expected numbers of nodes such as 1,2, found {value!r}")
    return tuple(tuple(map(int, parts)) for parts in hosts)


udp_ports_option = click.option(
    "--sctp-udp-port",
    "udp_ports",
    type=click.IntRange(1, 65535),
    multiple=True,
    help="UDP port that carries SCTP (RFC 6951); repeat for more. [default: 9899]",
)


def packet_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say which packets of a capture are read, and in which order."""
    options = (
        click.option(
            "--filter",
            "expression",
            metavar="BPF",
            help="Read only packets that this libpcap filter takes.",
        ),
        udp_ports_option,
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


def reading_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how a capture is read."""
    nodes = click.option(
        "--host",
        "hosts",
        multiple=True,
        callback=_nodes,
        metavar="NODES",
        help="Nodes of an ns-2 trace that are interfaces of one host, such as 1,2; repeat for"
        " more. [default: as its packets tell]",
    )
    return packet_options(nodes(command))


def knowledge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say what a capture does not: events, names, whose capture of a run."""
    options = (
        click.option(
            "--events",
            type=CAPTURE,
            help="JSON lines with link changes: annotates when links failed and returned.",
        ),
        click.option(
            "--label",
            "labels",
            multiple=True,
            metavar="NET=NAME",
            help="Call paths with an address in NET by this name; repeat for more.",
        ),
        click.option(
            "--end",
            type=click.Choice(["client", "server", "both"]),
            default="both",
            show_default=True,
            help="Whose capture of a run of the lab is analyzed.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


def read_options(
    expression: str | None,
    udp_ports: tuple[int, ...],
    window_s: float | None,
    hosts: tuple[tuple[int, ...], ...] = (),
    bin_ms: int = 100,
    *,
    flows: bool = False,
) -> ReadOptions:
    """Return what these options say."""
    return ReadOptions(
        bin_ns=bin_ms * 1_000_000,
        udp_ports=udp_ports or None,
        reorder_window_ns=None if window_s is None else round(window_s * 1e9),
        filter=expression,
        flows=flows,
        hosts=hosts,
    )


merge_option = click.option(
    "--merge",
    is_flag=True,
    help="Read the files as one capture, merged by time: a rotated file, or one file an interface.",
)


def flows_option(*, default: bool) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make the option that says whether TCP and UDP flows are followed beside SCTP."""
    return click.option(
        "--flows/--no-flows",
        default=default,
        show_default=True,
        help="Also follow TCP and UDP flows, and read ICMP errors.",
    )
