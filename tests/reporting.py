"""Reports of committed captures, and of one whose names are hostile; for tests that share them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

from crafting import Pcapng, ethernet_records
from pathscope.reports.report.data import ReportData, Shelf
from pathscope.reports.report.desk import Desk
from pathscope.reports.report.drawing import FIGURES
from pathscope.reports.report.load import How, load
from pathscope.reports.report.server import Server

CAPTURES = Path(__file__).parents[1] / "fixtures" / "captures"
FAILOVER = CAPTURES / "failover-v6"
LABELS = ("2001:db8:1::/64=wlan", "2001:db8:2::/64=cellular")

SCRIPT = "<script>window.taken=1</script>"
IMAGE = "<img src=x onerror='window.taken=1'>"
FORMULA = '=HYPERLINK("http://example.org")'


def failover() -> ReportData:
    """The client's capture of the committed failover, with its events."""
    how = How(events=FAILOVER / "events.jsonl", labels=LABELS)
    return load([str(FAILOVER / "client.pcapng")], how)


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
def served(data: ReportData, token: str | None = None) -> Iterator[str]:
    """Serve a report on a free port; gives its address."""
    server = Server(Shelf(data), "127.0.0.1", 0, token, is_watched=False)
    thread = Thread(target=server.serve)
    thread.start()
    try:
        yield server.settings.url
    finally:
        server.stop()
        thread.join()
