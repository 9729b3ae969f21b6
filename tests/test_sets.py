"""What a set's name stands for, and baselines."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
from pathlib import Path

import pathscope
import pytest
from pathscope import baselines, sets
from pathscope.analyzer.compare.runs import Run
from pathscope.baselines import BaselineError
from pathscope.sets import SetError, find_sources, read_set
from running import LOSSY, ROOT
from sided import result

STORE = ROOT / "fixtures" / "compare"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store"


def kinds(text: str, store: Path) -> list[tuple[str, str]]:
    return [(one.kind, one.path.name) for one in find_sources(text, store)]


def test_a_folder_is_searched(tmp_path: Path, store: Path) -> None:
    for file in ("b.pcap", "a/x.pcapng.gz", "a/notes.txt", ".hidden/y.pcap", "run/client.pcapng"):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).touch()
    (tmp_path / "run" / "run.json").touch()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "manifest.json").touch()
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    assert kinds(str(tmp_path), store) == [
        ("capture", "x.pcapng.gz"),
        ("capture", "b.pcap"),
        ("results", "result.json"),
        ("run", "run"),
    ]
    assert kinds(f"{tmp_path}/*.pcap,{tmp_path}/out", store) == [
        ("capture", "b.pcap"),
        ("results", "result.json"),
    ]
    with pytest.raises(SetError, match="no such file, folder or baseline"):
        find_sources(str(tmp_path / "nowhere"), store)
    (tmp_path / ".hidden" / "empty").mkdir()
    with pytest.raises(SetError, match="no run, results, baseline or capture"):
        find_sources(str(tmp_path / ".hidden" / "empty"), store)


def test_a_path_may_have_commas_and_brackets(tmp_path: Path, store: Path) -> None:
    (tmp_path / "a,b[1].pcap").touch()
    assert kinds(str(tmp_path / "a,b[1].pcap"), store) == [("capture", "a,b[1].pcap")]


def test_a_name_that_means_two_things_is_refused(
    tmp_path: Path, store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    baselines.save(store, "old", [Run("1", result())])
    monkeypatch.chdir(tmp_path)
    assert kinds("old", store) == [("baseline", "old")]
    (tmp_path / "old").mkdir()
    with pytest.raises(SetError, match="both a file and a baseline"):
        find_sources("old", store)
    assert kinds("baseline:old", store) == [("baseline", "old")]


def test_a_capture_and_its_stored_results_are_the_same_run(tmp_path: Path) -> None:
    analysis = pathscope.analyze(LOSSY)
    analysis.write(tmp_path / "out", "csv")
    (captured,) = read_set(str(LOSSY)).runs
    (stored,) = read_set(str(tmp_path / "out")).runs
    assert captured.document == stored.document
    assert captured.scenario is None


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    (tmp_path / "no.pcap").write_bytes(b"no capture")
    (tmp_path / "r").mkdir()
    (tmp_path / "r" / "manifest.json").touch()
    (tmp_path / "r" / "result.json").write_text('{"schema": "pathscope.result/1"}')
    shutil.copy(LOSSY, tmp_path / "yes.pcapng")
    found = read_set(str(tmp_path))
    assert [run.name for run in found.runs] == [str(tmp_path / "yes.pcapng")]
    assert [Path(name).name for name, _ in found.unread] == ["no.pcap", "result.json"]
    assert "a result without captures" in found.unread[1][1]


def test_a_baseline_is_what_was_saved(store: Path) -> None:
    runs = [Run("1", result(), "x", {"k": 1}, {"v": "6.1"}), Run("2", result())]
    baselines.save(store, "kernel-6.1", runs)
    assert list(read_set("kernel-6.1", store).runs) == runs
    (listed,) = baselines.listed(store)
    assert (listed.name, len(listed.runs)) == ("kernel-6.1", 2)
    # Its folder is a set as well: a baseline can be kept beside what it is of.
    assert list(read_set(str(store / "kernel-6.1")).runs) == runs
    both = read_set(f"baseline:kernel-6.1,{store / 'kernel-6.1'}", store)
    assert [run.name for run in both.runs] == ["1", "2"]
    baselines.remove(store, "kernel-6.1")
    assert baselines.listed(store) == []
    assert list(store.iterdir()) == []


def test_nothing_is_replaced_unless_asked(store: Path) -> None:
    baselines.save(store, "one", [Run("1", result())])
    with pytest.raises(FileExistsError, match="--force"):
        baselines.save(store, "one", [Run("2", result())])
    baselines.save(store, "one", [Run("2", result())], force=True)
    assert [run["name"] for run in baselines.find(store, "one").runs] == ["2"]
    assert [entry.name for entry in store.iterdir()] == ["one"]
    (store / "foreign").mkdir()
    with pytest.raises(BaselineError, match="no baseline"):
        baselines.save(store, "foreign", [Run("1", result())], force=True)


def test_a_save_that_fails_leaves_what_was_there(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    baselines.save(store, "one", [Run("1", result())])

    def full(*_: object, **__: object) -> bytes:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gzip, "compress", full)
    with pytest.raises(OSError, match="No space"):
        baselines.save(store, "one", [Run("2", result())], force=True)
    assert [run["name"] for run in baselines.find(store, "one").runs] == ["1"]
    assert [entry.name for entry in store.iterdir()] == ["one"]


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/b", "/x", ".x", "-x", "a\n", "x" * 101])
def test_a_name_is_no_path(store: Path, name: str) -> None:
    with pytest.raises(BaselineError, match="expected a name"):
        baselines.save(store, name, [Run("1", result())])
    assert not store.exists()


def test_a_damaged_baseline_is_told(store: Path) -> None:
    baselines.save(store, "one", [Run("1", result())])
    facts = store / "one" / "baseline.json"
    good = json.loads(facts.read_text())
    for bad in ("{", "[]", '{"schema": "x"}', '{"schema": "pathscope.baseline/1", "runs": [1]}'):
        facts.write_text(bad)
        with pytest.raises(BaselineError):
            baselines.find(store, "one")
    good["runs"][0]["file"] = "../../../etc/passwd"
    facts.write_text(json.dumps(good))
    with pytest.raises(BaselineError, match="damaged"):
        baselines.find(store, "one")
    good["runs"][0]["file"] = "runs/1.json.gz"
    facts.write_text(json.dumps(good))
    (store / "one" / "runs" / "1.json.gz").write_bytes(b"no gzip")
    ((_, reason),) = read_set("one", store).unread
    assert "no result" in reason


def test_the_default_store_is_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert baselines.default_store() == Path("/data/pathscope/baselines")
    monkeypatch.setenv("XDG_DATA_HOME", "relative")
    monkeypatch.setenv("HOME", "/users/u")
    assert baselines.default_store() == Path("/users/u/.local/share/pathscope/baselines")


def test_runs_of_one_name_are_told_apart() -> None:
    found = sets._named_apart([Run("x", result()), Run("y", result()), Run("x", result())])
    assert [run.name for run in found] == ["x", "y", "x (2)"]


def test_the_stored_runs_are_of_two_settings() -> None:
    found = read_set("rto-1000", STORE).runs
    assert len(found) == 8
    assert {run.scenario for run in found} == {"failover"}
    assert {run.settings["client.sctp.rto_max_ms"] for run in found} == {1000}


def test_a_pipe_is_not_waited_for(tmp_path: Path, store: Path) -> None:
    os.mkfifo(tmp_path / "a.pcap")
    (tmp_path / "b.pcap").symlink_to("/dev/zero")
    (tmp_path / "c.pcap").touch()
    assert kinds(str(tmp_path), store) == [("capture", "c.pcap")]


def test_folders_may_be_thousands_deep(tmp_path: Path, store: Path) -> None:
    here = os.open(tmp_path, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("d", dir_fd=here)
        there = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = there
    os.close(os.open("x.pcap", os.O_CREAT, dir_fd=here))
    os.close(here)
    try:
        assert kinds(str(tmp_path), store) == [("capture", "x.pcap")]
    finally:
        # Too deep for shutil.rmtree, with which pytest would clean up.
        subprocess.run(["rm", "-r", tmp_path / "d"], check=True)


@pytest.mark.parametrize("text", ["[" * 100_000, '{"schema": "pathscope.result/1"}'])
def test_a_result_that_is_none(tmp_path: Path, text: str) -> None:
    place = tmp_path / "result.json"
    place.write_text(text)
    assert len(read_set(str(place)).unread) == 1


def test_a_result_with_parts_of_no_capture(tmp_path: Path) -> None:
    document = result()
    place = tmp_path / "result.json"
    made_up: list[dict[str, object]] = [
        {"captures": [1]},
        {"captures": [{}]},
        {"associations": [1]},
        {"flows": [{}]},
    ]
    for wrong in made_up:
        place.write_text(json.dumps({**document, **wrong}))
        ((_, reason),) = read_set(str(place)).unread
        assert "of no capture" in reason
