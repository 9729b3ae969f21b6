"""Settings of a run that repeats a trace, by what the trace shows."""

from __future__ import annotations

from pathlib import Path

from pathscope.replay.live import trace
from pathscope.replay.live.run import plan
from pathscope.replay.live.settings import Chosen
from running import CAPTURES


def chosen(run: str, *given: str) -> dict[tuple[str, str], Chosen]:
    talk = plan(CAPTURES / run / "client.pcapng", sctp=given).talk
    return {(one.host, one.name): one for one in talk.settings}


def test_a_failover_shows_what_the_scenario_had() -> None:
    found = chosen("lab-failover")
    for name, value in (("rto_min_ms", 500), ("rto_max_ms", 500), ("path_max_retrans", 2)):
        assert (found["client", name].value, found["client", name].source) == (value, "inferred")
        assert (found["server", name].value, found["server", name].source) == (value, "other-end")
    assert found["client", "rto_initial_ms"].value == 500
    assert 710 <= found["client", "hb_interval_ms"].value <= 1430  # it is 1000
    assert found["client", "potentially_failed"].value is False
    assert found["client", "asconf"].value is False
    assert found["client", "receive_buffer_bytes"].value == 106_496


def test_potentially_failed_is_told_by_how_soon_data_moved() -> None:
    found = chosen("lab-potentially-failed")
    assert found["client", "potentially_failed"].value is True
    assert found["client", "pf_max_retrans"].value == 0


def test_settings_without_evidence_are_the_labs_own() -> None:
    found = chosen("lab-asconf")
    assert found["client", "asconf"] == Chosen(
        "client", "asconf", True, "observed", "ASCONF was sent", True
    )
    for name in ("rto_min_ms", "rto_max_ms", "path_max_retrans"):
        assert found["client", name].source == "default"
    # HEARTBEATs come as often as they did: their period was 1 s and an RTO of 500 ms.
    beats = found["server", "hb_interval_ms"].value + found["server", "rto_min_ms"].value
    assert 1400 <= beats <= 1700


def test_encapsulation_is_kept() -> None:
    found = chosen("lab-udp-encap")
    assert found["client", "udp_port"].value == found["server", "udp_port"].value == 9899


def test_what_is_given_replaces_what_is_seen_and_both_are_told() -> None:
    one = chosen("lab-failover", "pmr=4", "server.sack_delay=20")
    assert (one["client", "path_max_retrans"].value, one["client", "path_max_retrans"].was) == (
        4,
        2,
    )
    assert one["server", "sack_delay_ms"].value == 20
    assert one["client", "sack_delay_ms"].source == "default"


def test_an_rto_given_alone_takes_the_other_bound_along() -> None:
    low = chosen("lab-failover", "rto_min=900")
    names = ("rto_min_ms", "rto_max_ms", "rto_initial_ms")
    assert [low["client", name].value for name in names] == [900, 900, 900]
    high = chosen("lab-failover", "rto_max=200")
    assert high["client", "rto_min_ms"].value == 200
    assert "kept to rto_max_ms" in high["client", "rto_min_ms"].why


def test_only_a_folder_of_a_run_has_both_ends() -> None:
    read = trace.read(CAPTURES / "lab-failover" / "client.pcapng")
    assert read.ends["a"] == read.ends["b"] == Path(CAPTURES / "lab-failover" / "client.pcapng")
