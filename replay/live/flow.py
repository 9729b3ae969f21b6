"""A TCP or UDP flow of a trace, as it is made again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import messages
from .messages import ENDS, HOSTS
from .paths import TracePath, choose_paths
from .talk import Talk, checked

if TYPE_CHECKING:
    from ...analyzer.flow_model import Flow
    from .trace import Trace

TABLES = {"tcp": "segments", "udp": "datagrams"}


def talk_of(trace: Trace, flow: Flow) -> Talk:
    """Return what is known of a flow.

    Raises
    ------
    LiveError
        When it cannot be made again.
    """
    up_ns = flow.established.ns or flow.start.ns or 0
    damage: list[str] = []
    sent = {
        HOSTS[end]: messages.of_flow(
            flow.protocol,
            trace.stream(end, TABLES[flow.protocol], damage),
            flow.number,
            end,
            up_ns,
        )
        for end in ENDS
    }
    a, b = flow.endpoints["a"].address, flow.endpoints["b"].address
    paths = choose_paths([TracePath(0, flow.label, a, b, 1)])
    count = len(trace.result.flows)
    many = f"{count} flows in the trace: number {flow.number} is sent again"
    return checked(
        Talk(
            name=f"live-{trace.name}",
            what=f"{flow.protocol.upper()} flow {flow.number} of {trace.name}",
            protocol=flow.protocol,
            number=flow.number,
            seen_at=trace.seen_at("unknown"),
            paths=paths,
            primary=paths.paths[0].name,
            zero_ns=up_ns - trace.first_ns,
            end_ns=(flow.end.ns or up_ns) - up_ns,
            sent=sent,
            warnings=(*dict.fromkeys(damage), *((many,) if count > 1 else ())),
        )
    )
