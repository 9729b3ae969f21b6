"""What a conformance run found: lines for a terminal, and docs/conformance.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from conformance.compare import Comparison
from conformance.packet import HEADERS
from conformance.sctp_fields import CHUNK_FIELDS

ROOT = Path(__file__).parents[2]
SHOWN = 20
HEAD = ("packets", "fields", "disagree", "explained", "unexplained")


@dataclass
class Folder:
    """A folder of captures and what comparing each gave."""

    path: Path
    results: list[Comparison]

    @property
    def name(self) -> str:
        """The folder's path in the repository, or its name."""
        path = self.path.resolve()
        return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else path.name

    @property
    def is_committed(self) -> bool:
        """Whether the folder is part of the repository."""
        return self.path.resolve().is_relative_to(ROOT)

    def capture(self, result: Comparison) -> str:
        """Name a capture relative to the folder."""
        return str(result.capture.relative_to(self.path))


def counts(results: Iterable[Comparison]) -> tuple[int, int, int, int, int]:
    """Return the columns of HEAD."""
    packets = fields = explained = unexplained = 0
    for result in results:
        packets += result.packets.total()
        fields += result.fields
        explained += len(result.explained)
        unexplained += len(result.unexplained)
    return packets, fields, explained + unexplained, explained, unexplained


def line(numbers: Iterable[object], name: str) -> str:
    """Lay out a line of the table for a terminal."""
    return " ".join(f"{number:>11}" for number in numbers) + f"  {name}"


def details(result: Comparison) -> Iterator[str]:
    """Say what is to be said about one capture, if anything, in lines."""
    if not result.disagreements and not result.notes:
        return
    yield from ("", result.capture.name)
    yield from (f"  note: {note}" for note in result.notes)
    shown = [*result.unexplained, *result.explained][:SHOWN]
    for found in shown:
        yield f"  frame {found.frame} {found.field}: {found.ours!r}, tshark {found.tshark!r}"
        if found.reason:
            yield f"    {found.reason}"
    if len(result.disagreements) > len(shown):
        yield f"  ... and {len(result.disagreements) - len(shown)} more"


def document(folders: list[Folder], version: str) -> str:
    """Return docs/conformance.md."""
    everything = [result for folder in folders for result in folder.results]
    return "\n".join(
        (
            INTRODUCTION.format(version=version, fields=compared_fields()),
            "## Folders\n",
            f"{FOLDERS}\n",
            *table(
                ("folder", "captures", "with packets", "SCTP", "TCP", "UDP", *HEAD[1:]),
                folder_rows(folders),
            ),
            "\n## Captures\n",
            "Every capture of the repository, and of the others those with a disagreement.\n",
            *table(("capture", *HEAD), capture_rows(folders)),
            "\n## Why they disagree\n",
            *table(("disagreements", "reason"), reason_rows(everything)),
            "",
        )
    )


INTRODUCTION = """\
# Agreement with tshark

*Does pathscope read packets as tshark does?*

pathscope's streamed tables against tshark {version}, frame by frame and field by field. This page
is written by `make conformance DIR="..." WRITE=docs/conformance.md`; `make conformance DIR=...`
does the same for captures of your own, and fails on a disagreement without a reason.

The captures under `fixtures` are part of the repository. The others are not, because they are
other people's: `sctp`, `flows` and `malformed` hold files that public projects keep with their
tests and their documentation, among them tcpdump, libpcap, Wireshark's samples, tcptrace, Zeek,
Suricata, PcapPlusPlus, usrsctp and Open5GS. A name is `owner__repository__path`, which is where
the file can be had.

## What is compared

{fields}

All of them as on the wire, but for `window_bytes`, which is scaled. Options are compared in
order, with their kinds and values: MSS, window scale, SACK-permitted, SACK blocks, timestamps,
every subtype of MPTCP field by field, any other kind by its bytes. The verdict on a checksum is
compared too; a sum that was left to the interface, `partial`, is bad to tshark.

Of packets inside packets it is the one that pathscope reads: the innermost of a tunnel's, SCTP in
UDP on port 9899, and none that an ICMP error quotes. A frame in which one side reads a packet and
the other none, or another protocol, is a disagreement. Where the capture cut a chunk, or tshark
gave up on a malformed one, what both show is compared.
"""

FOLDERS = (
    "A capture without packets of these protocols, or that neither can read, has none to compare."
)


def compared_fields() -> str:
    """List the fields that are compared, as a Markdown list."""
    names = {"SCTP": HEADERS["sctp"], "chunks": CHUNK_FIELDS}
    names |= {"TCP": HEADERS["tcp"], "UDP": HEADERS["udp"]}
    return "\n".join(
        f"- {name}: {', '.join(f'`{field}`' for field in fields)}" for name, fields in names.items()
    )


def table(head: Iterable[str], rows: Iterable[tuple[object, ...]]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    cells = list(head)
    yield f"| {' | '.join(cells)} |"
    yield "|" + "---|" * len(cells)
    for row in rows:
        yield f"| {' | '.join(str(cell) for cell in row)} |"


def folder_rows(folders: list[Folder]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each folder, and one for all."""

    def row(name: str, results: list[Comparison]) -> tuple[object, ...]:
        packets = sum((result.packets for result in results), Counter[str]())
        numbers = (packets[protocol] for protocol in ("sctp", "tcp", "udp"))
        filled = sum(result.packets.total() > 0 for result in results)
        return name, len(results), filled, *numbers, *counts(results)[1:]

    for folder in folders:
        yield row(f"`{folder.name}`", folder.results)
    yield row("all", [result for folder in folders for result in folder.results])


def capture_rows(folders: list[Folder]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each capture of the repository, and for each with a disagreement."""
    for folder in folders:
        for result in folder.results:
            if result.disagreements or folder.is_committed:
                yield capture_row(folder, result)


def capture_row(folder: Folder, result: Comparison) -> tuple[object, ...]:
    """Return the row of one capture."""
    return f"`{folder.name}/{folder.capture(result)}`", *counts([result])


def reason_rows(results: list[Comparison]) -> Iterator[tuple[object, ...]]:
    """Yield a row for each reason, the most frequent first."""
    reasons = Counter(found.reason for result in results for found in result.disagreements)
    for reason, count in reasons.most_common():
        yield count, reason or "none: a mistake of pathscope's or tshark's"
