"""The ASCONF run: ADD, SET-PRIMARY and DELETE as the application asked for them."""

from __future__ import annotations

from itertools import pairwise

import lab
import pytest
from lab import ASCONF, ASCONF_ACK, Frame
from pathscope.analyzer.model import Association

RUN = "asconf-handover-v4"
CLIENT = f"{RUN}/client.pcapng"
OLD, NEW = ("10.0.1.1", "10.0.1.2"), ("10.0.2.1", "10.0.2.2")

# RFC 5061, section 4.2: parameter types.
ADD_IP, DELETE_IP, SET_PRIMARY = 0xC001, 0xC002, 0xC004
ASKED = [("add", ADD_IP, "add"), ("set-primary", SET_PRIMARY, "peer-primary"),
         ("delete", DELETE_IP, "remove")]  # fmt: skip

LOG_TO_WIRE_NS = 5_000_000
"""The application logs when it asks; the ASCONF leaves a moment before or after."""


@pytest.fixture(scope="module")
def client() -> Association:
    return lab.association(CLIENT)


def exchanges() -> list[tuple[Frame, Frame]]:
    """Every ASCONF with its ASCONF-ACK: one is outstanding at a time (RFC 5061, section 5.1)."""
    control = [f for f in lab.frames(CLIENT) if {ASCONF, ASCONF_ACK} & set(f.types)]
    return [(ask, ack) for ask, ack in pairwise(control) if ASCONF in ask.types]


def test_three_requests_with_their_delays(client: Association) -> None:
    assert len(client.asconf) == len(exchanges()) == 3
    for exchange, (ask, ack), (request, parameter, note) in zip(
        client.asconf, exchanges(), ASKED, strict=True
    ):
        assert exchange.request == request
        assert parameter in ask.parameters
        assert (exchange.at.frame, exchange.at.ns) == (ask.number, ask.time_ns)
        assert (exchange.ack.frame, exchange.ack.ns) == (ack.number, ack.time_ns)
        assert exchange.delay_s.value == (ack.time_ns - ask.time_ns) / 1e9
        assert exchange.outcome == "success"
        logged_ns = lab.logged_ns(RUN, event=note)
        assert abs(ask.time_ns - logged_ns) < LOG_TO_WIRE_NS
    assert [exchange.address for exchange in client.asconf] == ["10.0.2.1", "10.0.2.1", "10.0.1.1"]


def test_one_handover_by_set_primary(client: Association) -> None:
    (handover,) = client.handovers
    assert handover.cause == "set-primary"
    old, new = client.paths[handover.from_path], client.paths[handover.to_path]
    assert (old.a_address, old.b_address) == OLD
    assert (new.a_address, new.b_address) == NEW
    ask, ack = exchanges()[1]
    assert handover.cause_frames == (ask.number, ack.number)
    first = min((f for f in lab.sent(CLIENT).new.values() if f.way == NEW), key=lambda f: f.time_ns)
    assert handover.instants["t_decision"].frame == ask.number
    assert handover.instants["t_first_new"].frame == first.number
    delay = handover.metrics["handover_delay_s"]
    assert delay.value == (first.time_ns - ask.time_ns) / 1e9
    assert delay.basis == "observed"


def test_a_handover_that_was_asked_for_has_no_failure(client: Association) -> None:
    (handover,) = client.handovers
    for name in ("t_fail", "t_first_timeout", "t_return_link", "t_return_data"):
        assert handover.instants[name].ns is None
        assert handover.instants[name].reason
    for name in ("failure_detection_s", "link_failure_recovery_s", "predicted_failover_s"):
        assert handover.metrics[name].value is None
        assert handover.metrics[name].reason
    assert handover.metrics["timeouts_before_move"].value == 0


def test_the_handoff_region_is_add_to_delete_acknowledged(client: Association) -> None:
    (region,) = client.handoff_regions
    (_, added), _, (_, deleted) = exchanges()
    assert (region.start.frame, region.start.ns) == (added.number, added.time_ns)
    assert (region.end.frame, region.end.ns) == (deleted.number, deleted.time_ns)
    assert region.metrics["duration_s"].value == (deleted.time_ns - added.time_ns) / 1e9
    application = lab.settings(RUN)["client"]
    # 700 bytes, then a sleep of 20 ms, which takes a little longer than asked; no loss.
    offered_bps = application["size"] * 8 / application["gap"]
    for part in ("before", "inside", "after"):
        assert region.metrics[f"goodput_{part}_bps"].value == pytest.approx(offered_bps, rel=0.02)


def test_nothing_was_retransmitted(client: Association) -> None:
    assert lab.sent(CLIENT).again == []
    assert client.totals["a"]["data_chunks"].value == 700
    assert client.totals["a"]["retransmission_ratio"].value == 0


def test_an_address_by_asconf_is_the_clients(client: Association) -> None:
    assert client.endpoints["a"].addresses == ("10.0.1.1", "10.0.2.1")
    added = [r for r in lab.rows(CLIENT, "addresses") if r["source"] == "asconf-add"]
    assert [r["address"] for r in added] == ["10.0.2.1"]
    left = {r["address"]: r["left_frame"] for r in lab.rows(CLIENT, "addresses")}
    assert left["10.0.1.1"] == exchanges()[2][1].number


def test_the_server_sees_the_same_exchange() -> None:
    seen = lab.association(f"{RUN}/server.pcapng")
    assert seen.captured_at == "b"
    assert [x.request for x in seen.asconf] == ["add", "set-primary", "delete"]
    assert [h.cause for h in seen.handovers] == ["set-primary"]
    # There the answer leaves at once, while the client waits a round trip of 10 ms and more.
    for near, far in zip(seen.asconf, lab.association(CLIENT).asconf, strict=True):
        assert near.delay_s.value is not None
        assert far.delay_s.value is not None
        assert near.delay_s.value < 0.001
        assert far.delay_s.value > 0.010
