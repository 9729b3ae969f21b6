"""The folder of a run: its states, who may write into it, what analyze finds in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pathscope.replay.lab import folder
from running import CAPTURES, FAILOVER, inside


def complete(place: Path) -> Path:
    folder.claim(place, force=False)
    with folder.running(place, {"scenario": "x", "captures": {"client": "client.pcapng"}}):
        (place / "client.pcapng").write_bytes(FAILOVER.read_bytes())
        (place / folder.EVENTS).write_text("")
        paths = {"near": {"client": "2001:db8:1::1", "server": "2001:db8:1::2"}}
        (place / folder.SCENARIO).write_text(json.dumps({"paths": paths}))
    return place


def test_states(tmp_path: Path) -> None:
    place = tmp_path / "run"
    assert folder.state(place) == "absent"
    folder.claim(place, force=False)
    with folder.running(place, {}):
        assert folder.state(place) == "running"
        with pytest.raises(folder.FolderError, match="a run is being made there"):
            folder.claim(place, force=True)
    assert folder.state(place) == "complete"


def test_a_run_that_fails_says_so(tmp_path: Path) -> None:
    folder.claim(tmp_path, force=False)
    with pytest.raises(OSError, match="no room"), folder.running(tmp_path, {}):
        raise OSError("no room")
    assert folder.state(tmp_path) == "failed"
    folder.claim(tmp_path, force=False)
    assert folder.state(tmp_path) == "interrupted"  # until the next run begins


def test_an_interrupted_run_is_cleared_away(tmp_path: Path) -> None:
    (tmp_path / folder.FACTS).write_text(json.dumps({"schema": folder.SCHEMA, "state": "running"}))
    (tmp_path / "client-wlan.pcap").write_text("half")
    assert folder.state(tmp_path) == "interrupted"
    with pytest.raises(folder.FolderError, match="interrupted, not complete"):
        folder.capture(tmp_path, "client")
    folder.claim(tmp_path, force=False)
    assert {entry.name for entry in tmp_path.iterdir()} == {folder.LOGS, folder.FACTS}


def test_a_complete_run_is_replaced_by_force_alone(tmp_path: Path) -> None:
    complete(tmp_path / "run")
    with pytest.raises(folder.FolderError, match="--force replaces it"):
        folder.claim(tmp_path / "run", force=False)
    folder.claim(tmp_path / "run", force=True)


def test_another_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work")
    for force in (False, True):
        with pytest.raises(folder.FolderError, match="expected no folder, an empty one"):
            folder.claim(tmp_path, force=force)
    assert (tmp_path / "thesis.tex").exists()


def test_analyze_takes_a_run(tmp_path: Path) -> None:
    place = complete(tmp_path / "run")
    found = inside("analyze", place)
    assert found.exit_code == 0
    assert found.stdout.startswith(f"{place / 'client.pcapng'}\n")
    assert "a: near -> v2 at" in found.stdout
    named = inside("analyze", place, "--label", "2001:db8:1::/64=mine")
    assert "a: mine -> v2 at" in named.stdout
    assert found.stderr == f"{place}: a run; its events, and what its client saw\n"
    refused = inside("analyze", place, "--end", "server")
    assert refused.exit_code == 2
    assert "no capture of server in this run, only of client" in refused.stderr


def test_analyze_takes_both_ends_of_a_run(tmp_path: Path) -> None:
    place = tmp_path / "run"
    folder.claim(place, force=False)
    with folder.running(place, {"captures": dict(folder.CAPTURES)}):
        for name in folder.CAPTURES.values():
            (place / name).write_bytes((CAPTURES / "lab-lossy" / name).read_bytes())
        (place / folder.EVENTS).write_text("")
        (place / folder.SCENARIO).write_text("{}")
    found = inside("analyze", place)
    assert found.stderr == f"{place}: a run; its events, and what both ends saw\n"
    assert f"the other end: {place / 'server.pcapng'}, 516 packets in both" in found.stdout
    alone = inside("analyze", place, "--end", "server")
    assert alone.stderr == f"{place}: a run; its events, and what its server saw\n"
    assert "the other end" not in alone.stdout


def test_a_folder_that_is_no_run(tmp_path: Path) -> None:
    refused = inside("analyze", tmp_path)
    assert refused.exit_code == 2
    assert refused.stderr == f"Error: {tmp_path}: Is a directory (os error 21)\n"
    (tmp_path / folder.FACTS).write_text("[]")
    assert "expected a document of pathscope.run/1" in inside("analyze", tmp_path).stderr


def test_a_run_writes_through_no_link(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    place = tmp_path / "run"
    place.mkdir()
    (place / folder.FACTS).symlink_to(precious)
    for force in (False, True):
        with pytest.raises(folder.FolderError, match="a link, which a run does not write"):
            folder.claim(place, force=force)
    assert precious.read_text() == "mine"


def test_what_a_link_in_a_folder_leads_to_stays(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    place = tmp_path / "run"
    place.mkdir()
    (place / folder.FACTS).write_text("{}")
    (place / folder.LOGS).symlink_to(outside)
    folder.claim(place, force=False)
    assert (outside / "file").exists()
    assert not (place / folder.LOGS).is_symlink()


@pytest.mark.parametrize("name", ["../other.pcapng", "/etc/passwd", "..", ""])
def test_a_run_has_its_captures_in_its_folder(tmp_path: Path, name: str) -> None:
    told = {"schema": folder.SCHEMA, "state": "complete", "captures": {"client": name}}
    (tmp_path / folder.FACTS).write_text(json.dumps(told))
    with pytest.raises(folder.FolderError, match="expected a capture in this folder"):
        folder.capture(tmp_path, "client")


@pytest.mark.parametrize("text", ["[" * 100_000, "[]", "{", '{"schema": "pathscope.run/1"}'])
def test_facts_that_are_none(tmp_path: Path, text: str) -> None:
    (tmp_path / folder.FACTS).write_text(text)
    assert folder.state(tmp_path) == "interrupted"
    with pytest.raises(folder.FolderError):
        folder.capture(tmp_path, "client")
    for file, read in ((folder.SCENARIO, folder.labels), (folder.NODES, folder.hosts)):
        (tmp_path / file).write_text("[" * 100_000)
        with pytest.raises(folder.FolderError, match="too deep"):
            read(tmp_path)


@pytest.mark.parametrize(
    "scenario", [{"paths": []}, {"paths": {"a": 1}}, {"paths": 1}, {"multihomed": 5}]
)
def test_a_scenario_that_no_run_has_written(tmp_path: Path, scenario: object) -> None:
    (tmp_path / folder.SCENARIO).write_text(json.dumps(scenario))
    (tmp_path / folder.NODES).write_text("{}")
    read = folder.hosts if "multihomed" in str(scenario) else folder.labels
    if read is folder.labels:
        (tmp_path / folder.NODES).unlink()
    with pytest.raises(folder.FolderError, match="expected what a run has written"):
        read(tmp_path)
