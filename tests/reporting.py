"""Reports of committed captures, and of one whose names are hostile; for tests that share them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
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
from pathscope.reports.report.load import How, load
from pathscope.reports.report.server import Server
from replayed_case import case as replayed
from running import CAPTURES, ROOT

FAILOVER = CAPTURES / "failover-v6"
SLOW, FAST = (ROOT / "fixtures" / "compare" / name for name in ("rto-1000", "rto-500"))
LABELS = ("2001:db8:1::/64=wlan", "2001:db8:2::/64=cellular")

SCRIPT = "<script>window.taken=1</script>"
IMAGE = "<img src=x onerror='window.taken=1'>"
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
    from dataclasses import replace

    for number, record in enumerate(records):
        file.packet(replace(record, interface=number % 3, comment=IMAGE if number < 3 else None))
    path = folder / f"{IMAGE.replace('/', '')}.pcapng"
    path.write_bytes(file.bytes())
    return load([str(path)], How(labels=(f"10.0.0.1={SCRIPT}",)))


def desk(data: ReportData) -> Desk:
    return Desk(Shelf(data), FIGURES)


@contextmanager
def served(shown: ReportData | Shelf, *, is_watched: bool = False) -> Iterator[str]:
    """Serve a report on a free port; gives its address."""
    shelf = shown if isinstance(shown, Shelf) else Shelf(shown)
    server = Server(shelf, "127.0.0.1", 0, None, is_watched=is_watched)
    thread = Thread(target=server.serve)
    thread.start()
    try:
        yield server.settings.url
    finally:
        server.stop()
        thread.join()
