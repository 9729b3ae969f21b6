"""What a dataset holds, what is done again, and what goes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import jsonschema
import pandas as pd
import pytest
from manycaptures import MALFORMED, files, fill, rows, runs
from pathscope import ReadOptions, analyze, analyze_many
from pathscope.many import dataset, store
from pathscope.many.dataset import DatasetError
from pathscope.reports import result_tables
from pathscope.sets import SetError, read_set
from running import CAPTURES, FAILOVER, ROOT, inside

SCHEMA = json.loads((ROOT / "many" / "dataset.schema.json").read_text())


def filled(folder: Path, captures: int) -> Path:
    """Make a dataset of a folder of captures beside it."""
    fill(folder / "captures", captures)
    analyze_many(folder / "captures", folder / "out")
    return folder / "out"


def changed(path: Path) -> None:
    """Make a capture another one, without a change of its length."""
    content = bytearray(path.read_bytes())
    content[-9] ^= 1
    path.write_bytes(content)


def test_every_result_is_that_of_analyze(tmp_path: Path) -> None:
    made = fill(tmp_path / "captures", 5)
    summary = analyze_many(tmp_path / "captures", tmp_path / "out")
    assert (summary.done, summary.skipped, summary.failures) == (5, 0, ())
    found = {one["run"]: document for one, document in dataset.opened(tmp_path / "out").results()}
    assert found == {str(path): analyze(path).to_dict() for path in made}


def test_tables_are_those_of_the_results(tmp_path: Path) -> None:
    fill(tmp_path / "captures", 3)
    analyze_many([FAILOVER, tmp_path / "captures"], tmp_path / "out", ledger=True)
    analyze(FAILOVER).write(tmp_path / "one")
    for kind, own in (("results", "tables"), ("ledger", "ledger")):
        for single in sorted((tmp_path / "one" / kind).glob("*.parquet")):
            whole = pd.read_parquet(tmp_path / "out" / own / single.stem)
            its = whole[whole.run == str(FAILOVER)].drop(columns=["key", "run"])
            wanted = pd.read_parquet(single)
            pd.testing.assert_frame_equal(
                its.reset_index(drop=True), wanted, check_dtype=False, obj=f"{kind} {single.stem}"
            )


def test_documents_fit_their_schema(tmp_path: Path) -> None:
    fill(tmp_path / "captures", 2)
    (tmp_path / "captures" / "empty.pcap").touch()
    analyze_many([tmp_path / "captures", FAILOVER], tmp_path / "out", thresholds="itu")
    jsonschema.validate(json.loads((tmp_path / "out" / "dataset.json").read_text()), SCHEMA)
    part = {"$ref": "#/$defs/part", "$defs": SCHEMA["$defs"]}
    for path in (tmp_path / "out" / "parts").iterdir():
        jsonschema.validate(json.loads(path.read_text()), part)


def test_what_is_done_is_skipped(tmp_path: Path) -> None:
    made = fill(tmp_path / "captures", 5)
    analyze_many(tmp_path / "captures", tmp_path / "out")
    before = files(tmp_path / "out")
    os.utime(made[0])  # as a copy or a checkout does
    summary = analyze_many(tmp_path / "captures", tmp_path / "out")
    assert (summary.done, summary.skipped, summary.removed) == (0, 5, 0)
    assert files(tmp_path / "out") == before


def test_a_changed_capture_is_analyzed_anew(tmp_path: Path) -> None:
    made = fill(tmp_path / "captures", 5)
    analyze_many(tmp_path / "captures", tmp_path / "out")
    changed(made[2])
    summary = analyze_many(tmp_path / "captures", tmp_path / "out")
    assert (summary.done, summary.skipped, summary.removed) == (5, 0, 5)  # all of its part
    analyze_many(tmp_path / "captures", tmp_path / "fresh")
    assert files(tmp_path / "out") == files(tmp_path / "fresh")


def test_captures_that_changed_places(tmp_path: Path) -> None:
    first, second = fill(tmp_path / "captures", 2)
    analyze_many(tmp_path / "captures", tmp_path / "out")
    second.replace(first)
    analyze_many(tmp_path / "captures", tmp_path / "out", force=True)
    assert runs(tmp_path / "out") == [first.name]


def test_other_settings_are_another_dataset(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    options = ReadOptions(bin_ns=10_000_000, flows=True)
    summary = analyze_many(tmp_path / "captures", tmp_path / "out", options=options, ledger=True)
    assert (summary.done, summary.removed) == (3, 3)
    summary = analyze_many(tmp_path / "captures", tmp_path / "out")
    assert (summary.done, summary.removed) == (3, 3)
    analyze_many(tmp_path / "captures", tmp_path / "fresh")
    assert files(tmp_path / "out") == files(tmp_path / "fresh")


def test_what_is_no_longer_named_goes_by_force_alone(tmp_path: Path) -> None:
    made = fill(tmp_path / "captures", 3)
    analyze_many(tmp_path / "captures", tmp_path / "out")
    before = files(tmp_path / "out")
    made[0].unlink()
    with pytest.raises(DatasetError, match="results of 1 capture not named now"):
        analyze_many(tmp_path / "captures", tmp_path / "out")
    assert files(tmp_path / "out") == before
    analyze_many(tmp_path / "captures", tmp_path / "out", force=True)
    assert runs(tmp_path / "out") == [path.name for path in made[1:]]


def test_the_same_content_counts_once(tmp_path: Path) -> None:
    first, *_ = fill(tmp_path / "captures", 2)
    shutil.copyfile(first, tmp_path / "captures" / "zz-copy.pcapng")
    shutil.copyfile(FAILOVER, tmp_path / "captures" / "zz-large.pcapng")
    shutil.copyfile(FAILOVER, tmp_path / "captures" / "zz-large-copy.pcapng")
    summary = analyze_many(tmp_path / "captures", tmp_path / "out")
    assert [(Path(name).name, Path(of).name) for name, of in summary.same] == [
        ("zz-copy.pcapng", first.name),
        ("zz-large.pcapng", "zz-large-copy.pcapng"),
    ]
    assert summary.done == 3
    head = json.loads((tmp_path / "out" / "dataset.json").read_text())
    assert [Path(one["run"]).name for one in head["same"]] == ["zz-copy.pcapng", "zz-large.pcapng"]


def test_large_captures_that_differ_in_the_middle(tmp_path: Path) -> None:
    shutil.copyfile(FAILOVER, tmp_path / "a.pcapng")
    content = bytearray(FAILOVER.read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / "b.pcapng").write_bytes(content)
    assert analyze_many([tmp_path / "a.pcapng", tmp_path / "b.pcapng"], tmp_path / "out").done == 2


def test_one_failure_stops_no_other(tmp_path: Path) -> None:
    captures = tmp_path / "captures"
    good = fill(captures, 4)
    (captures / "empty.pcap").touch()
    (captures / "no-capture.pcap").write_bytes(b"Dear Sir or Madam,\n" * 9)
    (captures / "nowhere.pcap").symlink_to(tmp_path / "missing")
    (captures / "unreadable.pcap").symlink_to("/proc/self/mem")  # even for root
    cut = captures / "cut.pcapng"
    cut.write_bytes(FAILOVER.read_bytes()[:100_001])
    found = inside("analyze", captures, "--out", tmp_path / "out")
    assert found.exit_code == 3
    told = found.stderr.splitlines()
    assert told[0].endswith("out: 5 analyzed, 0 skipped, 1 damaged, 4 failed")
    assert [line.split(": ")[1].rpartition("/")[2] for line in told[1:]] == [
        "empty.pcap",
        "no-capture.pcap",
        "nowhere.pcap",
        "unreadable.pcap",
    ]
    assert runs(tmp_path / "out") == sorted([*(path.name for path in good), "cut.pcapng"])
    compared = read_set(str(tmp_path / "out"), tmp_path)
    assert len(compared.runs) == 5
    assert [Path(name).name for name, _ in compared.unread] == [
        *("empty.pcap", "no-capture.pcap", "nowhere.pcap", "unreadable.pcap")
    ]
    again = inside("analyze", captures, "--out", tmp_path / "out")
    assert (again.exit_code, again.stderr.splitlines()[0].rpartition(": ")[2]) == (
        3,
        "0 analyzed, 5 skipped, 1 damaged, 4 failed",
    )
    for name in ("empty.pcap", "no-capture.pcap", "nowhere.pcap", "unreadable.pcap"):
        (captures / name).unlink()
    mended = inside("analyze", captures, "--out", tmp_path / "out", "--strict")
    assert mended.exit_code == 1  # the cut one


def test_nothing_that_was_readable_is_lost_of_malformed_captures(tmp_path: Path) -> None:
    summary = analyze_many(MALFORMED, tmp_path / "out")
    found = {name for one in dataset.opened(tmp_path / "out").captures() for name in [one["run"]]}
    failed = {one.name for one in summary.failures}
    copies = {name for name, _ in summary.same}
    assert not found & failed
    assert found | failed | copies == {
        str(path)
        for path in MALFORMED.rglob("*")
        if path.is_file() and path.suffix not in (".py", ".toml", ".md")
    }


def test_a_result_cut_off_on_the_disk_is_made_anew(tmp_path: Path) -> None:
    before = files(filled(tmp_path, 3))
    torn = next((tmp_path / "out" / "tables" / "associations").glob("[!e]*.parquet"))
    torn.write_bytes(torn.read_bytes()[:100])
    assert analyze_many(tmp_path / "captures", tmp_path / "out").done == 3
    assert files(tmp_path / "out") == before


def test_a_machine_that_failed_leaves_nothing_that_counts(tmp_path: Path) -> None:
    """Before the end nothing is known to be on the disk: lengths may be there without content."""
    fill(tmp_path / "captures", 40)
    out = tmp_path / "out"
    total = analyze_many(tmp_path / "captures", out).done
    whole = files(out)
    head = json.loads((out / "dataset.json").read_text())
    records = sorted((out / "parts").iterdir())
    assert len(records) == 2
    for damage in ("content", "table", "record"):
        (out / "dataset.json").write_text(json.dumps({**head, "finished": False}))
        part = json.loads(records[0].read_text())
        if damage == "record":
            records[0].write_bytes(bytes(100))
        else:
            one = part["tables"][0] if damage == "table" else part["captures"][0]["result"]
            (out / one["file"]).write_bytes(bytes(one["bytes"]))
        left = total - len(part["captures"])
        assert len(list(dataset.opened(out).captures())) == left
        summary = analyze_many(tmp_path / "captures", out)
        assert (summary.skipped, summary.done) == (left, total - left)
        assert files(out) == whole


def test_what_an_interrupted_command_left(tmp_path: Path) -> None:
    """Publishing is cut off after each of its renames; readers and the next command go on."""
    out = filled(tmp_path, 2)
    whole = files(out)
    (record,) = (out / "parts").iterdir()
    part = json.loads(record.read_text())
    listed = [one["result"]["file"] for one in part["captures"]]
    listed += [table["file"] for table in part["tables"]]
    for moved in range(len(listed) + 1):
        left = out / ".done" / part["part"]
        left.mkdir(parents=True)
        for file in listed[moved:]:
            (out / file).rename(store.staged(left, file))
        record.rename(left / "record.json")
        assert len(list(dataset.opened(out).captures())) == 2
        assert files(out) == whole


def test_half_written_parts_are_swept_away(tmp_path: Path) -> None:
    out = filled(tmp_path, 2)
    whole = files(out)
    (out / ".partial" / "abc-123").mkdir()
    (out / ".partial" / "abc-123" / "half.json").write_text("{")
    (out / "tables" / "paths" / "lost.parquet").write_text("half")
    (out / "results" / "lost.json").write_text("half")
    (out / ".done" / "other").mkdir()
    analyze_many(tmp_path / "captures", out)
    assert files(out) == whole
    assert not list((out / ".partial").iterdir()) + list((out / ".done").iterdir())


def test_one_command_at_a_time(tmp_path: Path) -> None:
    filled(tmp_path, 1)
    with store.locked(tmp_path / "out"), pytest.raises(DatasetError, match="another command"):
        analyze_many(tmp_path / "captures", tmp_path / "out")


def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(SetError, match="no capture in there"):
        analyze_many(tmp_path / "empty", tmp_path / "out")
    assert not (tmp_path / "out").exists()
    fill(tmp_path / "captures", 1)
    with pytest.raises(DatasetError, match="not empty, and no dataset"):
        analyze_many(tmp_path / "captures", tmp_path / "captures")
    for options in (["--json"], ["--merge"], ["--ends"], ["--tables", "csv"]):
        found = inside("analyze", tmp_path, tmp_path, "--out", tmp_path / "out", *options)
        assert found.exit_code == 2
    found = inside("analyze", FAILOVER, "--jobs", 2)
    assert found.exit_code == 2
    assert "need --out" in found.stderr


def test_datasets_are_sets_of_runs(tmp_path: Path) -> None:
    analyze_many(CAPTURES / "failover-v6", tmp_path / "out")
    found = read_set(str(tmp_path / "out"), tmp_path)
    assert [one.name for one in found.runs] == [
        str(CAPTURES / "failover-v6" / f"{end}.pcapng") for end in ("client", "server")
    ]
    assert found.runs[0].document == analyze(FAILOVER).to_dict()


def test_runs_of_the_lab_stay_what_they_are(tmp_path: Path) -> None:
    run = tmp_path / "runs" / "one"
    shutil.copytree(CAPTURES / "lab-failover", run)
    ends = {end: f"{end}.pcapng" for end in ("client", "server")}
    facts = {"state": "complete", "scenario": "failover", "captures": ends, "runner": "uml"}
    (run / "run.json").write_text(json.dumps({"schema": "pathscope.run/1", **facts}))
    scenario = {"name": "failover", "paths": {}, "client": {"sctp": {"rto_max_ms": 500}}}
    (run / "scenario.json").write_text(json.dumps(scenario))
    summary = analyze_many(tmp_path / "runs", tmp_path / "out", jobs=1)
    assert (summary.done, summary.failures) == (1, ())
    (direct,) = read_set(str(run), tmp_path).runs
    (kept,) = read_set(str(tmp_path / "out"), tmp_path).runs
    assert kept == direct
    assert kept.settings == {"client.sctp.rto_max_ms": 500}
    (run / "events.jsonl").write_text("")
    assert analyze_many(tmp_path / "runs", tmp_path / "out").done == 1


def test_a_result_that_fits_no_table_stops_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = fill(tmp_path / "captures", 3)
    bad = [{"association": "not a number"}]
    rows_of = result_tables.rows_of

    def one_unfit(document: dict[str, Any]) -> dict[str, Any]:
        found = rows_of(document)
        is_bad = document["captures"][0]["path"] == str(made[1])
        return {**found, "associations": bad} if is_bad else found

    monkeypatch.setattr(result_tables, "rows_of", one_unfit)
    summary = analyze_many(tmp_path / "captures", tmp_path / "out")
    assert [(one.name, "table associations" in one.reason) for one in summary.failures] == [
        (str(made[1]), True)
    ]
    assert runs(tmp_path / "out") == [made[0].name, made[2].name]


def test_a_record_names_no_file_of_others(tmp_path: Path) -> None:
    out = filled(tmp_path, 1)
    (record,) = (out / "parts").iterdir()
    good = json.loads(record.read_text())
    for bad in ("../../etc/passwd", "/etc/passwd", "results/../../x.json", "results/x.json", 7):
        good["captures"][0]["result"]["file"] = bad
        record.write_text(json.dumps(good))
        with pytest.raises(DatasetError):
            dataset.opened(out)


def test_a_dataset_among_the_captures_is_none_of_them(tmp_path: Path) -> None:
    fill(tmp_path, 3)
    first = analyze_many(tmp_path, tmp_path / "out")
    again = analyze_many(tmp_path, tmp_path / "out")
    assert (first.done, again.done, again.skipped) == (3, 0, 3)


def test_readers_of_others(tmp_path: Path) -> None:
    filled(tmp_path, 3)
    for name, found in rows(tmp_path / "out").items():
        assert len(pd.read_parquet(tmp_path / "out" / name)) == len(found)
