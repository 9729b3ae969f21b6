"""The console report of `info`: what a capture is, before anything is made of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from .units import file_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ..dissectors.ledger import Ledger


def overview(ledger: Ledger) -> Group:
    """Render the facts of a capture, its interfaces and its associations."""
    facts = ledger.capture
    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for name, value in _facts(ledger):
        table.add_row(Text(name, style="dim"), value)
    parts: list[RenderableType] = [Text(file_name(ledger.path), style="bold"), table]
    if facts["interfaces"]:
        parts += ["", _interfaces(facts["interfaces"])]
    associations = ledger.rows("associations")
    if associations:
        parts += ["", _associations(ledger)]
    return Group(*parts)


def _facts(ledger: Ledger) -> list[tuple[str, str]]:
    facts = ledger.capture
    frames = facts["frames"]
    rows = [
        ("format", " ".join(filter(None, (facts["format"], facts["compression"])))),
        ("frames read", str(frames["read"])),
        ("  dissected", str(frames["dissected"])),
        ("  partial", str(frames["partial"])),
    ]
    rows += [(f"  skipped: {reason}", str(n)) for reason, n in frames["skipped"].items()]
    if facts["start_ns"] is not None:
        rows += [
            ("first frame", f"{facts['start_ns'] / 1e9:.6f} s since 1970"),
            ("duration", f"{(facts['end_ns'] - facts['start_ns']) / 1e9:.6f} s"),
        ]
    rows += [
        ("SCTP packets", str(facts["sctp_packets"])),
        ("frames put in order", str(facts["reordered_frames"])),
        ("frames too late for it", str(facts["late_frames"])),
    ]
    rows += _flows(ledger)
    if facts["dropped_by_capture"] is not None:
        rows.append(("dropped by the capture", str(facts["dropped_by_capture"])))
    census = facts["associations"]
    rows.append(("associations", str(census["seen"])))
    rows += [
        (f"  {fate}", str(census[name]))
        for name, fate in (("evicted", "forgotten to make room"), ("unlisted", "not listed"))
        if census[name]
    ]
    rows += [(f"rows not kept: {table}", str(count)) for table, count in facts["unlisted"].items()]
    rows += [(f"problems: {kind}", str(count)) for kind, count in facts["problems"].items()]
    rows += [("comment", comment) for comment in facts["comments"]]
    if facts["damage"] is not None:
        rows.append(("damage", facts["damage"]))
    return rows


def _flows(ledger: Ledger) -> list[tuple[str, str]]:
    """Count TCP and UDP flows, where there are any and they were followed."""
    census = ledger.capture.get("flows")
    if census is None:
        return []
    rows = []
    if census["seen"]:
        rows = [
            ("TCP and UDP flows", str(census["seen"])),
            ("  forgotten to make room", str(census["evicted"])),
            ("  not listed", str(census["unlisted"])),
        ]
    errors = ledger.tables["icmp"].num_rows + census["unlisted_icmp"]
    return [*rows, ("ICMP errors", str(errors))] if errors else rows


def _interfaces(interfaces: list[dict[str, object]]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("interface", "link type", "snap length", "time unit", "packets"):
        table.add_column(column)
    for number, interface in enumerate(interfaces):
        table.add_row(
            str(interface["name"] or number),
            str(interface["link_type"]),
            str(interface["snap_length"]),
            str(interface["time_unit"]),
            str(interface["packets"]),
        )
    return table


def _associations(ledger: Ledger) -> Table:
    paths = ledger.by_association("paths")
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for column in ("association", "ports", "paths", "packets", "seconds", "end"):
        table.add_column(column)
    for row in ledger.rows("associations"):
        table.add_row(
            str(row["association"]),
            f"{row['a_port']}-{row['b_port']}",
            str(len(paths.get(row["association"], []))),
            str(row["packets"]),
            f"{(row['end_ns'] - row['start_ns']) / 1e9:.3f}",
            row["end"],
        )
    return table
