"""ASCONF exchanges and handoff regions (RFC 5061, cSCTP)."""

from __future__ import annotations

import pytest
from ladder import HANDSHAKE, USER_BYTES, Play, second, steady

ALONE = """
    0.00  a 1  INIT
    0.01  b 1  INIT ACK
    0.02  a 1  COOKIE ECHO
    0.03  b 1  COOKIE ACK
"""
ADD = """
    3.00  a 1  ASCONF 1 ADD 10.0.2.1
    3.02  b 1  ASCONF-ACK 1
"""
DELETE = """
    7.00  a 2  ASCONF 3 DELETE 10.0.1.1
    7.04  b 2  ASCONF-ACK 3
"""


def handover(first_s: float = 1.0) -> str:
    """Draw ADD, SET-PRIMARY, move and DELETE, with a chunk each 100 ms from `first_s` to 11 s."""
    return "".join(
        (
            ALONE,
            steady(first_s, 2.95, 0.1, 1, tsn=1, rtt=0.01),
            ADD,
            steady(3.05, 4.95, 0.1, 1, tsn=21, rtt=0.01),
            "5.00 a 1 ASCONF 2 SET-PRIMARY 10.0.2.1\n5.01 b 1 ASCONF-ACK 2\n",
            steady(5.05, 6.95, 0.1, 2, tsn=41, rtt=0.04),
            DELETE,
            steady(7.05, 11.05, 0.1, 2, tsn=61, rtt=0.04),
        )
    )


def test_exchanges(play: Play) -> None:
    seen = play(handover(1.05), paths=1)
    assert [
        (x.sender, x.request, x.address, second(x.at.ns), second(x.ack.ns), x.outcome)
        for x in seen.asconf
    ] == [
        ("a", "add", "10.0.2.1", 3.0, 3.02, "success"),
        ("a", "set-primary", "10.0.2.1", 5.0, 5.01, "success"),
        ("a", "delete", "10.0.1.1", 7.0, 7.04, "success"),
    ]
    assert [x.delay_s.value for x in seen.asconf] == [0.02, 0.01, 0.04]


def test_the_handoff_region(play: Play) -> None:
    seen = play(handover(1.05), paths=1)
    (region,) = seen.handoff_regions
    assert (region.sender, second(region.start.ns), second(region.end.ns)) == ("a", 3.02, 7.04)
    assert region.metrics["duration_s"].value == pytest.approx(4.02)
    # SACKs at 3.06, 3.16 .. 6.99, 7.09: 39 in whole bins, one in each bin that an edge cuts, of
    # which 80 ms and 40 ms are inside.
    inside = region.metrics["goodput_inside_bps"]
    chunk = USER_BYTES * 8 / 4.02
    assert inside.basis == "inferred"
    assert inside.value == pytest.approx((39 + 0.8 + 0.4) * chunk)
    assert (inside.low, inside.high) == pytest.approx((39 * chunk, 41 * chunk))
    # One chunk each 100 ms goes on.
    assert region.metrics["goodput_after_bps"].value == pytest.approx(
        USER_BYTES * 8 / 0.1, rel=0.01
    )


def test_inside_and_outside_are_the_whole(play: Play) -> None:
    seen = play(handover(1.05), paths=1)
    found = seen.handoff
    inside_s, outside_s = (found[name].value for name in ("inside_s", "outside_s"))
    # The last SACK is the last packet, at 11.09 s.
    assert (inside_s, outside_s) == pytest.approx((4.02, 11.09 - 4.02))
    for rate in ("throughput", "goodput"):
        inside, outside = (
            found[f"{rate}_{where}_bps"].value or 0 for where in ("inside", "outside")
        )
        whole = seen.totals["a"][f"{rate}_bps"].value or 0
        assert inside * 4.02 + outside * 7.07 == pytest.approx(whole * 11.09)
    # 101 chunks were delivered in 11.09 s.
    assert seen.totals["a"]["acked_chunks"].value == 101
    assert seen.totals["a"]["acked_chunks_hz"].value == pytest.approx(101 / 11.09)


def test_without_a_region_there_is_no_outside(play: Play) -> None:
    found = play(HANDSHAKE).handoff
    assert {one.reason for one in found.values()} == {"no handoff region"}


def test_before_the_region_is_as_long_as_the_association_is_old(play: Play) -> None:
    """Of the 3 s before the region, the first had no DATA."""
    (region,) = play(handover(1.05), paths=1).handoff_regions
    before = region.metrics["goodput_before_bps"].value
    assert before == pytest.approx(20 * USER_BYTES * 8 / 3.0, rel=0.05)


def test_a_handover_in_the_region(play: Play) -> None:
    (handed_over,) = play(handover(1.05), paths=1).handovers
    assert handed_over.cause == "set-primary"
    assert handed_over.metrics["handover_delay_s"].value == 0.05


def test_a_request_that_is_rejected(play: Play) -> None:
    """RFC 5061 4.3.2: 0x00A1, operation refused due to resource shortage."""
    seen = play(HANDSHAKE, "3.0 a 1 ASCONF 1 ADD 10.0.3.1\n3.02 b 1 ASCONF-ACK 1 error 0xA1")
    (exchange,) = seen.asconf
    assert exchange.outcome == "error"
    assert exchange.cause is not None
    assert "resource" in exchange.cause.lower()
    assert "10.0.3.1" not in seen.endpoints["a"].addresses
    assert seen.handoff_regions == ()


def test_a_request_without_an_answer(play: Play) -> None:
    seen = play(HANDSHAKE, "3.0 a 1 ASCONF 1 ADD 10.0.3.1\n4.0 a 2 ASCONF 1 ADD 10.0.3.1")
    (exchange,) = seen.asconf
    assert (exchange.outcome, exchange.transmissions) == ("pending", 2)
    assert second(exchange.at.ns) == 3.0
    assert exchange.ack.reason
    assert exchange.delay_s.reason


def test_a_deletion_without_an_addition_makes_no_region(play: Play) -> None:
    assert play(HANDSHAKE, DELETE).handoff_regions == ()


def test_an_addition_of_one_end_and_a_deletion_of_the_other_make_no_region(play: Play) -> None:
    seen = play(
        HANDSHAKE,
        ADD.replace("10.0.2.1", "10.0.3.1"),
        "7.0 b 1 ASCONF 9 DELETE 10.0.2.2\n7.001 a 1 ASCONF-ACK 9",
    )
    assert seen.handoff_regions == ()
