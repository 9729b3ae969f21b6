"""The lab's runs: their captures, what the lab logged, and their frames as tshark reads them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

import oracle
from pathscope import api
from pathscope.analyzer.model import Association
from pathscope.dissectors.ledger import Row

RUNS = Path(__file__).parents[1] / "fixtures" / "captures"
CAPTURES = sorted(
    path.relative_to(RUNS).as_posix()
    for path in RUNS.glob("*/*.pcapng")
    if path.parent.name != "lab-restart"  # two associations
)

DATA, SACK, HEARTBEAT, HEARTBEAT_ACK, ASCONF_ACK, ASCONF = 0, 3, 4, 5, 128, 193


@dataclass(frozen=True)
class Frame:
    """One SCTP packet, by tshark. No TSN of the lab's captures wraps around."""

    number: int
    time_ns: int
    source: str
    destination: str
    types: tuple[int, ...]
    tsns: tuple[int, ...]
    cumulative: tuple[int, ...]
    gaps: tuple[tuple[int, int], ...]
    duplicates: tuple[int, ...]
    parameters: tuple[int, ...]

    @property
    def way(self) -> tuple[str, str]:
        return self.source, self.destination

    def acknowledges(self, tsn: int) -> bool:
        return any(tsn <= cumulative for cumulative in self.cumulative) or any(
            first <= tsn <= last for first, last in self.gaps
        )

    def reports_missing(self, tsn: int) -> bool:
        """A miss indication: something above the TSN has arrived, the TSN has not."""
        return not self.acknowledges(tsn) and any(first > tsn for first, _ in self.gaps)


NAMES = (
    "frame.number", "frame.time_epoch", "ip.src", "ip.dst", "ipv6.src", "ipv6.dst",
    "sctp.chunk_type", "sctp.data_tsn_raw", "sctp.sack_cumulative_tsn_ack_raw",
    "sctp.sack_gap_block_start_tsn", "sctp.sack_gap_block_end_tsn", "sctp.sack_duplicate_tsn",
    "sctp.parameter_type",
)  # fmt: skip


def _frame(fields: oracle.Fields) -> Frame:
    def numbers(name: str) -> tuple[int, ...]:
        return tuple(int(value, 0) for value in fields[name])

    starts, ends = numbers(NAMES[9]), numbers(NAMES[10])
    return Frame(
        number=numbers("frame.number")[0],
        time_ns=oracle.nanoseconds(fields["frame.time_epoch"][0]),
        source=(fields["ip.src"] or fields["ipv6.src"])[0],
        destination=(fields["ip.dst"] or fields["ipv6.dst"])[0],
        types=numbers("sctp.chunk_type"),
        tsns=numbers("sctp.data_tsn_raw"),
        cumulative=numbers("sctp.sack_cumulative_tsn_ack_raw"),
        gaps=tuple(zip(starts, ends, strict=True)),
        duplicates=numbers("sctp.sack_duplicate_tsn"),
        parameters=numbers("sctp.parameter_type"),
    )


@cache
def frames(capture: str) -> tuple[Frame, ...]:
    """Return the SCTP frames of a capture in order of time (the file is not)."""
    found = [_frame(fields) for fields in oracle.fields(RUNS / capture, NAMES, "sctp")]
    return tuple(sorted(found, key=lambda frame: frame.time_ns))


@cache
def analysis(capture: str, *, events: bool = False, labels: tuple[str, ...] = ()) -> api.Analysis:
    path = RUNS / capture
    log = path.parent / "events.jsonl" if events else None
    return api.analyze(path, events=log, labels=labels)


def association(capture: str, *, events: bool = False) -> Association:
    (only,) = analysis(capture, events=events).associations
    return only


def rows(capture: str, table: str) -> list[Row]:
    return analysis(capture).ledger.rows(table)


def run_of(capture: str) -> str:
    return capture.partition("/")[0]


def log(run: str) -> list[dict[str, Any]]:
    """Return what the lab logged, with exact times in ns under `ns`."""
    lines = (RUNS / run / "events.jsonl").read_text().splitlines()
    events = [json.loads(line, parse_float=Decimal) for line in lines]
    return [event | {"ns": int(event["t"] * 1_000_000_000)} for event in events]


def logged_ns(run: str, **wanted: str) -> int:
    """Return when the one event with these values happened."""
    (found,) = [e["ns"] for e in log(run) if all(e.get(k) == v for k, v in wanted.items())]
    return int(found)


def settings(run: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((RUNS / run / "settings.json").read_text())
    return found


@dataclass(frozen=True)
class Sent:
    """The DATA of a capture, told apart by TSN alone."""

    new: dict[int, Frame]
    """First frame of each TSN."""
    again: list[tuple[int, Frame, Frame]]
    """TSN, frame of the transmission before, frame of the retransmission."""


@cache
def sent(capture: str) -> Sent:
    new: dict[int, Frame] = {}
    latest: dict[int, Frame] = {}
    again = []
    for frame in frames(capture):
        for tsn in frame.tsns:
            if tsn in latest:
                again.append((tsn, latest[tsn], frame))
            new.setdefault(tsn, frame)
            latest[tsn] = frame
    return Sent(new, again)
