"""What is made again: an association or a flow, with all that is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from . import messages
from .errors import LiveError
from .timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .messages import Sent
    from .paths import Paths
    from .settings import Chosen
    from .trace import SeenAt

NS_PER_S = 1_000_000_000

LONGEST_S = 86_400
"""Of a scenario."""

QUIET_S = 0.05
"""After the last message: it is under way before its sender closes."""


@dataclass(frozen=True, slots=True)
class Talk:
    """What is to be made again: one association, or one flow.

    Attributes
    ----------
    name
        What the scenario is called.
    what
        Which it is, in words.
    protocol
        `sctp`, `tcp` or `udp`.
    number
        Of the association or flow in the trace's analysis.
    seen_at
        Which captures of a run show what the trace does: `client`, `server` or `both`.
    paths
        The lab's.
    primary
        Name of the path that the first new data took.
    zero_ns
        When the connection was up, since the trace's first frame.
    end_ns
        When it was over, since it was up.
    sent
        What client and server sent.
    settings
        Of SCTP, of both ends; of other protocols none.
    acts
        What the ends did beside sending.
    at_start
        Which ends have their address of each path from the beginning.
    warnings
        What is not as it was.
    """

    name: str
    what: str
    protocol: str
    number: int
    seen_at: SeenAt
    paths: Paths
    primary: str
    zero_ns: int
    end_ns: int
    sent: Mapping[str, Sent]
    settings: Sequence[Chosen] = ()
    acts: Timeline = field(default_factory=lambda: Timeline({}, ()))
    at_start: Mapping[str, bool | str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def duration_s(self) -> float:
        """How long the run lasts after the connection is up, in seconds."""
        last_ns = max(sent.last_ns for sent in self.sent.values())
        return max(self.end_ns, last_ns) / NS_PER_S + QUIET_S


def checked(talk: Talk) -> Talk:
    """Return what can be made again.

    Raises
    ------
    LiveError
        When it carried nothing, or more than the lab can.
    """
    if not any(len(sent) for sent in talk.sent.values()):
        raise LiveError(f"{talk.what}: it carried no data")
    if talk.duration_s > LONGEST_S:
        raise LiveError(
            f"{talk.what}: it lasts {talk.duration_s:.0f} s, the lab {LONGEST_S} at most"
        )
    most = max(sent.streams for sent in talk.sent.values())
    if most > messages.MOST_STREAMS:
        raise LiveError(f"{talk.what}: data in stream {most - 1}, which no association has")
    return talk
