"""What an analysis says: plain data, no behaviour.

Field names are those of the result contract (docs/result.md); a sender is "a" or "b".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from .measure import Instant, Measure

if TYPE_CHECKING:
    from .ends.model import OtherEnd
    from .flow_model import Connection, Flow, IcmpError
    from .receiver_model import Outage, Receiver, Waiting
    from .simulation import Simulation
    from .verdicts import Verdict

End = Literal["a", "b"]
Vantage = Literal["a", "b", "between", "unknown"]
Cause = Literal[
    "timeout",
    "potentially-failed",
    "set-primary",
    "address-deleted",
    "path-returned",
    "user-change",
    "unknown",
]
Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that applied, with the frames that show it."""

    rule: str
    severity: Severity
    text: str
    frames: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """A link that went down or came up, by the user's word."""

    ns: int
    up: bool
    name: str
    source: str


@dataclass(frozen=True, slots=True)
class State:
    """A path entering a state (RFC 9260 section 8, RFC 7829), as its sender must see it."""

    state: Literal["UNCONFIRMED", "ACTIVE", "PF", "INACTIVE"]
    at: Instant
    evidence: str


@dataclass(frozen=True, slots=True)
class Timeout:
    """An expiry of T3-rtx before a move.

    `rto_model_s` is what RFC 9260 makes of the round trips seen, doubled by the expiries before;
    `rto_clamped_s` the same between the inferred RTO.Min and RTO.Max.
    """

    at: Instant
    elapsed_s: float | None
    consecutive: int
    retransmission_path: int
    rto_model_s: float | None
    rto_clamped_s: float | None


@dataclass(frozen=True, slots=True)
class Excursion:
    """New DATA that left a path and came back before the path was given up."""

    sender: End
    from_path: int
    to_path: int
    cause: Cause
    cause_text: str
    start: Instant
    end: Instant
    chunks: int


@dataclass(frozen=True, slots=True)
class PredictionForm:
    """What one formula says that a sender's time-outs take, and how far off it is.

    `granularity_s` is how late timers fire together; `within_granularity` is None where there is
    nothing to compare.
    """

    name: str
    predicted_s: Measure
    difference_s: Measure
    granularity_s: Measure
    within_granularity: bool | None


@dataclass(frozen=True, slots=True)
class Prediction:
    """How long the time-outs that led to a handover took, beside what the formulas say."""

    timer_start: Instant
    measured_s: Measure
    forms: tuple[PredictionForm, ...]


@dataclass(frozen=True, slots=True)
class Handover:
    """New DATA of one sender that moved from one path to another and stayed."""

    sender: End
    from_path: int
    to_path: int
    cause: Cause
    cause_text: str
    cause_frames: tuple[int, ...]
    instants: dict[str, Instant]
    metrics: dict[str, Measure]
    timeouts: tuple[Timeout, ...]
    prediction: Prediction | None
    explanation: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Direction:
    """What one sender did on one path; `transit` is None without a capture of the other end."""

    metrics: dict[str, Measure]
    states: tuple[State, ...]
    heartbeats: dict[str, Measure]
    transit: dict[str, Measure] | None = None


@dataclass(frozen=True, slots=True)
class Path:
    """A pair of addresses with its label, and both directions."""

    number: int
    label: str
    a_address: str
    b_address: str
    interface: str | None
    directions: dict[End, Direction]
    outages: tuple[Outage, ...]


@dataclass(frozen=True, slots=True)
class AsconfExchange:
    """One ASCONF request and its outcome."""

    sender: End
    request: str
    address: str | None
    path: int
    at: Instant
    ack: Instant
    transmissions: int
    outcome: str
    cause: str | None
    delay_s: Measure


@dataclass(frozen=True, slots=True)
class HandoffRegion:
    """From an acknowledged ADD to the acknowledged DELETE after it (cSCTP)."""

    sender: End
    start: Instant
    end: Instant
    metrics: dict[str, Measure]


@dataclass(frozen=True, slots=True)
class HandoffPhase:
    """The signalling of one handover that ASCONF asked for; `handover` is its index."""

    handover: int
    instants: dict[str, Instant]
    metrics: dict[str, Measure]


@dataclass(frozen=True, slots=True)
class HandoffTimeline:
    """Set-up, first DATA, and every handover that ASCONF asked for (study N)."""

    instants: dict[str, Instant]
    metrics: dict[str, Measure]
    phases: tuple[HandoffPhase, ...]


