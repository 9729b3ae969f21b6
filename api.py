"""The public Python API: read a capture, analyze it, dissect it."""

from __future__ import annotations

import sys
from dataclasses import dataclass, replace
from importlib import import_module
from os import PathLike
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

from .dissectors import ledger as ledgers
from .dissectors.ledger import Ledger, ReadOptions, Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pyarrow as pa

    from .analyzer.ends.run import Ends
    from .analyzer.flow_model import Connection, Flow, IcmpError
    from .analyzer.labels import LabelRule
    from .analyzer.model import Association, CaptureResult, LinkEvent
    from .analyzer.thresholds import Thresholds
    from .dissectors.frame import Decoder, Frame
    from .dissectors.selection import Window
    from .reports.folder import TableFormat

# The rest is imported by the function that needs it: reading a capture of some thousand packets
# takes less time than importing all of the package.


@dataclass(frozen=True, slots=True)
class Analysis:
    """An analyzed capture: its ledger, and what has been made of it.

    `other` is the ledger of the capture of the other end, where there is one; `events` are the link
    changes of the events file that it was made with.
    """

    ledger: Ledger
    result: CaptureResult
    other: Ledger | None = None
    events: tuple[LinkEvent, ...] = ()

    @property
    def ledgers(self) -> tuple[Ledger, ...]:
        """The ledgers, in the order of `captures` in the result contract."""
        return (self.ledger,) if self.other is None else (self.ledger, self.other)

    @property
    def associations(self) -> tuple[Association, ...]:
        """The associations, in order of first sight."""
        return self.result.associations

    @property
    def flows(self) -> tuple[Flow, ...]:
        """TCP and UDP flows by number: the largest, where `ReadOptions.flows` was set."""
        return self.result.flows

    @property
    def connections(self) -> tuple[Connection, ...]:
        """MPTCP connections, likewise."""
        return self.result.connections

    @property
    def icmp(self) -> tuple[IcmpError, ...]:
        """ICMP errors in time order: the first, likewise."""
        return self.result.icmp

    @property
    def warnings(self) -> tuple[str, ...]:
        """What limits the numbers."""
        return self.result.warnings

    def judged(self, thresholds: Thresholds | Path | str) -> Analysis:
        """Return the analysis with its numbers held against limits, in `result.verdicts`.

        Parameters
        ----------
        thresholds
            Limits; or what `read_thresholds` reads them from, and raises what it raises.
        """
        from .analyzer.verdicts import judge

        if isinstance(thresholds, Path | str):
            thresholds = read_thresholds(thresholds)
        return replace(self, result=replace(self.result, verdicts=judge(self.result, thresholds)))

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis as the result contract `pathscope.result/1`."""
        from .reports.contract import result

        return result([self.result])

    def to_qlog(self) -> dict[str, Any]:
        """Return what each end did on its paths as qlog events (docs/exports.md)."""
        from .reports.qlog import document

        return document([self])

    def write(
        self, folder: Path | str, form: TableFormat = "parquet", *, force: bool = False
    ) -> Path:
        """Write the result, and every table of it and of the ledger, to a folder.

        Parameters
        ----------
        folder
            Made when it is missing.
        form
            Of the tables: `parquet` or `csv`.
        force
            Write although the folder holds something.

        Returns
        -------
        Path
            Its manifest, which is written last (docs/exports.md).

        Raises
        ------
        FileExistsError
            When the folder is not empty and `force` is not given.
        OSError
            When something cannot be written.
        """
        from .reports.folder import write_folder

        return write_folder(Path(folder), self.to_dict(), self.ledgers, form, force=force)


def read(source: Source, options: ReadOptions | None = None) -> Ledger:
    """Read a capture into its ledger.

    Parameters
    ----------
    source
        A pcap, pcapng or snoop file or an ns-2 trace, plain or compressed with gzip, zstd, xz or
        lz4; `-` for standard input; or several files, which are merged by time.
    options
        How to read it.

    Raises
    ------
    CaptureError
        When the file cannot be opened or is no capture.
    FilterError
        When libpcap does not take the filter.
    """
    return ledgers.read(source, options)


def dissect(
    source: Source,
    table: str = ledgers.CHUNKS,
    options: ReadOptions | None = None,
    *,
    window: Window | None = None,
    association: int | None = None,
    index: Path | str | None = None,
) -> Iterator[pa.RecordBatch]:
    """Stream a table of a capture as Arrow record batches; at least one, which may be empty.

    Where an offset index lies beside the capture and fits (docs/offset-index.md), it is used: the
    rows are the same.

    Parameters
    ----------
    source
        The capture, as for `read`.
    table
        A table of the ledger, or a streamed one: `chunks`, `segments` of TCP, `datagrams` of UDP,
        each with every field, `messages`, every user message, and `frames`, every frame with what
        became of it.
    options
        How to read it. The tables of flows are filled whether or not `flows` is set.
    window
        Only rows whose time is in the window, or whose span touches it.
    association
        Only rows of this association.
    index
        Folder of the offset index, where it is elsewhere than beside the capture.

    Raises
    ------
    KeyError
        When there is no such table.
    ValueError
        When the table has no times or no associations to select by, or the window ends before it
        begins.
    CaptureError
        As `read`; also, after everything before it was given out, when the file is damaged.
    FilterError
        When libpcap does not take the filter.
    """
    from .dissectors.rows import rows
    from .dissectors.selection import Selection

    folder = None if index is None else Path(index)
    return rows(source, table, options, Selection(window, association), folder)


def show(
    capture: str | PathLike[str],
    frame: int,
    options: ReadOptions | None = None,
    *,
    decoder: Decoder = "auto",
    index: Path | str | None = None,
) -> Frame:
    """Decode one frame, layer by layer, and say what the tracker knows of it.

    Parameters
    ----------
    capture
        A capture file; `-` for standard input, of which the tracker then knows nothing.
    frame
        Its number in the file, from 1.
    options
        How to read the capture.
    decoder
        `tshark` (by way of pyshark), `own`, or `auto`: tshark where both are installed and can
        read the capture.
    index
        Folder of the offset index, where it is elsewhere than beside the capture.

    Raises
    ------
    ValueError
        When there is no such frame.
    CaptureError
        When the file cannot be opened or is no capture.
    TsharkError
        When `tshark` is asked for, and is not there or cannot read the capture.
    """
    from .dissectors.frame import decode

    folder = None if index is None else Path(index)
    return decode(Path(capture), frame, options or ReadOptions(), decoder, folder)


def analyze(
    source: Source,
    *,
    events: Path | str | None = None,
    labels: Iterable[str] = (),
    options: ReadOptions | None = None,
    progress: Callable[[int, int | None], None] | None = None,
    end: str = "both",
    index: Path | str | None = None,
) -> Analysis:
    """Analyze a capture: associations, paths, handovers and why they took as long as they did.

    Parameters
    ----------
    source
        A pcap, pcapng or snoop file or an ns-2 trace, plain or compressed with gzip, zstd, xz or
        lz4; `-` for standard input; or several files, which are merged by time. Or the folder of a
        run of the lab (docs/lab.md), whose own events and names of paths are then used.
    events
        A file of JSON lines with link changes (docs/events.md).
    labels
        Names for paths, such as `10.0.1.0/24=wlan`.
    options
        How to read the capture; None for `ReadOptions(flows=True)`, as the command does.
    progress
        Called now and then with bytes read and bytes in all (None when not known).
    end
        Whose capture of a run is analyzed: `client`, `server`, or `both`: the client's, completed
        by the server's where the run has one (docs/two-captures.md).
    index
        Also write the offset index of the capture, one plain file, to this folder, in the same
        pass (docs/index.md).

    Raises
    ------
    CaptureError
        When the file cannot be opened or is no capture.
    FilterError
        When libpcap does not take the filter.
    ValueError
        When a label or an event cannot be read, or a folder holds no complete run; the message
        says which and why.
    OSError
        When the events file cannot be read, or the index not be written.
    """
    if isinstance(source, str | PathLike) and (place := Path(source)).is_dir():
        from .replay.lab import folder

        if folder.is_run(place):
            first, *more = folder.chosen(place, end)
            source, events = first, events or place / folder.EVENTS
            options = options or ReadOptions(flows=True)
            options = replace(options, hosts=options.hosts or folder.hosts(place))
            labels = (*labels, *folder.labels(place))  # the first rule that fits counts
            if more:
                if index is not None:
                    raise ValueError(f"{place} has captures of both ends: an index is of one file")
                both = _Two(first, more[0], forced=True, events=events, labels=labels)
                return both.analyze(options, progress)[0]
    rules = _rules(labels)
    link_events = [] if events is None else _events(Path(events))
    _import_meanwhile()
    options = options or ReadOptions(flows=True)
    if index is None:
        ledger = ledgers.read(source, options, progress)
    else:
        ledger = _read_and_index(source, options, progress, Path(index))
    from .analyzer.associations import analyze_ledger

    result = analyze_ledger(ledger, link_events, rules)
    return Analysis(ledger, result, events=tuple(link_events))


def _import_meanwhile() -> None:
    """Import what a pass is followed by: it runs without Python's lock, so this takes no time."""
    if f"{__package__}.analyzer.associations" not in sys.modules:
        # No daemon: one that is stopped in the middle of an import can take the process with it.
        Thread(target=import_module, args=(".analyzer.associations", __package__)).start()


