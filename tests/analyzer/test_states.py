"""Path states (RFC 9260 sections 5.4 and 8, RFC 7829) with their instants."""

from __future__ import annotations

from ladder import HANDSHAKE, Play, failing, second, steady
from pathscope.analyzer.model import Association, End

BEFORE = HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01)


def states(seen: Association, path: int, end: End = "a") -> list[tuple[str, float | None]]:
    found = seen.paths[path - 1].directions[end].states
    return [(state.state, second(state.at.ns)) for state in found]


def test_the_handshakes_path_is_active_and_another_once_confirmed(play: Play) -> None:
    seen = play(BEFORE)
    assert states(seen, 1) == [("ACTIVE", 0.03)]
    assert states(seen, 2) == [("UNCONFIRMED", 0.1), ("ACTIVE", 0.14)]


def test_a_path_whose_probe_stays_unanswered_is_unconfirmed(play: Play) -> None:
    seen = play(HANDSHAKE, "0.3 a 3 HEARTBEAT 1\n9.0 a 3 HEARTBEAT 2", paths=3)
    assert states(seen, 3) == [("UNCONFIRMED", 0.3)]


def test_each_end_confirms_for_itself(play: Play) -> None:
    """b never probed path 2 (RFC 9260 5.4): to b it is not confirmed."""
    assert [name for name, _ in states(play(BEFORE), 2, "b")] == ["UNCONFIRMED"]


def test_inactive_after_path_max_retrans_and_active_after_an_answer(play: Play) -> None:
    seen = play(
        BEFORE,
        failing(2.0, [1.0, 1.0], tsn=11),
        steady(4.1, 8.0, 0.1, 2, tsn=14, rtt=0.04),
        "9.0 a 1 HEARTBEAT 1\n12.0 a 1 HEARTBEAT 2\n12.01 b 1 HEARTBEAT ACK 2",
    )
    assert states(seen, 1) == [("ACTIVE", 0.03), ("INACTIVE", 4.001), ("ACTIVE", 12.01)]


def test_an_excursion_passes_through_pf(play: Play) -> None:
    """RFC 7829: the path was potentially failed, though never given up."""
    seen = play(
        BEFORE,
        failing(2.0, [1.0], tsn=11),
        steady(3.1, 3.9, 0.1, 2, tsn=13, rtt=0.04),
        "4.0 a 1 HEARTBEAT 1\n4.01 b 1 HEARTBEAT ACK 1",
        steady(4.1, 5.0, 0.1, 1, tsn=22, rtt=0.01),
    )
    assert len(seen.excursions) == 1
    assert states(seen, 1) == [("ACTIVE", 0.03), ("PF", 3.0), ("ACTIVE", 4.01)]


def test_in_the_middle_the_path_with_data_is_active(play: Play) -> None:
    seen = play(steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01), "2.0 a 2 HEARTBEAT 1")
    assert states(seen, 1) == [("ACTIVE", 1.0)]
    assert states(seen, 2) == [("UNCONFIRMED", 2.0)]
