"""What goes into a measurement of a replay, and what comes out: plain data.

A route is one direction of one path, by its place in the log's header. Times are nanoseconds since
the replay's base, except those of captures, which are on their own clock.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt
    import pyarrow as pa

    from .counts import Counters
    from .tolerances import Tolerances

    Times = npt.NDArray[np.int64]
    Sizes = npt.NDArray[np.int64]
    Fingerprints = npt.NDArray[np.uint64]

Verdict = Literal["pass", "fail", "no verdict"]


class Log(Protocol):
    """The log of a replay, as its reader returns it."""

    @property
    def header(self) -> Mapping[str, Any]:
        """Routes, base times, and what the replay was."""

    @property
    def table(self) -> pa.Table:
        """One row a frame: route, due_ns, sent_ns, bytes, fingerprint, outcome."""


@dataclass(frozen=True, slots=True)
class Received:
    """Frames captured at the far end of a route, of one interface and in any order.

    `time_ns` is since 1970. Frames that leave on the same interface may be among them. `is_near`
    says that it is the route's first interface instead, behind its queue: all that there is where
    the other end is somebody else's.
    """

    time_ns: Times
    bytes: Sizes
    fingerprint: Fingerprints
    is_near: bool = False


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """An impairment of a route: when it was asked for, and between which instants it was set.

    `queue_packets` is the limit that netem was given, None: the one that the impairment says.
    """

    at_ns: int
    before_ns: int
    after_ns: int
    path: str
    direction: str
    impairment: Mapping[str, Any]
    queue_packets: int | None = None


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with its 95 % interval, and the chance of one so far off were all as asked for."""

    value: float
    low: float
    high: float
    p: float


@dataclass(frozen=True, slots=True)
class Row:
    """One quantity that was asked for, against what came of it.

    `quantity` is named like the impairment's key. `step` is its number on the route, None: over
    all steps. `asked` is None where nothing was, `tolerance` in the quantity's unit. `p` is None
    where counting decides and not chance; `p_adjusted` after Holm's correction over all rows.
    """

    route: int
    step: int | None
    quantity: str
    asked: float | None
    n: int
    verdict: Verdict
    why: str
    achieved: float | None = None
    low: float | None = None
    high: float | None = None
    tolerance: float = 0.0
    p: float | None = None
    p_adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of a route under one impairment, with the frames that were sent in it.

    `left_out` were sent while it was being set. `seen_after_ns` and `seen_by_ns` are when the last
    frame was sent that met the impairment before, and the first that met this one; None where
    the two do not differ so far that one frame shows it.
    """

    route: int
    number: int
    at_ns: int
    before_ns: int
    after_ns: int
    until_ns: int | None
    impairment: Mapping[str, Any]
    frames: int
    left_out: int
    overflow: int
    seen_after_ns: int | None = None
    seen_by_ns: int | None = None


@dataclass(frozen=True, slots=True)
class Bin:
    """A bin of a histogram: from `low_ns` to below `high_ns`; None: without an end."""

    low_ns: int | None
    high_ns: int | None
    count: int


@dataclass(frozen=True, slots=True)
class Spread:
    """Quantiles of a sample of times."""

    n: int
    p50_ns: float
    p95_ns: float
    p99_ns: float
    max_ns: float


@dataclass(frozen=True, slots=True)
class Pacing:
    """How well the sender kept its own times.

    `drift_ns` is the robust slope of lateness times the duration; `last_minus_first_ns` the median
    lateness of the last minute minus that of the first (of a tenth of a short run).
    `captured_gap_error` is by the capture at the sending side.
    """

    duration_ns: int
    lateness: Spread | None
    histogram: tuple[Bin, ...]
    early: int
    late: int
    gap_error: Spread | None
    captured_gap_error: Spread | None
    drift_ns: float | None
    last_minus_first_ns: float | None
    out_of_order: int


@dataclass(frozen=True, slots=True)
class RouteCounts:
    """What became of a route's frames.

    planned = sent + refused + dropped_late + errors. Where the far end was recorded, sent = arrived
    + corrupted + lost, and received = arrived + corrupted + copies + others. `copies` came more
    often than they were sent; `others` the sender never sent; `departures`, frames that leave
    there, are not among the received. `overflow` of the lost met a full queue. `ambiguous` frames
    were sent again, byte by byte the same, while they were on their way: which of them came when
    is not known.
    """

    route: int
    path: str
    direction: str
    planned: int
    sent: int
    refused: int
    dropped_late: int
    errors: int
    recorded: bool = False
    received: int = 0
    arrived: int = 0
    corrupted: int = 0
    lost: int = 0
    overflow: int = 0
    copies: int = 0
    others: int = 0
    departures: int = 0
    reordered: int = 0
    ambiguous: int = 0
    delay: Spread | None = None


@dataclass(frozen=True, slots=True)
class Balance:
    """Two counts of the same thing, and what explains that they differ."""

    where: str
    one: str
    one_count: int
    other: str
    other_count: int
    explained: int
    explanation: str
    verdict: Verdict

    @property
    def difference(self) -> int:
        """How many more the one has."""
        return self.one_count - self.other_count


@dataclass(frozen=True, slots=True)
class Check:
    """A number of the sender, or of a route, that is held to a tolerance."""

    quantity: str
    value: float | None
    limit: float
    verdict: Verdict
    why: str
    route: int | None = None


@dataclass(frozen=True, slots=True)
class Fidelity:
    """What a replay did, held against what it was to do."""

    header: Mapping[str, Any]
    tolerances: Tolerances
    pacing: Pacing
    routes: tuple[RouteCounts, ...]
    steps: tuple[Step, ...]
    checks: tuple[Check, ...]
    rows: tuple[Row, ...]
    balances: tuple[Balance, ...]
    counters: Mapping[int, Counters] = field(default_factory=dict)
    totals: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def verdicts(self) -> dict[Verdict, int]:
        """How many verdicts of each kind, over checks, rows and balances."""
        counts: dict[Verdict, int] = {"pass": 0, "fail": 0, "no verdict": 0}
        told = [one.verdict for one in self.checks]
        told += [one.verdict for one in self.rows]
        told += [one.verdict for one in self.balances]
        for verdict in told:
            counts[verdict] += 1
        return counts

    @property
    def failed(self) -> bool:
        """Whether any verdict is "fail"."""
        return self.verdicts["fail"] > 0

    @property
    def misses(self) -> tuple[int, float]:
        """How many rows' own 95 % intervals miss, and how many at most would by chance.

        Of rows without a tolerance: one that has some hardly ever misses by chance.
        """
        tried = [row.p for row in self.rows if row.p is not None and not row.tolerance]
        return sum(p < 0.05 for p in tried), 0.05 * len(tried)
