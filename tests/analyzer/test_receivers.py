"""The ends as receivers: windows, delayed SACKs; what both ends' captures say of one run."""

from __future__ import annotations

import pytest
from lab import association
from ladder import HANDSHAKE, Play, second, steady
from pathscope.analyzer.model import Association
from truth import holds

DELAYED = "".join(
    f"""
    {2 + n}.00  a 1  DATA {3 * n + 1}
    {2 + n}.05  a 1  DATA {3 * n + 2}
    {2 + n}.06  b 1  SACK {3 * n + 2}
    {2 + n}.50  a 1  DATA {3 * n + 3}
    {2 + n}.71  b 1  SACK {3 * n + 3}
    """
    for n in range(3)
)
"""Every third packet comes alone, and its SACK 200 ms later than the round trip of 10 ms."""

BEATS = """
    1.00  a 1  HEARTBEAT 1
    1.01  b 1  HEARTBEAT ACK 1
"""


def test_a_closed_window(play: Play) -> None:
    seen = play(
        HANDSHAKE,
        """
        1.00  a 1  DATA 1-2
        1.01  b 1  SACK 2 window 0
        1.50  b 1  SACK 2 window 0
        1.60  a 1  DATA 3                  # a probe
        2.01  b 1  SACK 3 window 9000
        3.00  b 1  SACK 3 window 0
        3.25  b 1  SACK 3 window 0         # and never more
        """,
    ).receivers["b"]
    metrics = seen.metrics
    assert metrics["zero_windows"].value == 2
    assert metrics["zero_window_s"].value == pytest.approx(1.25)
    assert metrics["zero_window_s"].note == "still closed at the end"
    assert metrics["zero_window_max_s"].value == pytest.approx(1.0)
    assert metrics["window_probes"].value == 1
    assert (second(seen.longest_start.ns), second(seen.longest_end.ns)) == (1.01, 2.01)


def test_an_open_window(play: Play) -> None:
    seen = play(HANDSHAKE, steady(1.0, 1.5, 0.1, 1, tsn=1, rtt=0.01))
    b, a = seen.receivers["b"], seen.receivers["a"]
    assert (b.metrics["zero_windows"].value, b.metrics["zero_window_s"].value) == (0, 0.0)
    assert b.longest_start.reason == "it never advertised a window of 0 bytes"
    assert a.metrics["zero_windows"].reason == "it sent no SACK"
    assert a.metrics["sack_delay_s"].reason == "it sent no SACK"


def test_the_sack_delay_at_the_sender(play: Play) -> None:
    """The ladder's capture is at a: the round trip of the HEARTBEATs comes off."""
    metrics = play(HANDSHAKE, BEATS, DELAYED).receivers["b"].metrics
    delay = metrics["sack_delay_s"]
    assert delay.basis == "inferred"
    assert delay.value == pytest.approx(0.2)
    assert metrics["lone_packets"].value == 3
    assert metrics["at_once_ratio"].value == 0.0
    assert metrics["every_second_ratio"].value == 0.5
    assert metrics["packets_per_sack"].value == 1.5


def test_a_receiver_that_never_delays(play: Play) -> None:
    seen = play(HANDSHAKE, BEATS, steady(2.0, 2.9, 0.1, 1, tsn=1, rtt=0.01))
    metrics = seen.receivers["b"].metrics
    assert metrics["at_once_ratio"].value == 1.0
    assert metrics["sack_delay_s"].reason == "every packet that came alone was acknowledged at once"


LAB = ("lab-failover", "lab-asconf", "lab-one-way", "lab-lossy")
SACK_DELAY_S = 0.2
"""The lab's setting in all of them."""


@pytest.mark.parametrize("run", LAB)
def test_the_labs_sack_delay(run: str) -> None:
    """Both captures tell it; the receiver's bounds it from below."""
    client, server = (association(f"{run}/{end}.pcapng") for end in ("client", "server"))
    assert holds(client.receivers["b"].metrics["sack_delay_s"], SACK_DELAY_S)
    delay = server.receivers["b"].metrics["sack_delay_s"]
    assert delay.value == pytest.approx(SACK_DELAY_S)
    assert holds(delay, SACK_DELAY_S)
    assert (delay.low or 0) >= 0.9 * SACK_DELAY_S


@pytest.mark.parametrize("run", LAB)
def test_both_ends_see_the_same_sacks(run: str) -> None:
    """None of b's SACKs is counted at a that b did not send; nearly every covers two packets."""
    client, server = (association(f"{run}/{end}.pcapng") for end in ("client", "server"))
    sent, heard = (_number(one, "sacks") for one in (server, client))
    assert heard <= sent
    assert _number(server, "every_second_ratio") > 0.95


def _number(seen: Association, name: str) -> float:
    return seen.receivers["b"].metrics[name].value or 0


def test_a_sack_that_comes_sooner_does_not_hide_the_delay(play: Play) -> None:
    """The user's reading opened the window after 30 ms: a lower bound, not the setting."""
    early = "".join(f"{2 + n} a 1 DATA {n + 1}\n{2 + n}.04 b 1 SACK {n + 1}\n" for n in range(5))
    metrics = play(HANDSHAKE, BEATS, early).receivers["b"].metrics
    assert holds(metrics["sack_delay_s"], SACK_DELAY_S)
    late = play(HANDSHAKE, BEATS, early, "9 a 1 DATA 6\n9.21 b 1 SACK 6").receivers["b"].metrics
    assert late["sack_delay_s"].value == pytest.approx(SACK_DELAY_S)
