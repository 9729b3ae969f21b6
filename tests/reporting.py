"""Reports of committed captures, and of one whose names are hostile; for tests that share them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from threading import Thread
from typing import Any

import pathscope
from crafting import Pcapng, ethernet_records
from pathscope.reports.compare.document import document as compare_document
from pathscope.reports.replay.document import document as fidelity_document
from pathscope.reports.report.data import ReportData, Shelf
from pathscope.reports.report.desk import Desk
from pathscope.reports.report.drawing import FIGURES
from pathscope.reports.report.load import How, load, numbered
from pathscope.reports.report.server import Server
from replayed_case import case as replayed
from running import CAPTURES, ROOT

FAILOVER = CAPTURES / "failover-v6"
SLOW, FAST = (ROOT / "fixtures" / "compare" / name for name in ("rto-1000", "rto-500"))
PREFIXES = ("2001:db8:1::/64", "2001:db8:2::/64")
LABELS = (f"{PREFIXES[0]}=wlan", f"{PREFIXES[1]}=cellular")

SCRIPT = "<script>window.taken=1</script>"
IMAGE = "<img src=x onerror='window.taken=1'>"
QUOTES = "\"' onmouseover='window.taken=1' x=\""
BIDI = "<b>wlan\u202e\u2066</b>${x}$"
FORMULA = '=HYPERLINK("http://example.org")'


def failover() -> ReportData:
    """The client's capture of the committed failover, with its events."""
    how = How(events=FAILOVER / "events.jsonl", labels=LABELS)
    return load([str(FAILOVER / "client.pcapng")], how)


@cache
def comparison() -> dict[str, Any]:
    """What `pathscope compare` says of the committed sets."""
    return compare_document(pathscope.compare(str(SLOW), str(FAST)), 0)


@cache
def fidelity() -> dict[str, Any]:
    """What `pathscope replay` says of a replay that partly failed."""
    return fidelity_document(replayed())


def everything(folder: Path) -> ReportData:
    """The failover, the runs of a set, a comparison and a replay: something on every page."""
    given = {"comparison": comparison(), "fidelity": fidelity()}
    for name, document in given.items():
        (folder / f"{name}.json").write_text(json.dumps(document, allow_nan=False))
    names = [FAILOVER / "client.pcapng", FAST, *(folder / f"{name}.json" for name in given)]
    return load([str(one) for one in names], How(FAILOVER / "events.jsonl", LABELS))


def flows() -> ReportData:
    return load([str(CAPTURES / "flows-mixed" / "flows.pcap")], How())


def hostile(folder: Path) -> ReportData:
    """A capture whose interface names and comments are markup and formulas."""
    file = Pcapng()
    file.section(file.option(1, SCRIPT.encode()), file.option(0, b""))
    for name in (SCRIPT, IMAGE, FORMULA):
        file.interface(name)
    records = ethernet_records(30)
    for number, record in enumerate(records):
        file.packet(replace(record, interface=number % 3, comment=IMAGE if number < 3 else None))
    path = folder / f"{IMAGE.replace('/', '')}.pcapng"
    path.write_bytes(file.bytes())
    return load([str(path)], How(labels=(f"10.0.0.1={SCRIPT}",)))


def all_hostile(folder: Path) -> ReportData:
    """That capture, a handover between paths of such names, documents full of them."""
    labels = [f"{prefix}={name}" for prefix, name in zip(PREFIXES, (IMAGE, BIDI), strict=True)]
    how = How(events=FAILOVER / "events.jsonl", labels=tuple(labels))
    (handover,) = load([str(FAILOVER / "client.pcapng")], how).cases
    runs = [replace(one, scenario=QUOTES) for one in load([str(FAST)], How()).cases]
    return ReportData(
        numbered((*hostile(folder).cases, handover, *runs)),
        tainted(comparison()),
        ((SCRIPT, tainted(fidelity())),),
        ((IMAGE, SCRIPT),),
    )


def tainted(document: Any, key: str = "") -> Any:
    """Put markup into every name of a document."""
    if isinstance(document, dict):
        return {name: tainted(value, name) for name, value in document.items()}
    if isinstance(document, list):
        return [tainted(one, key) for one in document]
    is_name = isinstance(document, str) and key in ("name", "path", "baseline", "candidate", "text")
    return f"{IMAGE}{document}" if is_name else document


def desk(data: ReportData) -> Desk:
    return Desk(Shelf(data), FIGURES)


@contextmanager
def served(
    shown: ReportData | Shelf, *, token: str | None = None, is_watched: bool = False
) -> Iterator[str]:
    """Serve a report on a free port; gives its address, the token included."""
    shelf = shown if isinstance(shown, Shelf) else Shelf(shown)
    server = Server(shelf, "127.0.0.1", 0, token, is_watched=is_watched)
    thread = Thread(target=server.serve)
    thread.start()
    try:
        yield server.settings.url
    finally:
        server.stop()
        thread.join()
