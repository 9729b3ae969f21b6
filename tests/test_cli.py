"""The command line with real files: what it shows, where, and with which exit code."""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pathscope
import pytest
from crafting import Pcapng, Record, ethernet_records, pcap
from pathscope.cli import COMMANDS, terminal
from pyarrow import parquet
from running import ASCONF, CAPTURES, FAILOVER, LOSSY, PROGRAM, ROOT, RUNS, inside, outside

EVENTS = FAILOVER.parent / "events.jsonl"


def test_python_m() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "pathscope", "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout == f"pathscope, version {pathscope.__version__}\n"


def loaded_by(*arguments: object) -> set[str]:
    """The modules that a command has imported when it is done."""
    code = (
        "import sys; from pathscope.cli import main\n"
        f"try: main({[str(one) for one in arguments]})\n"
        "except SystemExit: print('LOADED', *sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(found.stdout.rpartition("LOADED")[2].split())


SLOW = frozenset(
    {
        *("numpy", "pyarrow", "pandas", "scipy", "duckdb", "jsonschema", "rich", "pyshark"),
        *("plotly", "dash", "flask", "kaleido", "dask", "distributed", "fsspec"),
        *("asyncio", "concurrent.futures", "importlib.metadata", "multiprocessing", "subprocess"),
    }
)
"""What takes longer to import than help takes to print."""


@pytest.mark.parametrize(
    "arguments", [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)], ids=" ".join
)
def test_help_is_quick_to_start(arguments: list[str]) -> None:
    """Help, and completion at every key, must not wait for what only a reading needs."""
    loaded = loaded_by(*arguments)
    assert not loaded & SLOW
    assert not any(name.startswith("pathscope.analyzer") for name in loaded)


def test_analyze_loads_what_it_needs() -> None:
    loaded = loaded_by("analyze", LOSSY)
    assert "pathscope.analyzer.associations" in loaded
    assert not loaded & {"pandas", "pyarrow.compute", "pyarrow.parquet", "jsonschema"}
    assert not loaded & {f"pathscope.dissectors.{name}" for name in ("frame", "index")}


@pytest.mark.parametrize("run", RUNS)
def test_analyze_of_the_lab_runs(run: str) -> None:
    found = inside("analyze", ROOT / "fixtures" / "captures" / run / "client.pcapng")
    assert found.exit_code == 0
    assert found.stderr == ""
    assert found.stdout.startswith(str(ROOT / "fixtures" / "captures" / run))
    assert not any(line.endswith(" ") for line in found.stdout.splitlines())


def test_several_captures() -> None:
    found = inside("analyze", FAILOVER, ASCONF, LOSSY)
    assert found.exit_code == 0
    places = [found.stdout.index(str(capture)) for capture in (FAILOVER, ASCONF, LOSSY)]
    assert places == sorted(places)


def test_out_writes_the_contract_and_every_table(tmp_path: Path) -> None:
    out = tmp_path / "results"
    found = inside("analyze", FAILOVER, LOSSY, "--out", out, "--json")
    assert found.exit_code == 0
    assert found.stderr == f"wrote {out / 'result.json'} and the tables of 2 captures\n"
    assert json.loads((out / "result.json").read_text()) == json.loads(found.stdout)
    folders = sorted(path.name for path in out.iterdir() if path.is_dir())
    assert folders == ["ledger", "results"]
    runs = parquet.read_table(out / "ledger" / "runs.parquet").to_pylist()
    assert sum(run["chunks"] for run in runs if run["capture"] == 0) == 1500


def test_bins_have_the_width_asked_for(tmp_path: Path) -> None:
    inside("analyze", LOSSY, "--bin", "250", "--out", tmp_path / "out")
    starts = parquet.read_table(tmp_path / "out" / "ledger" / "intervals.parquet")
    assert {start % 250_000_000 for start in starts["start_ns"].to_pylist()} == {0}


def test_labels_name_paths() -> None:
    found = inside("analyze", FAILOVER, "--label", "2001:db8:1::/64=WLAN", "--label", "::/0=rest")
    assert "a: WLAN -> rest at" in found.stdout


def test_events_annotate() -> None:
    plain = json.loads(inside("analyze", FAILOVER, "--json").stdout)
    told = json.loads(inside("analyze", FAILOVER, "--json", "--events", EVENTS).stdout)
    fail = [
        document["associations"][0]["handovers"][0]["instants"]["t_fail"]
        for document in (plain, told)
    ]
    assert fail[0]["basis"] == "inferred"
    assert fail[1]["basis"] == "annotated"
    assert fail[1]["ns"] == 1795242154_156388300  # the file's own digits


def test_packet_comments_annotate(tmp_path: Path) -> None:
    """A comment says what an events file says, at its packet's time."""
    records = ethernet_records(3)
    noted = Record(records[1].time_ns, records[1].data, comment="pathscope: link down nowhere")
    file = Pcapng().section().interface("wlan0").packets([records[0], noted, records[2]])
    path = tmp_path / "noted.pcapng"
    path.write_bytes(file.bytes())
    found = inside("analyze", path)
    assert "warning: comment of frame 2: no path is called 'nowhere'" in found.stdout


def test_filter_is_libpcaps() -> None:
    found = json.loads(
        inside("analyze", FAILOVER, "--json", "--filter", "net 2001:db8:2::/64").stdout
    )
    (association,) = found["associations"]
    assert {path["interface"] for path in association["paths"]} == {"v2"}


def test_info_of_a_damaged_capture(tmp_path: Path) -> None:
    path = tmp_path / "cut.pcap"
    path.write_bytes(pcap(ethernet_records(3))[:-5])
    found = inside("info", path)
    assert found.exit_code == 0
    assert "frames read             2\n" in found.stdout
    assert "damage                  " in found.stdout


