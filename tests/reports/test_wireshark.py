"""Display filters against Wireshark itself: each shows exactly the frames that it is there for."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pathscope
import pytest
from oracle import PREFERENCES
from pathscope.dissectors.ledger import Row
from pathscope.reports.wireshark import (
    annotated,
    association_filter,
    filter_file,
    frames_filter,
    named,
)
from running import CAPTURES, FAILOVER, inside

COMMITTED = sorted(path.relative_to(CAPTURES).as_posix() for path in CAPTURES.glob("*/*.pcap*"))

Node = dict[str, Any]


def shown(capture: Path, expression: str) -> set[int]:
    """Return the frames that tshark shows through a filter."""
    command = ["tshark", "-n", "-r", str(capture), "-Y", expression]
    command += ["-T", "fields", "-e", "frame.number"]
    for preference in PREFERENCES:
        command += ["-o", preference]
    found = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return {int(number) for number in found.split()}


@cache
def rows(capture: Path, table: str) -> list[Row]:
    return [row for batch in pathscope.dissect(capture, table) for row in batch.to_pylist()]


@cache
def result(capture: Path) -> Node:
    return pathscope.analyze(capture).to_dict()


def frames_of(capture: Path, association: int) -> dict[int, Row]:
    """Return the frames of an association, each by one of its chunks."""
    return {
        row["frame"]: row for row in rows(capture, "chunks") if row["association"] == association
    }


def within(frames: dict[int, Row], times: list[int]) -> set[int]:
    return {number for number, row in frames.items() if min(times) <= row["time_ns"] <= max(times)}


def seen_ns(instants: dict[str, Node]) -> list[int]:
    return [one["ns"] for one in instants.values() if one.get("basis") == "observed"]


def expected(capture: Path, association: Node) -> Iterator[tuple[str, set[int]]]:
    """Yield the filters of an association with the frames that they must show."""
    frames = frames_of(capture, association["id"])
    yield association["wireshark"], set(frames)
    for path in association["paths"]:
        own = {number for number, row in frames.items() if row["path"] == path["id"]}
        yield path["wireshark"], own
    for handover in association["handovers"]:
        yield handover["wireshark"], within(frames, seen_ns(handover["instants"]))
    for excursion in association["excursions"]:
        times = [excursion["start"]["ns"], excursion["end"]["ns"]]
        yield excursion["wireshark"], within(frames, times)
    yield from expected_findings(association)


def expected_findings(node: Node) -> Iterator[tuple[str, set[int]]]:
    for finding in node["findings"]:
        if finding["frames"]:
            yield finding["wireshark"], set(finding["frames"])
        else:
            assert finding["wireshark"] is None


@pytest.mark.parametrize("name", COMMITTED)
def test_associations(name: str) -> None:
    capture = CAPTURES / name
    for association in result(capture)["associations"]:
        for expression, frames in expected(capture, association):
            assert frames
            assert shown(capture, expression) == frames, expression


@pytest.mark.parametrize("name", ["flows-mixed/flows.pcap", "ns3/ppp-sender.pcap", "ns3/wifi.pcap"])
def test_flows(name: str) -> None:
    """Of the first, one whose packets an ICMP error quotes."""
    capture = CAPTURES / name
    of_flow: dict[int, set[int]] = {}
    for table in ("segments", "datagrams"):
        for row in rows(capture, table):
            of_flow.setdefault(row["flow"], set()).add(row["frame"])
    flows = result(capture)["flows"]
    assert flows
    for flow in flows:
        assert shown(capture, flow["wireshark"]) == of_flow[flow["id"]]
        for expression, frames in expected_findings(flow):
            assert shown(capture, expression) == frames


def test_an_association_of_which_no_tag_is_known() -> None:
    """Ports and time have to do."""
    (association,) = deepcopy(result(FAILOVER))["associations"]
    for end in association["endpoints"].values():
        end["vtag"] = None
    expression = association_filter(association)
    assert "verification_tag" not in expression
    assert shown(FAILOVER, expression) == set(frames_of(FAILOVER, 0))


def test_of_several_files_frames_have_no_numbers_of_their_own() -> None:
    both = (FAILOVER, FAILOVER.with_name("server.pcapng"))
    document = pathscope.analyze(both).to_dict()
    (association,) = document["associations"]
    assert association["wireshark"]
    assert association["findings"]
    assert all(finding["wireshark"] is None for finding in association["findings"])


def test_the_file_is_one_that_wireshark_reads() -> None:
    """A name in quotes and a filter a line."""
    document = deepcopy(result(FAILOVER))
    document["associations"][0]["paths"][0]["label"] = 'a "name"\nwith\\all\x1b[1m'
    lines = filter_file(document).splitlines()
    assert len(lines) == len(list(named(document)))
    assert lines[1].startswith(
        '"association 0: path a \\"name\\" with\\\\all\ufffd[1m" sctp.port == 6000'
    )


def test_command(tmp_path: Path) -> None:
    found = inside("export", FAILOVER, "--to", "filters")
    assert found.exit_code == 0
    names = [line.split('"')[1] for line in found.stdout.splitlines()]
    assert names == [name for name, _ in named(result(FAILOVER))]
    assert "association 0: handover 1 of a, v1 -> v2" in names
    file = tmp_path / "dfilters"
    assert inside("export", FAILOVER, "--to", "filters", "-o", file).exit_code == 0
    assert file.read_text() == found.stdout
    refused = inside("export", FAILOVER, "--to", "filters", "-o", file)
    assert refused.exit_code == 2
    assert refused.stderr == f"Error: {file} exists; --force overwrites it\n"


def test_frames_by_number() -> None:
    assert frames_filter([3, 9]) == "frame.number in {3, 9}"


def test_a_trace_of_ns2_has_no_filters() -> None:
    """Wireshark does not read it."""
    document = deepcopy(result(FAILOVER))
    document["captures"][0]["format"] = "ns-2 trace"
    assert list(named(annotated(document))) == []
    nodes = [document["associations"][0], *document["associations"][0]["findings"]]
    assert all(node["wireshark"] is None for node in nodes)
