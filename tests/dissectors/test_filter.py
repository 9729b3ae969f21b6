"""Filters are libpcap's: the frames they keep are those that tshark's own filters keep."""

from __future__ import annotations

from pathlib import Path

import oracle
import pytest
from crafting import IPV6, LINK, RAW, START_NS, V4, V6, Pcapng, Record, data
from pathscope.dissectors import ledger
from pathscope.dissectors._core import FilterError
from reading import chunk_column

CAPTURES = Path(__file__).parents[2] / "fixtures" / "captures"
FAILOVER = CAPTURES / "failover-v6" / "client.pcapng"
ASCONF = CAPTURES / "asconf-handover-v4" / "client.pcapng"
LOSSY = CAPTURES / "lossy-v4" / "client.pcapng"
EXCLUDED = "excluded by the filter"


@pytest.mark.parametrize(
    ("capture", "expression", "display"),
    [
        (FAILOVER, "sctp", "sctp"),
        (FAILOVER, "sctp and host 2001:db8:1::1", "sctp && ipv6.addr == 2001:db8:1::1"),
        (FAILOVER, "ip6 src net 2001:db8:2::/64", "ipv6.src == 2001:db8:2::/64"),
        (FAILOVER, "not sctp", "!sctp"),
        (FAILOVER, "greater 500", "frame.len >= 500"),
        (LOSSY, "sctp and host 10.0.2.1", "sctp && ip.addr == 10.0.2.1"),
        (LOSSY, "sctp and src host 10.0.1.2", "sctp && ip.src == 10.0.1.2"),
        # The first chunk's type, which stands after the common header.
        (LOSSY, "sctp[12] = 3", "sctp.chunk_type == 3"),
        (ASCONF, "sctp and not host 10.0.1.1", "sctp && !(ip.addr == 10.0.1.1)"),
        (ASCONF, "arp", "arp"),
    ],
)
def test_filter_keeps_what_tshark_keeps(capture: Path, expression: str, display: str) -> None:
    kept = oracle.fields(capture, ("frame.number",), display)
    facts = ledger.read(capture, ledger.ReadOptions(filter=expression)).capture
    frames = facts["frames"]
    assert frames["read"] == len(oracle.times_ns(capture))
    assert frames["read"] - frames["skipped"].get(EXCLUDED, 0) == len(kept) > 0
    if display.startswith("sctp"):
        # tshark's list is in file order, the ledger's in time order.
        rows = chunk_column(capture, "frame", ledger.ReadOptions(filter=expression))
        assert set(rows) == {int(frame["frame.number"][0]) for frame in kept}
        assert facts["sctp_packets"] == len(kept)


def test_what_is_excluded_leaves_no_trace() -> None:
    found = ledger.read(FAILOVER, ledger.ReadOptions(filter="host 2001:db8:1::1"))
    assert [row["a_address"] for row in found.rows("paths")] == ["2001:db8:1::1"]


def tsns(path: Path, expression: str) -> list[int]:
    return chunk_column(path, "tsn", ledger.ReadOptions(filter=expression))


@pytest.fixture
def mixed(tmp_path: Path) -> Path:
    """Ethernet, raw IP and an interface that has IPv6 only."""
    path = tmp_path / "mixed.pcapng"
    file = Pcapng().section().interface("eth0")
    file.interface("tun0", link_type=RAW).interface("tun1", link_type=IPV6)
    frames = [LINK / V4 / data(1), LINK / V6 / data(2), V4 / data(3), V6 / data(4), V6 / data(5)]
    for number, (frame, interface) in enumerate(zip(frames, (0, 0, 1, 1, 2), strict=True)):
        file.packet(Record(START_NS + number, bytes(frame), interface))
    path.write_bytes(file.bytes())
    return path


def test_every_link_type_has_its_own_program(mixed: Path) -> None:
    assert tsns(mixed, "ip6 and sctp") == [2, 4, 5]
    assert tsns(mixed, "ip or ip6") == [1, 2, 3, 4, 5]


def test_an_expression_that_one_link_type_cannot_meet_excludes_its_packets(mixed: Path) -> None:
    """For the interface without IPv4, libpcap says that the expression rejects all packets."""
    assert tsns(mixed, "ip and sctp") == [1, 3]


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("sctp and and", "syntax error"),
        ("host 10.0.0.1.1.1", "10.0.0.1.1.1"),
        ("port 70000", "70000"),
        ("sctp\0", "zero byte"),
    ],
)
def test_a_bad_expression_is_refused_in_the_words_of_libpcap(expression: str, words: str) -> None:
    with pytest.raises(FilterError) as raised:
        ledger.read(FAILOVER, ledger.ReadOptions(filter=expression))
    message = str(raised.value)
    assert message.startswith("capture filter: ")
    assert words in message


def test_a_bad_expression_is_told_before_the_file_is_opened(tmp_path: Path) -> None:
    with pytest.raises(FilterError):
        ledger.read(tmp_path / "missing", ledger.ReadOptions(filter="sctp and and"))