def _read_and_index(
    source: Source,
    options: ReadOptions,
    progress: Callable[[int, int | None], None] | None,
    folder: Path,
) -> Ledger:
    from .dissectors import indexing

    capture, *more = ledgers.paths_of(source)
    if more:
        raise ValueError(f"an index is of one file, and these are {len(more) + 1}")
    return indexing.read(Path(capture), options, progress, folder)


def analyze_two(
    first: Source,
    second: Source,
    *,
    ends: bool | None = None,
    events: Path | str | None = None,
    labels: Iterable[str] = (),
    options: ReadOptions | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> tuple[Analysis, ...]:
    """Analyze two captures: as the two ends of one run, or each by itself.

    They are two ends when most of the packets that either has of the time in which both ran are in
    the other, too (docs/two-captures.md). Then there is one analysis: that of the first, by its
    clock and its frames, with what became of every packet until the second.

    Parameters
    ----------
    first, second
        As for `analyze`, but for folders.
    ends
        True: they are two ends, as long as any packet is in both. False: they are not. None: find
        out.
    events, labels, options, progress
        As for `analyze`; `progress` is told of the one, then of the other.

    Raises
    ------
    ValueError
        Also when `ends` is true and no packet is in both.
    CaptureError, FilterError, OSError
        As `analyze`.
    """
    both = _Two(first, second, forced=ends, needed=ends is True, events=events, labels=labels)
    return both.analyze(options, progress)


@dataclass(frozen=True, slots=True)
class _Two:
    """Two captures to analyze together; `forced` is `ends` of `analyze_two`.

    `needed`: it is an error when they are not two ends.
    """

    first: Source
    second: Source
    forced: bool | None
    events: Path | str | None
    labels: Iterable[str]
    needed: bool = False

    def analyze(
        self, options: ReadOptions | None, progress: Callable[[int, int | None], None] | None
    ) -> tuple[Analysis, ...]:
        rules = _rules(self.labels)
        link_events = [] if self.events is None else _events(Path(self.events))
        _import_meanwhile()
        options = options or ReadOptions(flows=True)
        reading = options if self.forced is False else replace(options, sightings=True)
        one, other = _read_both((self.first, self.second), reading, progress)
        kept = [each.tables[ledgers.SIGHTINGS] for each in (one, other) if options.sightings]
        ends = None if self.forced is False else self._fit(one, other)
        for each, table in zip((one, other), kept, strict=False):
            each.tables[ledgers.SIGHTINGS] = table
        from .analyzer.associations import analyze_ledger

        if ends is None:
            return tuple(
                Analysis(each, analyze_ledger(each, link_events, rules), events=tuple(link_events))
                for each in (one, other)
            )
        from .analyzer.ends.complete import complete

        result = complete(analyze_ledger(one, link_events, rules), ends, one, other)
        return (Analysis(one, result, other, tuple(link_events)),)

    def _fit(self, one: Ledger, other: Ledger) -> Ends | None:
        from .analyzer.ends.run import NotTwoEndsError, find_ends

        try:
            return find_ends(one, other, forced=self.forced is True)
        except NotTwoEndsError as error:
            if self.needed:
                raise ValueError(f"{one.path} and {other.path}: {error}") from error
            return None


def _read_both(
    sources: tuple[Source, Source],
    options: ReadOptions,
    progress: Callable[[int, int | None], None] | None,
) -> list[Ledger]:
    """Read one after the other, and tell of the bytes of both together."""
    before = last = 0

    def told(read_bytes: int, _: int | None) -> None:
        nonlocal last
        last = read_bytes
        if progress is not None:
            progress(before + read_bytes, None)

    found = []
    for source in sources:
        found.append(ledgers.read(source, options, told))
        before += last
    return found


def read_thresholds(source: Path | str) -> Thresholds:
    """Read limits for numbers (docs/verdicts.md).

    Parameters
    ----------
    source
        The name of a set that comes with pathscope, `itu`; else a TOML file.

    Raises
    ------
    ValueError
        When the file holds no limits; the message names file, line and key.
    OSError
        When the file cannot be read.
    """
    from .analyzer.thresholds import BUILT_IN, parse_thresholds
    from .reports import names

    if str(source) in BUILT_IN:
        return BUILT_IN[str(source)]
    return parse_thresholds(_text(Path(source)), str(source), names.metrics(), names.places())


def _rules(labels: Iterable[str]) -> tuple[LabelRule, ...]:
    if not (texts := tuple(labels)):
        return ()
    from .analyzer.labels import LabelRule

    return tuple(LabelRule.parse(text) for text in texts)


def _events(path: Path) -> list[LinkEvent]:
    from .analyzer.events import parse_events

    return parse_events(_text(path).splitlines(), str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: at byte {error.start}: expected UTF-8 text") from error
