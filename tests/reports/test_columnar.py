"""Tables of rows, beside what Arrow makes of the same rows."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.reports import columnar
from running import FAILOVER, ROOT

SCHEMA = pa.schema(
    [
        pa.field("number", pa.int64(), metadata={"description": "whole"}),
        ("value", pa.float64()),
        ("is_so", pa.bool_()),
        ("text", pa.string()),
        ("never", pa.string()),
    ],
    {"description": "All types that the contract has."},
)

VALUES: dict[str, st.SearchStrategy[Any]] = {
    "number": st.integers(-(2**63), 2**63 - 1),
    "value": st.floats(allow_nan=False) | st.integers(-(2**53), 2**53),
    "is_so": st.booleans(),
    "text": st.text(),
}

ROWS = st.lists(
    st.fixed_dictionaries({}, optional={name: st.none() | one for name, one in VALUES.items()}),
    max_size=20,
)


@given(ROWS)
def test_a_table_is_that_of_arrow(rows: list[dict[str, Any]]) -> None:
    made = columnar.table(rows, SCHEMA)
    made.validate(full=True)
    assert made.equals(pa.Table.from_pylist(rows, schema=SCHEMA), check_metadata=True)
    assert [column.null_count for column in made.columns] == [
        sum(row.get(name) is None for row in rows) for name in SCHEMA.names
    ]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"number": 1.0}, "column number: expected int64, found float"),
        ({"number": True}, "column number: expected int64, found bool"),
        ({"number": 2**63}, "column number: "),
        ({"value": "1"}, "column value: expected double, found str"),
        ({"is_so": 1}, "column is_so: expected bool, found int"),
        ({"text": b"x"}, "column text: expected string, found bytes"),
        ({"unknown": 1}, "no column unknown"),
    ],
)
def test_what_does_not_fit_is_refused(row: dict[str, Any], message: str) -> None:
    with pytest.raises(pa.ArrowInvalid, match=message):
        columnar.table([{}, row], SCHEMA)


def test_more_text_than_offsets_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(columnar, "MOST_BYTES", 5)
    assert columnar.table([{"text": "abcde"}], SCHEMA).num_rows == 1
    with pytest.raises(pa.ArrowInvalid, match="column text: its 6 bytes are too many"):
        columnar.table([{"text": "abcde"}, {"text": "f"}], SCHEMA)


def test_a_repeated_value() -> None:
    assert columnar.repeated(7, 3).equals(pa.array([7, 7, 7]))
    assert columnar.repeated("x", 2).equals(pa.array(["x", "x"]))
    assert len(columnar.repeated(7, 0)) == 0


@pytest.mark.parametrize("captures", [[FAILOVER], [FAILOVER, "--jobs", "1"]])
def test_pandas_is_not_imported(captures: list[object], tmp_path: Any) -> None:
    """It takes longer than the analysis."""
    words = ["analyze", *map(str, captures), "--out", str(tmp_path / "out")]
    script = (
        "import sys; from pathscope.cli import main\n"
        f"try: main({words!r})\n"
        "finally: assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], cwd=ROOT.parent, check=True)
