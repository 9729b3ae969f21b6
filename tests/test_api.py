"""The Python API: what it gives, and what it raises."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pathscope
import pyarrow as pa
import pytest
from pathscope.dissectors import ledger
from running import ASCONF, CAPTURES, FAILOVER, LOSSY

EVENTS = FAILOVER.parent / "events.jsonl"


def test_names() -> None:
    assert set(pathscope.__all__) <= set(dir(pathscope))
    assert all(getattr(pathscope, name) is not None for name in pathscope.__all__)


def test_analysis_has_objects_tables_and_the_contract() -> None:
    analysis = pathscope.analyze(FAILOVER, events=EVENTS, labels=["2001:db8:1::/64=WLAN"])
    (association,) = analysis.associations
    assert [handover.cause for handover in association.handovers] == ["timeout", "path-returned"]
    # What the lab's sender counted, and what the cut and the settings make of it (README there).
    assert association.totals["a"]["data_chunks"].value == 1515
    assert association.totals["a"]["retransmitted_chunks"].value == 15
    assert association.handovers[0].metrics["link_failure_recovery_s"].basis == "annotated"
    assert association.paths[0].label == "WLAN"
    assert analysis.to_dict()["associations"][0]["paths"][0]["label"] == "WLAN"
    runs = analysis.ledger.frame("runs")
    assert isinstance(runs, pd.DataFrame)
    assert runs["chunks"].sum() == 1500


def test_analysis_is_written_for_other_tools(tmp_path: Path) -> None:
    analysis = pathscope.analyze(FAILOVER)
    manifest = analysis.write(tmp_path / "out", "csv")
    assert manifest == tmp_path / "out" / "manifest.json"
    assert len(pd.read_csv(tmp_path / "out" / "results" / "handovers.csv")) == 2
    with pytest.raises(FileExistsError, match="is not empty"):
        analysis.write(tmp_path / "out")
    assert len(analysis.to_qlog()["traces"]) == 2


@pytest.mark.parametrize("table", [t for t in ledger.schemas() if t not in ledger.streamed_names()])
def test_frames_lose_no_digit(table: str) -> None:
    found = pathscope.read(ASCONF)
    frame = found.frame(table)
    arrow = found.tables[table]
    assert list(frame.columns) == arrow.column_names
    for name in (name for name in arrow.column_names if name.endswith("_ns")):
        if not pa.types.is_integer(arrow.schema.field(name).type):
            continue
        there = [value for value in arrow[name].to_pylist() if value is not None]
        assert [int(value) for value in frame[name].dropna()] == there


def test_dissect_streams_what_read_keeps() -> None:
    streamed = pa.Table.from_batches(pathscope.dissect(LOSSY, "heartbeats"))
    assert streamed.equals(pathscope.read(LOSSY).tables["heartbeats"])
    chunks = pa.Table.from_batches(pathscope.dissect(LOSSY))
    # 2000 messages and 90 retransmissions, by the lab's own count.
    assert chunks["chunk_name"].to_pylist().count("DATA") == 2090


def test_dissect_of_no_table() -> None:
    with pytest.raises(KeyError, match="speed"):
        pathscope.dissect(LOSSY, "speed")


def test_path_may_be_text_or_path() -> None:
    assert pathscope.read(str(LOSSY)).path == pathscope.read(LOSSY).path == str(LOSSY)


def test_progress_counts_up_to_the_whole_file() -> None:
    seen: list[tuple[int, int | None]] = []
    monkeypatched = pytest.MonkeyPatch()
    with monkeypatched.context() as patch:
        patch.setattr(ledger, "STEP_RECORDS", 100)
        pathscope.analyze(FAILOVER, progress=lambda done, whole: seen.append((done, whole)))
    size = FAILOVER.stat().st_size
    assert len(seen) > 10
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert {whole for _, whole in seen} == {size}
    assert size * 0.9 < seen[-1][0] <= size


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: pathscope.read(CAPTURES), pathscope.CaptureError, "Is a directory"),
        (lambda: pathscope.read("nowhere"), pathscope.CaptureError, "nowhere: No such file"),
        (lambda: pathscope.analyze(EVENTS), pathscope.CaptureError, "at byte 0: expected a pcap"),
        (
            lambda: pathscope.read(LOSSY, pathscope.ReadOptions(filter="prot tcp")),
            pathscope.FilterError,
            "capture filter: prot tcp: ",
        ),
        (lambda: pathscope.analyze(LOSSY, labels=["wlan"]), ValueError, "'wlan': expected NETWORK"),
        (lambda: pathscope.analyze(LOSSY, labels=["x=y"]), ValueError, "'x=y': expected NETWORK"),
        (lambda: pathscope.analyze(LOSSY, events=LOSSY), ValueError, "expected UTF-8 text"),
        (lambda: pathscope.analyze(LOSSY, events="nowhere"), FileNotFoundError, "nowhere"),
    ],
    ids=["folder", "missing", "text", "filter", "label", "network", "binary-events", "no-events"],
)
def test_what_is_raised(
    use: Callable[[], object], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(__file__).parent)
    with pytest.raises(error, match=message):
        use()
