"""Files in TOML: scenarios, studies, profiles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...analyzer.lines import document_of

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path, error: type[ValueError]) -> tuple[str, dict[str, Any]]:
    """Return a file's text, in which lines of keys are found, and the document in it.

    Raises
    ------
    ValueError
        The given one, when it is no TOML; the message names the file and the place.
    OSError
        When the file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError as mistake:
        raise error(f"{path}: at byte {mistake.start}: expected UTF-8 text") from mistake
    return text, document_of(text, str(path), error)