@dataclass(frozen=True, slots=True)
class PathForecast:
    """What a sender's samples of one path had come to at the end of the capture."""

    path: int
    rtt_ns: Measure
    rate_bps: Measure


@dataclass(frozen=True, slots=True)
class Alternates:
    """The paths that a handover could have led to, in the orders in which they could be tried.

    `forecast` has those with a forecast, the least delay first; `unknown` the others;
    `divergent` all of them, in the order of RFC 9260 section 6.4.1.
    """

    handover: int
    at_ns: int
    forecast: tuple[int, ...]
    unknown: tuple[int, ...]
    divergent: tuple[int, ...]
    chosen: int
    excess_rtt_ns: Measure


@dataclass(frozen=True, slots=True)
class PathChoice:
    """Whether a sender was on the path of the least predicted delay, and what it cost if not.

    `kept` is the share of an old average that is kept at each sample.
    """

    kept: float
    metrics: dict[str, Measure]
    forecasts: tuple[PathForecast, ...]
    alternates: tuple[Alternates, ...]


@dataclass(frozen=True, slots=True)
class Timer:
    """A timer setting inferred from behaviour, with the number of observations."""

    measure: Measure
    evidence_count: int
    frames: tuple[int, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One end of an association."""

    addresses: tuple[str, ...]
    port: int
    vtag: int | None


@dataclass(frozen=True, slots=True)
class StreamProtocol:
    """What one payload protocol sent in a stream; `ppid` is None where it is not known."""

    ppid: int | None
    name: str
    messages: int
    user_bytes: int


@dataclass(frozen=True, slots=True)
class Stream:
    """User messages of one sender in one stream; `number` is None beyond the ledger's limit.

    `messages` is `complete` + `abandoned` + `partial` + `open`.
    """

    sender: End
    number: int | None
    protocols: tuple[StreamProtocol, ...]
    messages: int
    ordered: int
    fragmented: int
    complete: int
    abandoned: int
    partial: int
    open: int
    chunks: int
    user_bytes: int
    largest_message_bytes: Measure
    first: Instant
    last: Instant
    waiting: Waiting


@dataclass(frozen=True, slots=True)
class Authentication:
    """What one end announced of AUTH (RFC 4895), and what it sent."""

    random_bytes: int | None
    hmacs: tuple[str, ...]
    chunks: tuple[str, ...]
    auth_chunks: int
    used_hmacs: tuple[str, ...]
    used_keys: tuple[int, ...]
    unauthenticated_chunks: int
    unauthenticated_types: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ZeroChecksum:
    """Under which error detection method one end accepts packets without a checksum (RFC 9653).

    `uncovered_packets` are those that it sent without one and should not have.
    """

    accepted_method: int | None
    uncovered_packets: int


@dataclass(frozen=True, slots=True)
class Association:
    """One association over all its paths."""

    number: int
    endpoints: dict[End, Endpoint]
    start: Instant
    end: Instant
    established: Instant
    how_it_ended: str
    restart_of: int | None
    seen_handshake: bool
    captured_at: Vantage
    packets: int
    duplicate_frames: int
    zero_checksums: int
    zero_checksum: dict[End, ZeroChecksum]
    authentication: dict[End, Authentication | None]
    totals: dict[End, dict[str, Measure]]
    streams: tuple[Stream, ...]
    receivers: dict[End, Receiver]
    paths: tuple[Path, ...]
    handovers: tuple[Handover, ...]
    excursions: tuple[Excursion, ...]
    asconf: tuple[AsconfExchange, ...]
    handoff_regions: tuple[HandoffRegion, ...]
    handoff: dict[str, Measure]
    timeline: HandoffTimeline
    path_choice: dict[End, PathChoice]
    timers: dict[End, dict[str, Timer]]
    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class CaptureResult:
    """All that one capture says.

    `flows`, `connections` and `icmp` are empty where flows were not followed; of many flows, they
    have the largest (docs/metrics.md). `other_end` is what a second capture, of the other end,
    adds; `simulation`, what a simulator's trace tells beyond a capture.
    """

    path: str
    capture: dict[str, Any]
    associations: tuple[Association, ...]
    warnings: tuple[str, ...] = ()
    flows: tuple[Flow, ...] = ()
    connections: tuple[Connection, ...] = ()
    icmp: tuple[IcmpError, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    simulation: Simulation | None = None
    other_end: OtherEnd | None = None
