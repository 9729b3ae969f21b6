"""Findings: what looks wrong, the frames that show it, and silence where all is well."""

from __future__ import annotations

import lab
import pytest
from ladder import HANDSHAKE, Play, failing, steady
from pathscope.analyzer.model import Association, Finding

TRAFFIC_LATER = steady(6.0, 6.5, 0.1, 1, tsn=1, rtt=0.01)
TRAFFIC = steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)
GOOD = HANDSHAKE + TRAFFIC
"""26 frames; TSN 1 to 10 are acknowledged by 1.91 s."""


def rules(seen: Association) -> list[str]:
    return [finding.rule for finding in seen.findings]


def the(seen: Association, rule: str) -> Finding:
    (found,) = [finding for finding in seen.findings if finding.rule == rule]
    assert found.text
    return found


def test_nothing_is_wrong_with_a_plain_association(play: Play) -> None:
    assert rules(play(GOOD)) == []


@pytest.mark.parametrize("capture", ["lossy-v4/client.pcapng", "asconf-handover-v4/client.pcapng"])
def test_nothing_is_wrong_with_the_labs_clients(capture: str) -> None:
    assert lab.association(capture).findings == ()


def test_abort_with_its_cause(play: Play) -> None:
    seen = play(GOOD, "3.0 b 1 ABORT 0x0C")  # RFC 9260 3.3.10.12: User-Initiated Abort
    found = the(seen, "abort")
    assert (found.severity, found.frames) == ("error", (27,))
    assert found.text == "b aborted: User-Initiated Abort"
    assert seen.how_it_ended == "abort"


def test_abort_without_a_cause(play: Play) -> None:
    assert "no cause given" in the(play(GOOD, "3.0 b 1 ABORT"), "abort").text


def test_error_with_its_cause(play: Play) -> None:
    found = the(play(GOOD, "3.0 b 1 ERROR 0x06"), "error")  # Unrecognized Chunk Type
    assert found.frames == (27,)
    assert "Unrecognized Chunk Type" in found.text


def test_an_unanswered_init(play: Play) -> None:
    found = the(play("0.0 a 1 INIT\n1.0 a 1 INIT\n3.0 a 1 INIT"), "setup-unanswered")
    assert found.frames == (1, 2, 3)
    assert "3 times" in found.text


def test_init_ack_from_another_address(play: Play) -> None:
    found = the(
        play("0.00 a 1 INIT\n0.04 b 1-2 INIT ACK\n0.05 a 1 COOKIE ECHO\n0.06 b 1 COOKIE ACK"),
        "init-ack-address",
    )
    assert found.frames == (1, 2)


def test_an_announced_address_that_is_never_used(play: Play) -> None:
    seen = play("0.00 a 1 INIT\n0.01 b 1 INIT ACK\n0.02 a 1 COOKIE ECHO\n0.03 b 1 COOKIE ACK")
    unused = [f.text for f in seen.findings if f.rule == "address-never-used"]
    assert len(unused) == 2
    assert "10.0.2.1" in unused[0]
    assert "10.0.2.2" in unused[1]


def test_an_address_that_is_never_confirmed(play: Play) -> None:
    seen = play(HANDSHAKE, "0.3 a 3 HEARTBEAT 1\n5.0 a 3 HEARTBEAT 2", TRAFFIC_LATER, paths=3)
    found = [f for f in seen.findings if f.rule == "address-never-confirmed"]
    assert [f.frames for f in found] == [(7, 8), (7, 8)]
    assert "10.0.3.1" in found[0].text
    assert "10.0.3.2" in found[1].text


def test_some_heartbeats_unanswered(play: Play) -> None:
    found = the(play(GOOD, "3.0 a 2 HEARTBEAT 1"), "heartbeats-unanswered")
    assert found.frames == (27,)
    assert "1 of 2" in found.text


def test_a_zero_window(play: Play) -> None:
    seen = play(GOOD, "2.0 a 1 DATA 11\n2.01 b 1 SACK 11 window 0")
    found = the(seen, "zero-window")
    assert found.text.startswith("b closed its receive window once")
    assert seen.paths[0].directions["b"].metrics["a_rwnd_min_bytes"].value == 0


