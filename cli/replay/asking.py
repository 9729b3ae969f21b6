"""From the command line's words to orders, paths and a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, cast

from ..options import read_options
from ..terminal import echo

if TYPE_CHECKING:
    from pathlib import Path

    from ...replay.packets.orders import Orders
    from ...replay.profiles.profile import Profile
    from .options import Given

NS_PER_MS = 1_000_000


def orders(given: Given) -> Orders:
    """Return what the sender is told, but for the interfaces.

    Raises
    ------
    ValueError
        When a word cannot be read, or the trace has no paths.
    """
    from ...analyzer.labels import LabelRule
    from ...api import read
    from ...replay.packets import mapping, pacing, routes
    from ...replay.packets.orders import DIRECTIONS, SCTP_TUNNELING, Late, Orders

    traces, own_labels = _traces(given)
    both_ends = len(traces) > 1 and given.traces[0].is_dir()
    # All of it, whatever --filter takes: the names of paths do not depend on that. The paths of
    # both ends are those of the one.
    ledger = read(
        traces[0] if both_ends else traces, read_options(None, given.udp_ports, None, flows=True)
    )
    rules = tuple(LabelRule.parse(label) for label in (*given.labels, *own_labels))
    pairs = routes.pairs(routes.find(ledger, rules))
    if not pairs:
        names = ", ".join(map(str, traces))
        raise ValueError(f"{names}: no path: no association, and no flow of TCP or UDP")
    return Orders(
        trace=tuple(str(trace.resolve()) for trace in traces),
        pairs=pairs,
        outlets=(),
        taken=DIRECTIONS if both_ends else (),
        epoch_ns=ledger.capture["first_frame_ns"] if both_ends else None,
        from_ns=_nanoseconds(given.from_s),
        to_ns=_nanoseconds(given.to_s),
        loops=given.loops,
        loop_gap_ns=_nanoseconds(given.loop_gap_s) or 0,
        filter=given.expression,
        udp_ports=given.udp_ports or (SCTP_TUNNELING,),
        pace=pacing.parse(given.speed, given.pps, given.rate, top=given.top_speed),
        mapping=mapping.parse(given.addresses, given.ports, given.macs),
        keep_bad_checksums=given.keep_bad_checksums,
        above_mtu=cast("Literal['refuse', 'split']", given.above_mtu),
        truncated=cast("Literal['refuse', 'pad']", given.truncated),
        late=Late(
            cast("Literal['send', 'drop']", given.late), round(given.late_limit_ms * NS_PER_MS)
        ),
    )


def profile_of(given: Given) -> Profile | None:
    """Return how paths are to be impaired; None: not at all.

    Raises
    ------
    ValueError
        When the profile cannot be read, or none can be derived.
    """
    from ...replay.prepare import reseeded
    from ...replay.profiles.profile import load, parse

    if given.profile is not None:
        return reseeded(load(given.profile), given.seed)
    if given.profile_from:
        return reseeded(parse(_derived(given), "--profile-from"), given.seed)
    return None


def _derived(given: Given) -> dict[str, Any]:
    """Return the document of a profile as paths were in a capture, or in those of both ends."""
    from ...api import analyze, analyze_two
    from ...dissectors.ledger import ReadOptions
    from ...replay.profiles.derive import derive

    options = ReadOptions(flows=True, sightings=True, udp_ports=given.udp_ports or None)
    how: dict[str, Any] = {"labels": given.labels, "options": options}
    first, *second = given.profile_from
    if second:
        found = derive(analyze_two(first, second[0], ends=True, **how)[0])
    else:
        # The hosts of a run have one clock.
        found = derive(analyze(first, **how), one_clock=first.is_dir())
    for warning in found.warnings:
        echo(f"warning: --profile-from: {warning}", err=True)
    return found.document


def _traces(given: Given) -> tuple[list[Path], list[str]]:
    """Return the files to read, and names of their paths, where the trace is a run of the lab."""
    from ...replay.lab import folder

    runs = [trace for trace in given.traces if trace.is_dir()]
    if not runs:
        return list(given.traces), []
    if len(given.traces) > 1:
        raise ValueError(f"{runs[0]}: a run is replayed by itself, without other traces")
    return folder.chosen(runs[0], given.end), folder.labels(runs[0])


def _nanoseconds(time_s: float | None) -> int | None:
    return None if time_s is None else round(time_s * 1e9)
