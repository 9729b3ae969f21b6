"""The options of `pathscope replay`, by what they are about, and what they say together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..lab.options import kernel_option
from ..options import CAPTURE, udp_ports_option

if TYPE_CHECKING:
    from collections.abc import Callable

LONGEST_S = 10 * 366 * 86_400
"""Of a trace and of what is made of it: longer ones are slips of the keyboard."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """What the command line says: a field an option."""

    traces: tuple[Path, ...]
    lab: bool
    live: bool
    interfaces: tuple[str, ...]
    allow_live_network: bool
    dry_run: bool
    write: Path | None
    out: Path | None
    force: bool
    kernel: str
    end: str
    labels: tuple[str, ...]
    udp_ports: tuple[int, ...]
    expression: str | None
    from_s: float | None
    to_s: float | None
    loops: int
    loop_gap_s: float
    speed: float | None
    pps: str | None
    rate: str | None
    top_speed: bool
    late: str
    late_limit_ms: float
    addresses: tuple[str, ...]
    ports: tuple[str, ...]
    macs: tuple[str, ...]
    keep_bad_checksums: bool
    above_mtu: str
    truncated: str
    mtu: int | None
    profile: Path | None
    profile_from: tuple[Path, ...]
    seed: int | None
    sctp: tuple[str, ...]
    association: int | None
    flow: int | None
    repetitions: int
    tolerances: Path | None
    json_file: Path | None
    analysis: bool


def _seconds(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
    if value is not None and math.isnan(value):
        raise click.BadParameter("nan is not a time")
    return value


SECONDS: dict[str, Any] = {
    "type": click.FloatRange(0, LONGEST_S),
    "callback": _seconds,
    "metavar": "SECONDS",
}

PLACE = (
    click.option(
        "--lab", is_flag=True, help="Between hosts of the lab, one wire a path. [default]"
    ),
    click.option(
        "--live",
        is_flag=True,
        help="Not the frames: send the application's messages over new sockets of the lab.",
    ),
    click.option(
        "--interface",
        "interfaces",
        multiple=True,
        metavar="NAME[.DIRECTION]=IFACE",
        help="Send what path NAME carried through this interface; DIRECTION is to_server or"
        " to_client. Repeat for more.",
    ),
    click.option(
        "--allow-live-network",
        is_flag=True,
        help="Let --interface name one that leads out of this machine.",
    ),
    kernel_option,
    click.option("--dry-run", is_flag=True, help="Say what would be sent, and touch nothing."),
    click.option(
        "--write", type=CAPTURE, metavar="FILE", help="Write the frames to a file: send none."
    ),
)

WHICH = (
    click.option(
        "--end",
        type=click.Choice(["both", "client", "server"]),
        default="both",
        show_default=True,
        help="Whose capture of a run of the lab is replayed; both: of each what it sent itself.",
    ),
    click.option(
        "--label",
        "labels",
        multiple=True,
        metavar="NET=NAME",
        help="Call paths with an address in NET by this name; repeat for more.",
    ),
    udp_ports_option,
    click.option(
        "--filter", "expression", metavar="BPF", help="Only frames that this libpcap filter takes."
    ),
    click.option(
        "--from", "from_s", help="Leave out what is before: since the first frame.", **SECONDS
    ),
    click.option("--to", "to_s", help="Leave out what is after: since the first frame.", **SECONDS),
    click.option(
        "--loop",
        "loops",
        type=click.IntRange(1, 2**32 - 1),
        default=1,
        metavar="N",
        help="Send it so many times. [default: 1]",
    ),
    click.option(
        "--loop-gap", "loop_gap_s", default=0.0, help="Wait between two times.", **SECONDS
    ),
)

PACE = (
    click.option(
        "--speed",
        type=click.FloatRange(0, min_open=True),
        metavar="FACTOR",
        help="So many times as fast as the trace. [default: 1]",
    ),
    click.option("--pps", metavar="N", help="So many frames a second, such as 10k."),
    click.option("--rate", metavar="BITS", help="So many bits of frames a second, such as 10M."),
    click.option("--top-speed", is_flag=True, help="As fast as it goes."),
    click.option(
        "--late",
        type=click.Choice(["send", "drop"]),
        default="send",
        show_default=True,
        help="What becomes of a frame that is later than --late-limit: nothing after it moves.",
    ),
    click.option(
        "--late-limit",
        "late_limit_ms",
        type=click.FloatRange(0, 1e9),
        default=1.0,
        show_default=True,
        metavar="MS",
        help="What is late.",
    ),
)

REWRITING = (
    click.option(
        "--map-address",
        "addresses",
        multiple=True,
        metavar="A=B",
        help="Send address or prefix A as B, inside of INIT and ASCONF, too; repeat for more.",
    ),
    click.option(
        "--map-port",
        "ports",
        multiple=True,
        metavar="A=B",
        help="Send port A as B; repeat for more.",
    ),
    click.option(
        "--map-mac",
        "macs",
        multiple=True,
        metavar="A=B",
        help="Send Ethernet address A as B; repeat for more.",
    ),
    click.option(
        "--keep-bad-checksums", is_flag=True, help="What was wrong in the trace stays as wrong."
    ),
    click.option(
        "--above-mtu",
        type=click.Choice(["refuse", "split"]),
        default="refuse",
        show_default=True,
        help="What becomes of a packet above the MTU.",
    ),
    click.option(
        "--truncated",
        type=click.Choice(["refuse", "pad"]),
        default="refuse",
        show_default=True,
        help="What becomes of a frame that the trace has only the beginning of.",
    ),
    click.option(
        "--mtu",
        type=click.IntRange(68, 65535),
        metavar="BYTES",
        help="Of the lab's wires. [default: 1500, or what the largest frame needs]",
    ),
)

IMPAIRING = (
    click.option("--profile", type=CAPTURE, metavar="FILE", help="Impair paths as this file says."),
    click.option(
        "--profile-from",
        type=CAPTURE,
        multiple=True,
        metavar="CAPTURE",
        help="Impair paths as they were in this capture; twice for those of both ends.",
    ),
    click.option(
        "--seed",
        type=click.IntRange(0, 2**63 - 1),
        metavar="N",
        help="Of the profile's random values. [default: the profile's own]",
    ),
)

LIVE = (
    click.option(
        "--sctp",
        multiple=True,
        metavar="KEY=VALUE",
        help="With --live: a setting of SCTP, such as rto_min=500; repeat for more.",
    ),
    click.option(
        "--association",
        type=click.IntRange(0),
        metavar="N",
        help="With --live: which association. [default: the one with most data]",
    ),
    click.option(
        "--flow",
        type=click.IntRange(0),
        metavar="N",
        help="With --live: which flow of TCP or UDP. [default: an association; where there is none,"
        " the flow with most data]",
    ),
    click.option(
        "--repetitions",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        metavar="N",
        help="With --live: so many runs.",
    ),
)

RESULT = (
    click.option(
        "--out",
        type=CAPTURE,
        metavar="DIR",
        help="The replay's folder. [default: the trace's name and the time]",
    ),
    click.option(
        "--force",
        is_flag=True,
        help="Replace a complete replay, or a file.",
    ),
    click.option(
        "--tolerances", type=CAPTURE, metavar="FILE", help="Hold the fidelity report against these."
    ),
    click.option(
        "--json", "json_file", type=CAPTURE, metavar="FILE", help="Write the report there."
    ),
    click.option(
        "--analysis/--no-analysis", default=True, help="Analyze the new captures, too. [default]"
    ),
)


def all_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add them all; `Given` takes what they say."""
    groups = (PLACE, WHICH, PACE, REWRITING, IMPAIRING, LIVE, RESULT)
    for option in reversed([option for group in groups for option in group]):
        command = option(command)
    return command
