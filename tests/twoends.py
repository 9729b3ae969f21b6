"""Two captures of a run of the lab, analyzed together."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from altering import packets
from pathscope import api
from pathscope.analyzer.ends.model import OtherEnd
from pathscope.analyzer.ends.run import Ends, find_ends
from pathscope.analyzer.measure import Measure
from pathscope.analyzer.model import CaptureResult
from pathscope.analyzer.transit import ABSENT_NS
from pathscope.dissectors.ledger import ReadOptions, read
from pathscope.replay.profiles.derived.model import Series
from pathscope.replay.profiles.derived.series import series
from running import CAPTURES

MS, SECOND = 1_000_000, 1_000_000_000
LOSSY, FAILOVER = CAPTURES / "lab-lossy", CAPTURES / "lab-failover"
READ = ReadOptions(flows=True, sightings=True)


def both(first: Path, second: Path) -> CaptureResult:
    (only,) = api.analyze_two(first, second)
    return only.result


def other_end(result: CaptureResult) -> OtherEnd:
    assert result.other_end is not None
    return result.other_end


def fitted(first: Path, second: Path, *, forced: bool = False) -> Ends:
    return find_ends(read(first, READ), read(second, READ), forced=forced)


def transits(result: CaptureResult) -> Iterator[tuple[str, dict[str, Measure]]]:
    """What every path and direction of every association says."""
    for association in result.associations:
        for path in association.paths:
            for end, direction in path.directions.items():
                if direction.transit is not None:
                    yield f"{association.number} {path.label} {end}", direction.transit


def holds(measure: Measure, value: float) -> bool:
    low = measure.value if measure.low is None else measure.low
    high = measure.value if measure.high is None else measure.high
    assert low is not None
    assert high is not None
    return low <= value <= high


def first_ns(capture: Path) -> int:
    return min(one.time_ns for one in packets(capture))


def lost_frames(ends: Ends) -> set[int]:
    """Frames of the client that are not in the server's capture."""
    return {
        frame
        for way in ends.ways.values()
        if way.leaving
        for frame in way.packets.frame[way.packets.arrived_ns == ABSENT_NS].tolist()
    }


def crossed(run: Path) -> list[Series]:
    """What crossed each route of a run of the lab, whose hosts have one clock."""
    ledgers = (read(run / f"{end}.pcapng", READ) for end in ("client", "server"))
    ends = find_ends(*ledgers, one_clock=True)
    first = api.analyze(run / "client.pcapng")
    return series(first.result, ends, int(first.ledger.capture["start_ns"]))
