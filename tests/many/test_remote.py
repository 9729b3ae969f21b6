"""Captures behind addresses: the same results, without a copy, and told when they break off."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import fsspec
import psutil
import pytest
from manycaptures import fill, runs
from pathscope import analyze, analyze_many
from pathscope.many import dataset
from pathscope.many.remote import RemoteError, is_address, streamed
from pathscope.sets import SetError
from running import FAILOVER, inside

KILLER, BREAKING = "killer.pcapng", "breaking.pcapng"


class Server(SimpleHTTPRequestHandler):
    """Serves a folder; what reads the one file ends, the other breaks off."""

    def do_GET(self) -> None:
        name = Path(self.path).name
        reader = self._reader()
        if name == KILLER and reader is not None and reader != os.getpid():
            os.kill(reader, signal.SIGKILL)
        super().do_GET()

    def _reader(self) -> int | None:
        """Return the process at the other end of this connection."""
        for one in psutil.net_connections(kind="tcp"):
            if one.laddr == self.client_address and one.pid is not None:
                return int(one.pid)
        return None

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    folder = tmp_path / "served"
    folder.mkdir()
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Server, directory=str(folder)))
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield folder, f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def renamed(document: dict[str, Any], path: Path, address: str) -> dict[str, Any]:
    for one in (document["captures"][0], *document["captures"][0]["files"]):
        assert one["path"] == str(path)
        one["path"] = address
    return document


def test_captures_behind_http(served: tuple[Path, str], tmp_path: Path) -> None:
    folder, address = served
    made = fill(folder, 3)
    (folder / "large.pcapng").write_bytes(FAILOVER.read_bytes())
    (folder / "no-capture.pcap").write_text("Dear Sir or Madam")
    wanted = {f"{address}/{path.name}": path for path in (*made, folder / "large.pcapng")}
    summary = analyze_many([*wanted, f"{address}/no-capture.pcap"], tmp_path / "out")
    assert [one.name for one in summary.failures] == [f"{address}/no-capture.pcap"]
    assert "/dev/fd" not in summary.failures[0].reason
    found = {one["run"]: document for one, document in dataset.opened(tmp_path / "out").results()}
    assert found == {
        name: renamed(analyze(path).to_dict(), path, name) for name, path in wanted.items()
    }
    again = analyze_many([*wanted], tmp_path / "out")
    assert (again.done, again.skipped) == (0, 4)


@pytest.mark.parametrize("way", ["/dir", "/dir/*.pcapng", "/dir/*"])
def test_folders_and_globs(way: str, tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    made = fill(tmp_path / "captures", 3)
    for path in made:
        memory.pipe_file(f"/dir/{path.name}", path.read_bytes())
    memory.pipe_file("/dir/notes.txt", b"no capture")
    try:
        summary = analyze_many(f"memory:/{way}", tmp_path / "out")
    finally:
        memory.rm("/dir", recursive=True)
    assert (summary.done, summary.failures) == (3, ())
    assert runs(tmp_path / "out") == [path.name for path in made]


def test_one_content_far_and_near(tmp_path: Path) -> None:
    (path,) = fill(tmp_path / "captures", 1)
    summary = analyze_many([path, f"file://{path}"], tmp_path / "out")
    assert (summary.done, summary.same) == (1, ((f"file://{path}", str(path)),))


def test_what_breaks_off_has_no_result(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/torn.pcapng", FAILOVER.read_bytes())
    opened = memory.open

    class Torn:
        def __init__(self, file: Any) -> None:
            self.file = file
            self.close = file.close

        def read(self, size: int) -> bytes:
            if self.file.tell():
                raise ConnectionResetError("connection reset by peer")
            return bytes(self.file.read(min(size, 300_000)))

    monkeypatch.setattr(memory, "open", lambda *a, **k: Torn(opened(*a, **k)))
    broken = pytest.raises(RemoteError, match="broke off: connection reset")
    with broken, streamed("memory://torn.pcapng") as path:
        analyze(path)
    summary = analyze_many("memory://torn.pcapng", tmp_path / "out")
    assert [one.reason for one in summary.failures] == [
        "memory://torn.pcapng: broke off: connection reset by peer"
    ]


def test_a_reader_may_stop_early() -> None:
    memory = fsspec.filesystem("memory")
    memory.pipe_file("/long.pcapng", bytes(8_000_000))
    with streamed("memory://long.pcapng") as path, Path(path).open("rb") as file:
        assert file.read(4) == bytes(4)


def test_a_capture_that_kills_its_workers(served: tuple[Path, str], tmp_path: Path) -> None:
    folder, address = served
    made = [*fill(folder, 5), folder / KILLER]
    made[-1].write_bytes(FAILOVER.read_bytes())
    names = [f"{address}/{path.name}" for path in made]
    out = tmp_path / "out"
    found = inside("analyze", *names, "--out", out, "--jobs", 2)
    assert found.exit_code == 3, found.stderr
    assert found.stderr.splitlines()[-1] == (
        f"Error: {names[-1]}: 2 workers in a row ended while they analyzed it"
    )
    assert runs(out) == [path.name for path in made[:-1]]


def test_refusals(served: tuple[Path, str], tmp_path: Path) -> None:
    _, address = served
    with pytest.raises(SetError, match="no capture in there"):
        analyze_many("memory://nowhere/*.pcap", tmp_path / "out")
    found = inside("analyze", f"{address}/missing.pcap", "--out", tmp_path / "out")
    assert found.exit_code == 2
    assert "missing.pcap" in found.stderr
    found = inside("analyze", "nosuch://bucket/a.pcap", "--out", tmp_path / "out")
    assert (found.exit_code, "nosuch://bucket/a.pcap" in found.stderr) == (2, True)
    assert inside("analyze", f"{address}/missing.pcap").exit_code == 2


def test_what_is_an_address() -> None:
    for text in ("s3://bucket/a.pcap", "http://host/a", "memory://a"):
        assert is_address(text)
    for text in ("a.pcap", "a:b/c.pcap", "://a", "../a b://c"):
        assert not is_address(text)
