"""`pathscope replay`: what it refuses, and what it says before anything is touched."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pathscope.replay.lab import guest, host, tools
from running import CAPTURES, inside
from scapy.layers.inet6 import IPv6
from scapy.layers.l2 import ARP, Ether
from scapy.utils import PcapReader, wrpcap

if TYPE_CHECKING:
    from pathlib import Path

TRACE = CAPTURES / "lab-failover" / "client.pcapng"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--pps", "10", "--rate", "10M"], "--pps and --rate: one pace at a time"),
        (["--speed", "2", "--top-speed"], "--speed and --top-speed: one pace at a time"),
        (["--lab", "--interface", "wlan=v0"], "it goes without --interface"),
        (["--allow-live-network"], "--allow-live-network goes with --interface"),
        (["--sctp", "rto_min=500"], "are for --live"),
        (["--repetitions", "3"], "are for --live"),
        (["--live", "--pps", "10"], "--live sends no frames of the trace: without --pps"),
        (["--live", "--lab", "--mtu", "1500"], "without --lab, --mtu"),
        (["--interface", "wlan"], "expected NAME=IFACE or NAME.to_server=IFACE"),
        (["--interface", "wlna=lo"], "no path wlna here, only wlan, cellular"),
        (["--interface", "wlan=no-such-device"], "no-such-device: no interface that can be used"),
        (["--pps", "many"], "expected a number above 0 such as 500, 10k"),
        (["--map-address", "10.0.0.1=::1"], "IPv4 cannot become IPv6"),
        (["--map-port", "5000"], "expected PORT=PORT"),
        (["--from", "60"], "of 490 frames none is sent: 490 outside the window"),
        (["--filter", "tcp"], "none is sent"),
        (["--filter", "no such filter"], "filter"),
        (["--from", "nan"], "nan is not a time"),
    ],
)
def test_what_is_refused(words: list[str], told: str, tmp_path: Path) -> None:
    place = tmp_path / "run"
    refused = inside("replay", TRACE, "--out", place, *words)
    assert refused.exit_code == 2, refused.output
    assert told in refused.stderr
    assert not place.exists()


def test_a_trace_that_is_not_there() -> None:
    refused = inside("replay", "no.pcap")
    assert refused.exit_code == 2
    assert refused.stderr.startswith("Error: no.pcap: ")


def test_a_trace_without_paths(tmp_path: Path) -> None:
    file = tmp_path / "arp.pcap"
    wrpcap(str(file), [Ether() / ARP()])
    refused = inside("replay", file)
    assert refused.exit_code == 2
    assert refused.stderr == f"Error: {file}: no path: no association, and no flow of TCP or UDP\n"


def test_a_profile_of_another_path(tmp_path: Path) -> None:
    file = tmp_path / "profile.toml"
    file.write_text("[paths.wlna]\nboth = {delay_ms = 20}\n")
    refused = inside("replay", TRACE, "--profile", file, "--dry-run")
    assert refused.exit_code == 2
    assert "profile.toml:1: paths.wlna: there is no such path here" in refused.stderr


def test_a_dry_run_touches_nothing(tmp_path: Path) -> None:
    file = tmp_path / "profile.toml"
    file.write_text('[paths."*"]\nboth = {delay_ms = 20}\n')
    place = tmp_path / "run"
    done = inside("replay", TRACE, "--profile", file, "--dry-run", "--out", place)
    assert done.exit_code == 0, done.stderr
    assert "475 frames in 11.355 s, of 490 read" in done.stdout
    assert "not sent: 15 (addresses of no path)" in done.stdout
    assert "delay 20ms" in done.stdout
    assert "4 steps until 11.355 s" in done.stdout
    assert not place.exists()


def test_frames_into_a_file(tmp_path: Path) -> None:
    file = tmp_path / "sent.pcap"
    words = ["replay", TRACE, "--write", file, "--map-address", "2001:db8:1::/64=2001:db8:9::/64"]
    done = inside(*words)
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"{file}\n"
    with PcapReader(str(file)) as packets:
        sources = [packet[IPv6].src for packet in packets]
    assert len(sources) == 475
    assert set(sources) == {"2001:db8:9::1", "2001:db8:9::2", "2001:db8:2::1", "2001:db8:2::2"}
    again = inside(*words)
    assert (again.exit_code, again.stderr) == (2, f"Error: {file}: is there; --force replaces it\n")


def test_a_complete_replay_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema": "pathscope.run/1", "state": "complete"}')
    refused = inside("replay", TRACE, "--out", tmp_path)
    assert refused.exit_code == 2
    assert "a complete run is there; --force replaces it" in refused.stderr


def test_a_profile_needs_netem(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def lacks_netem(needs: tuple[str, ...]) -> str | None:
        asked.append(needs)
        return "this kernel has no netem for us (none)" if "netem" in needs else None

    monkeypatch.setattr(tools, "missing", list)
    monkeypatch.setattr(host, "missing", lacks_netem)
    monkeypatch.setattr(guest, "missing", lambda: "linux.uml is not installed")
    file = tmp_path / "profile.toml"
    file.write_text('[paths."*"]\nboth = {delay_ms = 20}\n')
    refused = inside("replay", TRACE, "--profile", file, "--out", tmp_path / "run")
    assert refused.exit_code == 1
    assert "no netem for us (none), and linux.uml is not installed" in refused.stderr
    assert asked == [("namespaces", "links", "wires", "netem")]
