"""Messages on file: what is written is what is read, and nothing else is taken for it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pathscope.replay.lab import messages
from pathscope.replay.lab.messages import Message

MESSAGES = st.builds(
    Message,
    st.integers(0, 2**62),
    st.integers(0, 65_535),
    st.booleans(),
    st.integers(0, 2**32 - 1),
    st.integers(0, 65_536),
)


@given(st.lists(MESSAGES))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, all_of: list[Message]
) -> None:
    file = tmp_path_factory.mktemp("messages") / messages.file_name("client")
    with file.open("w", encoding="ascii") as out:
        out.writelines(messages.lines(all_of))
    assert list(messages.read(file)) == all_of


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "client.messages:1: expected 'pathscope.messages/1"),
        ("pathscope.messages/2\n", "client.messages:1: expected"),
        (f"{messages.HEAD}\n1 2 1 0\n", "client.messages:2: expected five whole numbers"),
        (f"{messages.HEAD}\n1 2 1 0 5\nx 2 1 0 5\n", "client.messages:3: expected five"),
    ],
)
def test_anything_else_is_refused(tmp_path: Path, text: str, what: str) -> None:
    file = tmp_path / "client.messages"
    file.write_text(text, encoding="ascii")
    with pytest.raises(ValueError, match=what):
        list(messages.read(file))