@pytest.mark.parametrize("form", ["csv", "json", "parquet"])
def test_dissect_to_a_file_and_to_standard_output(tmp_path: Path, form: str) -> None:
    path = tmp_path / "chunks"
    found = inside("dissect", LOSSY, "--format", form, "-o", path)
    assert found.exit_code == 0
    assert found.stdout == ""
    rows = int(found.stderr.split()[1])
    assert found.stderr == f"wrote {rows} rows to {path}\n"
    assert inside("dissect", LOSSY, "--format", form).stdout_bytes == path.read_bytes()


def test_dissect_of_a_cut_capture_gives_what_is_there(tmp_path: Path) -> None:
    cut = tmp_path / "cut.pcap"
    cut.write_bytes(pcap(ethernet_records(3))[:-5])
    for table, rows in (("chunks", 2), ("problems", 1)):
        found = inside("dissect", cut, "--table", table)
        assert found.exit_code == 0
        assert len(found.stdout.splitlines()) == 1 + rows
        assert found.stderr.startswith(
            "warning: the capture is damaged, the table goes up to there"
        )
        assert inside("dissect", cut, "--table", table, "--strict").exit_code == 1
    out = tmp_path / "out.csv"
    assert inside("dissect", cut, "-o", out).exit_code == 0
    assert len(out.read_text().splitlines()) == 3


def test_parquet_is_not_for_a_terminal() -> None:
    main, side = pty.openpty()
    try:
        found = subprocess.run(
            [*PROGRAM, "dissect", str(LOSSY), "--format", "parquet"],
            stdout=side, stderr=subprocess.PIPE, text=True, check=False,
        )  # fmt: skip
    finally:
        os.close(side)
        os.close(main)
    assert found.returncode == 2
    assert "Parquet is not for a terminal" in found.stderr


def _on_a_terminal(*arguments: str) -> str:
    """Run with standard error on a terminal; every file counts as a long one."""
    code = (
        "from pathscope.cli import main, terminal\n"
        "terminal.LONG_BYTES = 0\n"
        "main(prog_name='pathscope')"
    )
    main, side = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, stderr=side
        )
    finally:
        os.close(side)
    shown = b"".join(_until_closed(main))
    process.communicate(timeout=60)
    assert process.returncode == 0
    return shown.decode()


def _until_closed(terminal: int) -> Iterator[bytes]:
    try:
        while found := os.read(terminal, 4096):
            yield found
    except OSError:  # how Linux says that the other side has been closed
        pass
    finally:
        os.close(terminal)


def test_progress_is_for_a_terminal_and_for_long_work(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = _on_a_terminal("analyze", str(FAILOVER), "--json")
    assert "client.pcapng" in shown
    assert "%" in shown
    monkeypatch.setattr(terminal, "LONG_BYTES", 0)
    assert inside("analyze", FAILOVER, "--json").stderr == ""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str) -> None:
    found = outside("completion", shell)
    assert found.returncode == 0
    assert "_PATHSCOPE_COMPLETE" in found.stdout
    program = shutil.which(shell)
    if program is not None:
        syntax = [program, "-n"] if shell != "fish" else [program, "--no-execute"]
        subprocess.run(syntax, input=found.stdout, text=True, check=True)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("pathscope an", "plain,analyze"),
        ("pathscope dissect x.pcap --table ru", "plain,runs"),
        ("pathscope completion z", "plain,zsh"),
    ],
)
def test_completion(words: str, expected: str) -> None:
    asked = {
        "_PATHSCOPE_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    assert outside(environment=asked).stdout.splitlines() == [expected]


def test_tables_names_every_column() -> None:
    lines = inside("tables").stdout.splitlines()
    columns = [line.split()[0] for line in lines if line.startswith("  ")]
    assert columns == [row["column"] for row in pathscope.dissectors.ledger.describe()]
    assert inside("tables", "--table", "runs").stdout.startswith("runs: ")


def test_two_ends_or_each_by_itself() -> None:
    client, server = (CAPTURES / "lab-lossy" / f"{end}.pcapng" for end in ("client", "server"))
    both = inside("analyze", client, server)
    assert both.stdout.count("Association 0") == 1
    assert "From end to end" in both.stdout
    each = inside("analyze", client, server, "--no-ends")
    assert each.stdout.count("Association 0") == 2
    assert "From end to end" not in each.stdout
    assert inside("analyze", FAILOVER, LOSSY).stdout.count("Association 0") == 2


def test_ends_by_force() -> None:
    forced = inside("analyze", FAILOVER, LOSSY, "--ends")
    assert forced.exit_code == 2
    assert forced.stderr == f"Error: {FAILOVER} and {LOSSY}: no packet is in both captures\n"
    same = inside("analyze", LOSSY, LOSSY, "--ends")
    assert " packets in both" in same.stdout
    for wrong in ([LOSSY], [LOSSY, LOSSY, LOSSY], [LOSSY, LOSSY, "--merge"]):
        refused = inside("analyze", *wrong, "--ends")
        assert refused.exit_code == 2
        assert "--ends takes two captures, without --merge" in refused.stderr


def test_tables_of_both_ends_are_written(tmp_path: Path) -> None:
    client, server = (CAPTURES / "lab-lossy" / f"{end}.pcapng" for end in ("client", "server"))
    found = inside("analyze", client, server, "--out", tmp_path / "out")
    assert found.exit_code == 0
    written = {path.name for path in (tmp_path / "out").iterdir()}
    assert {"result.json", "manifest.json", "ledger", "results"} <= written
