"""What changes a number of a dataset, apart from the captures: the settings that it was made with.

A dataset has one set of settings. What was made with others is made anew.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..dissectors import _core, index
from ..dissectors.ledger import ReadOptions

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..analyzer.thresholds import Thresholds

Node = dict[str, Any]

SKEW = (
    "it runs another pathscope than this command, whose numbers mean something else; install the"
    " same version everywhere"
)


class SkewError(ValueError):
    """Two processes that would not make the same numbers; the message says which."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the captures of a dataset are analyzed.

    Attributes
    ----------
    options, labels, events, end
        As for `api.analyze`; `events` is an absolute path, which every worker reads.
    thresholds
        Limits that numbers are held against.
    ledger
        Whether the dataset has the ledger's tables, too.
    made_with
        `definitions()` of the process that asked.
    files
        SHA-256 of the files that are named here, by what they are.
    """

    options: ReadOptions
    labels: tuple[str, ...] = ()
    events: str | None = None
    end: str = "both"
    thresholds: Thresholds | None = None
    ledger: bool = False
    made_with: str = ""
    files: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        options: ReadOptions | None,
        labels: Iterable[str],
        events: Path | str | None,
        end: str,
        thresholds: Path | str | None,
        *,
        ledger: bool,
    ) -> Settings:
        """Check settings before any work is done.

        Raises
        ------
        ValueError
            When a label, an event or a limit cannot be read.
        OSError
            When a file cannot be read.
        """
        from ..analyzer.labels import LabelRule
        from ..api import read_thresholds

        labels = tuple(labels)
        for label in labels:
            LabelRule.parse(label)
        place = None if events is None else Path(events).resolve()
        if place is not None:
            _check_events(place)
        named = {"events": place, "thresholds": thresholds}
        files = tuple(
            (what, _sha256(Path(path)))
            for what, path in named.items()
            if path is not None and Path(path).is_file()
        )
        return cls(
            options=options or ReadOptions(flows=True),
            labels=labels,
            events=None if place is None else str(place),
            end=end,
            thresholds=None if thresholds is None else read_thresholds(thresholds),
            ledger=ledger,
            made_with=definitions(),
            files=files,
        )

    def to_dict(self) -> Node:
        """Return the settings as `dataset.json` tells them."""
        return {
            "options": index.normal(self.options),
            "labels": list(self.labels),
            "end": self.end,
            "thresholds": None if self.thresholds is None else asdict(self.thresholds),
            "ledger": self.ledger,
            "files": dict(self.files),
            "definitions": self.made_with,
        }

    def digest(self) -> str:
        """Return what is different wherever a setting is."""
        text = json.dumps(self.to_dict(), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def check_same_code(self) -> None:
        """Refuse to work for a process of another pathscope.

        Raises
        ------
        SkewError
            When this process would give other columns, or another meaning to them.
        """
        if self.made_with != definitions():
            raise SkewError(f"a worker with pathscope {_core.__version__}: {SKEW}")


@cache
def definitions() -> str:
    """Return a digest of the version, of the ledger's columns and of the result contract."""
    from ..reports.result_shape import SCHEMA

    known = hashlib.sha256(index.definitions().encode())
    known.update(SCHEMA.read_bytes())
    return known.hexdigest()


def _check_events(path: Path) -> None:
    from ..analyzer.events import parse_events

    parse_events(path.read_text(encoding="utf-8").splitlines(), str(path))


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