def test_data_stalled_while_a_heartbeat_is_answered(play: Play) -> None:
    seen = play(
        GOOD,
        """
        2.0   a 1  DATA 11
        3.0   a 2  HEARTBEAT 1      # frame 28
        3.04  b 2  HEARTBEAT ACK 1
        4.0   a 1  DATA 11
        6.0   a 2  DATA 11
        6.04  b 2  SACK 11          # frame 32
        """,
    )
    found = the(seen, "stalled-while-alive")
    assert {29, 32} < set(found.frames)
    assert "4.040 s" in found.text  # from 2.0 s on something was outstanding


def test_needless_retransmissions(play: Play) -> None:
    seen = play(
        GOOD,
        """
        2.0   a 1  DATA 11
        3.0   a 2  DATA 11          # frame 28
        3.04  b 2  SACK 11 dup 11
        """,
    )
    found = the(seen, "spurious-retransmissions")
    assert found.frames == (28,)
    assert seen.paths[1].directions["a"].metrics["retransmitted_spurious_chunks"].value == 1


def test_a_retransmission_that_was_needed_is_not_spurious(play: Play) -> None:
    seen = play(GOOD, "2.0 a 1 DATA 11\n3.0 a 2 DATA 11\n3.04 b 2 SACK 11")
    assert "spurious-retransmissions" not in rules(seen)


def test_frames_that_the_capture_repeats(play: Play) -> None:
    """A copy is neither a retransmission nor a packet."""
    seen = play(GOOD, "2.0 a 1 DATA 11 !copy\n2.01 b 1 SACK 11")
    assert "1 frames" in the(seen, "duplicated-frames").text
    assert seen.duplicate_frames == 1
    assert seen.packets == 28
    assert seen.totals["a"]["data_chunks"].value == 11
    assert seen.totals["a"]["retransmitted_chunks"].value == 0


def test_a_damaged_packet_is_left_out(play: Play) -> None:
    """Its receiver discards it (RFC 9260, section 6.8): the chunk comes when it comes unharmed."""
    seen = play(GOOD, "2.0 a 1 DATA 11 !bad\n3.0 a 1 DATA 11\n3.01 b 1 SACK 11")
    assert the(seen, "damaged-packets").text.startswith("1 packets")
    assert "bad-checksum" not in rules(seen)
    assert seen.totals["a"]["data_chunks"].value == 11
    assert seen.packets == 28


def test_checksums_that_the_network_card_fills_in_later(play: Play) -> None:
    """All of a sender's are wrong, and are answered all the same: the packets count."""
    offloaded = "\n".join(
        f"{line} !bad" if line.split()[1:2] == ["a"] else line for line in GOOD.splitlines()
    )
    seen = play(offloaded)
    found = the(seen, "checksum-offload")
    assert found.text.startswith("all 13 packets of a")  # 3 of the handshake, 10 DATA
    assert found.frames == (1, 25)  # the first and the last
    assert "bad-checksum" not in rules(seen)
    assert "damaged-packets" not in rules(seen)
    assert seen.totals["a"]["data_chunks"].value == 10


def test_concurrent_paths_say_that_no_handover_is_looked_for(play: Play) -> None:
    lines = []
    for number in range(60):
        path = 1 + number % 2
        lines += [f"{1.0 + number * 0.1:.1f} a {path} DATA {number + 1}"]
        lines += [f"{1.05 + number * 0.1:.2f} b {path} SACK {number + 1}"]
    found = the(play(HANDSHAKE, "\n".join(lines)), "concurrent-paths")
    assert "59 changes" in found.text  # 60 chunks on two paths in turn


def test_a_failover_says_what_was_lost(play: Play) -> None:
    seen = play(
        GOOD,
        failing(2.0, [1.0, 1.0], tsn=11),
        "4.2 a 1 HEARTBEAT 1\n5.0 a 1 HEARTBEAT 2\n5.01 b 1 HEARTBEAT ACK 2",
    )
    assert "heartbeats-unanswered" in rules(seen)
