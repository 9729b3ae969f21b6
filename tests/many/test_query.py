"""SQL over the tables, which reads them and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest
from manycaptures import fill
from pathscope import analyze, analyze_many
from pathscope.dissectors import ledger
from pathscope.many.query import QueryError, asked, tables
from running import FAILOVER, LOSSY, inside

ASSOCIATIONS = "SELECT run, association, packets FROM associations ORDER BY run"


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("query")
    fill(folder / "captures", 3)
    analyze_many([folder / "captures", FAILOVER], folder / "out", ledger=True)
    return folder / "out"


def test_rows_are_those_of_the_tables(out: Path) -> None:
    with asked(tables(out), ASSOCIATIONS) as answer:
        found = [row for batch in answer.batches for row in batch.to_pylist()]
    whole = pd.read_parquet(out / "tables" / "associations")
    wanted = whole.sort_values("run")[["run", "association", "packets"]].to_dict("records")
    assert found == wanted


def test_every_table_can_be_asked(out: Path) -> None:
    known = tables(out)
    kept = set(ledger.table_names()) - set(ledger.streamed_names())
    assert {name for name in known if name.startswith("ledger.")} == {f"ledger.{n}" for n in kept}
    for name, table in known.items():
        with asked(known, f"FROM {name} SELECT count(*) AS n") as answer:
            assert next(answer.batches).to_pylist() == [{"n": table.rows()}]
    with asked(known, "SHOW ALL TABLES") as answer:
        assert sum(batch.num_rows for batch in answer.batches) >= len(known)


def test_a_join_of_result_and_ledger(out: Path) -> None:
    sql = (
        "SELECT count(*) AS n FROM handovers h JOIN ledger.runs r"
        " ON h.key = r.key AND h.association = r.association AND h.to_path = r.path"
    )
    with asked(tables(out), sql) as answer:
        assert next(answer.batches).to_pylist()[0]["n"] > 0


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_parquet('{out}/tables/paths/*.parquet')",
        "SELECT * FROM glob('/*')",
        "COPY associations TO '{out}/copy.csv'",
        "EXPORT DATABASE '{out}/export'",
        "ATTACH '{out}/new.db'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET temp_directory = '{out}'",
        "SELECT * FROM known",  # a variable of this process
        "CREATE TABLE mine AS SELECT 1; COPY mine TO '{out}/copy.csv'",
    ],
)
def test_it_reads_and_writes_nothing_else(sql: str, out: Path) -> None:
    before = sorted(out.rglob("*"))
    with pytest.raises(QueryError), asked(tables(out), sql.format(out=out)) as answer:
        list(answer.batches)
    assert sorted(out.rglob("*")) == before


def test_mistakes_are_told_with_their_place(out: Path) -> None:
    found = inside("query", out, "SELECT run FORM handovers")
    assert found.exit_code == 2
    assert "LINE 1: SELECT run FORM handovers" in found.stderr
    assert found.stderr.splitlines()[-1].strip().startswith("^")
    found = inside("query", out, "SELECT nothing FROM handovers")
    assert 'column "nothing" not found' in found.stderr
    found = inside("query", out, "SELECT CAST(run AS INTEGER) FROM associations")
    assert found.exit_code == 2
    assert "Traceback" not in found.stderr


def test_formats(out: Path, tmp_path: Path) -> None:
    shown = inside("query", out, ASSOCIATIONS, "--limit", 2)
    assert shown.exit_code == 0
    assert shown.stderr == "2 of 4 rows; --limit shows more\n"
    rows = pd.read_parquet(out / "tables" / "associations").sort_values("run")
    lines = inside("query", out, ASSOCIATIONS, "--format", "json").stdout.splitlines()
    assert [json.loads(line)["run"] for line in lines] == list(rows.run)
    inside("query", out, ASSOCIATIONS, "-o", tmp_path / "a.csv")
    inside("query", out, ASSOCIATIONS, "-o", tmp_path / "a.parquet")
    for found in (pd.read_csv(tmp_path / "a.csv"), pd.read_parquet(tmp_path / "a.parquet")):
        assert list(found.run) == list(rows.run)
        assert list(found.packets) == list(rows.packets)
    again = inside("query", out, ASSOCIATIONS, "-o", tmp_path / "a.csv")
    assert (again.exit_code, "--force" in again.stderr) == (2, True)


def test_sql_from_a_file(out: Path, tmp_path: Path) -> None:
    (tmp_path / "ask.sql").write_text("SELECT 6 * 7 AS answer")
    found = inside("query", out, "--file", tmp_path / "ask.sql", "--format", "csv")
    assert found.stdout == '"answer"\n42\n'


def test_tables_are_listed(out: Path) -> None:
    listed = inside("query", out, "--tables").stdout
    assert "One SCTP association over all its paths." in listed
    assert "ledger.runs" in listed
    columns = inside("query", out, "--tables", "handovers ledger.runs").stdout
    assert "Digest of the content" in columns
    assert inside("query", out, "--tables", "nothing").exit_code == 2


def test_the_folder_of_one_analysis(tmp_path: Path) -> None:
    analyze(LOSSY).write(tmp_path / "one")
    with asked(tables(tmp_path / "one"), "SELECT count(*) AS n FROM ledger.runs") as answer:
        assert next(answer.batches).to_pylist()[0]["n"] > 0
    analyze(LOSSY).write(tmp_path / "csv", "csv")
    found = inside("query", tmp_path / "csv", "SELECT 1")
    assert (found.exit_code, "--tables parquet" in found.stderr) == (2, True)
    found = inside("query", tmp_path, "SELECT 1")
    assert (found.exit_code, "expected a folder" in found.stderr) == (2, True)
