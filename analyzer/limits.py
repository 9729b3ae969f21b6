"""What limits every number from a capture, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .measure import NS_PER_S

if TYPE_CHECKING:
    from typing import Any

    from ..dissectors.ledger import Ledger
    from .flow_rows import FlowRows


def capture_warnings(ledger: Ledger, rows: FlowRows) -> list[str]:
    """Say what limits every number from this capture."""
    facts = ledger.capture
    warnings = []
    if facts["damage"] is not None:
        warnings.append(f"the capture is damaged, results go up to there: {facts['damage']}")
    if facts["late_frames"]:
        warnings.append(
            f"{facts['late_frames']} frames came out of time order, by up to"
            f" {facts['largest_lateness_ns'] / NS_PER_S:g} s, and were read in the order of the"
            " file: a wider --reorder-window puts them right"
        )
    if facts["clock_steps"]:
        warnings.append(
            f"the capture's clock stepped back {facts['clock_steps']} times by more than a minute"
        )
    if facts["dropped_by_capture"]:
        warnings.append(
            f"the capturing host dropped {facts['dropped_by_capture']} packets:"
            " what looks lost may only be missing here"
        )
    if facts["dropped_fragments"]:
        warnings.append(f"{facts['dropped_fragments']} IP fragments were given up unreassembled")
    for kind, count in facts["problems"].items():
        warnings.append(f"{count} problems: {kind} (table `problems` lists them)")
    warnings += _associations(facts)
    warnings += _nothing(facts)
    if "flows" in facts:
        warnings += _left_out(facts["flows"], rows)
    return warnings


def _associations(facts: dict[str, Any]) -> list[str]:
    """Say what was left out of associations to keep memory bounded."""
    census = facts["associations"]
    warnings = []
    if census["evicted"]:
        warnings.append(
            f"{census['evicted']} of {census['seen']} associations were forgotten to make room for"
            " others before the capture ended: a later packet of theirs began a new one"
        )
    if census["unlisted"]:
        warnings.append(
            f"{census['unlisted']} of {census['seen']} associations are not listed, most of a few"
            " packets: a flood or a scan"
        )
    warnings += [
        f"{rows} rows of table `{table}` were not kept: there was no room"
        for table, rows in facts["unlisted"].items()
    ]
    return warnings


def _nothing(facts: dict[str, Any]) -> list[str]:
    if facts["sctp_packets"]:
        return []
    if "flows" not in facts:
        return ["no SCTP packet in this capture"]
    return [] if facts["flows"]["seen"] else ["no SCTP, TCP or UDP packet in this capture"]


_CENSUS = {
    "evicted": "flows were forgotten before the capture ended, to make room for others:"
    " what came of them later counts as new flows",
    "unlisted": "flows have no row in the table `flows`: too many",
    "unlisted_intervals": "packets of flows are in no row of the table `flow_intervals`: too many",
    "unlisted_retransmissions": "retransmissions of flows are in no row of the table"
    " `tcp_retransmissions`: too many",
    "unlisted_icmp": "ICMP errors are in no row of the table `icmp`: too many",
}


def _left_out(census: dict[str, int], rows: FlowRows) -> list[str]:
    warnings = [f"{census[name]} {words}" for name, words in _CENSUS.items() if census[name]]
    if len(rows.flows) < rows.listed:
        warnings.append(
            f"{len(rows.flows)} of {rows.listed} flows are described, those with the most bytes:"
            " the table `flows` has all"
        )
    if len(rows.icmp) < rows.listed_icmp:
        warnings.append(
            f"the first {len(rows.icmp)} of {rows.listed_icmp} ICMP errors are described:"
            " the table `icmp` has all"
        )
    return warnings
