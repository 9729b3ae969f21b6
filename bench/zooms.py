"""A report of one large capture in a process of its own: what its parts take, as JSON.

It is what `pathscope report CAPTURE` does, but for the socket: requests go to the Flask application
as a browser sends them, through Flask's test client.
"""

from __future__ import annotations

import json
import math
import random
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pathscope.reports.report.data import Case

HERE = "http://127.0.0.1:8050"

SEED = 8

NARROWEST_S = 0.01

LOOK = {"theme": "light", "width": 1280}

PACKET_ROWS = 100
"""That the table of packets asks for at once."""


class Browser:
    """Asks the application what a browser would ask it."""

    def __init__(self, app: Any, figures: tuple[str, ...]) -> None:
        self._client = app.server.test_client()
        self._figures = figures
        self._callbacks = {self._names(key): (key, one) for key, one in app.callback_map.items()}

    @staticmethod
    def _names(key: str) -> str:
        return key.strip(".").split("...", 1)[0]

    def get(self, address: str) -> None:
        """Fetch what is no callback."""
        answer = self._client.get(address, base_url=HERE)
        if answer.status_code != 200:
            sys.exit(f"{address}: {answer.status}: {answer.get_data(as_text=True)[:200]}")

    def page(self, address: str) -> None:
        """Ask for a page, and for every figure on it."""
        self._post("pages.children", {"address.href": HERE + address, "edition.data": None})
        self.figures(address)

    def figures(self, address: str) -> None:
        """Ask for every figure of the page: what a zoom does."""
        for name in self._figures:
            self._post(
                '{"name":["MATCH"],"part":"figure"}.figure',
                {"address.href": HERE + address, "look.data": LOOK},
                name,
            )

    def rows(self, address: str) -> None:
        """Ask for the first rows of the packets page."""
        request = {"startRow": 0, "endRow": PACKET_ROWS, "filterModel": {}, "sortModel": []}
        self._post(
            "packets.getRowsResponse",
            {"packets.getRowsRequest": request, "address.href": HERE + address},
        )

    def _post(self, first: str, values: dict[str, Any], name: str | None = None) -> None:
        key, callback = self._callbacks[first]
        outputs = [_resolved(one, name) for one in key.strip(".").split("...")]
        body = {
            "output": key,
            "outputs": outputs,
            "inputs": [_given(one, values, name) for one in callback["inputs"]],
            "state": [_given(one, values, name) for one in callback["state"]],
            "changedPropIds": [f"{one['id']}.{one['property']}" for one in callback["inputs"]],
        }
        answer = self._client.post("/_dash-update-component", json=body, base_url=HERE)
        if answer.status_code != 200:
            sys.exit(f"{first}: {answer.status}: {answer.get_data(as_text=True)[:200]}")
        if not answer.get_json()["response"]:
            sys.exit(f"{first}: nothing was answered")


def _resolved(output: str, name: str | None) -> dict[str, Any]:
    component, _, prop = output.rpartition(".")
    return {"id": _id(component, name), "property": prop.split("@")[0]}


def _given(one: dict[str, Any], values: dict[str, Any], name: str | None) -> dict[str, Any]:
    component = _id(one["id"], name)
    value = component if one["property"] == "id" else values.get(f"{one['id']}.{one['property']}")
    return {"id": component, "property": one["property"], "value": value}


def _id(component: str, name: str | None) -> Any:
    if not component.startswith("{"):
        return component
    return {key: name if key == "name" else one for key, one in json.loads(component).items()}


def windows(case: Case, number: int) -> Iterator[str]:
    """Yield windows of the capture as an address has them: of every length, anywhere in it."""
    chance = random.Random(SEED)  # noqa: S311  the same in every run
    capture = case.capture
    whole_s = (capture["end_ns"] - capture["start_ns"]) / 1e9
    for _ in range(number):
        length_s = math.exp(chance.uniform(math.log(NARROWEST_S), math.log(whole_s / 2)))
        start_s = chance.uniform(0, whole_s - length_s)
        yield f"from={start_s:.6f}&to={start_s + length_s:.6f}"


def main() -> None:
    """Make the report, and measure it."""
    capture, zooms = Path(sys.argv[1]), int(sys.argv[2])
    began = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix="pathscope-report-") as indexes:
        # Imported here, as the command does it: that is part of what a reader waits for.
        from pathscope.reports.report.app import create_app
        from pathscope.reports.report.data import ReportData
        from pathscope.reports.report.load import case_of_capture, numbered
        from pathscope.reports.report.pages import association

        (case,) = numbered([case_of_capture(capture, Path(indexes))])
        analyzed = time.perf_counter()
        browser = Browser(create_app(ReportData((case,))), association.FIGURES)
        for address in ("/", "/_dash-layout", "/_dash-dependencies"):
            browser.get(address)
        ready = time.perf_counter()
        browser.page("/association")
        first = time.perf_counter()
        taken: dict[str, list[float]] = {"page": [], "rows": []}
        for window in windows(case, zooms):
            start = time.perf_counter()
            browser.figures(f"/association?{window}")
            middle = time.perf_counter()
            browser.rows(f"/packets?{window}")
            taken["page"].append(middle - start)
            taken["rows"].append(time.perf_counter() - middle)
        is_quick = case.is_quick
        index_bytes = sum(one.stat().st_size for one in Path(indexes).rglob("*.parquet"))
    found = {
        "packets": case.capture["frames"]["read"],
        "is_quick": is_quick,
        "analysis_s": analyzed - began,
        "ready_s": ready - began,
        "first_page_s": first - ready,
        "figures": len(association.FIGURES),
        "page_s": taken["page"],
        "rows_s": taken["rows"],
        "index_bytes": index_bytes,
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
