"""The pcapng writer, read by tshark, by capinfos and by pathscope."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import oracle
import pathscope
from crafting import ETHERNET, START_NS
from hypothesis import given, settings
from hypothesis import strategies as st
from pathscope.dissectors.ledger import Ledger
from pathscope.replay.lab import pcapng

Packets = Sequence[tuple[int, int, bytes, str]]


def written(path: Path, packets: Packets) -> Path:
    blocks = [
        pcapng.section("one thing", "another: ä", system="Linux 6.1", application="pathscope"),
        pcapng.interface("wlan", ETHERNET, 65_535, "the first"),
        pcapng.interface("cellular", ETHERNET, 65_535),
    ]
    blocks += [
        pcapng.packet(interface, START_NS + after_ns, data, len(data), *filter(None, [comment]))
        for after_ns, interface, data, comment in packets
    ]
    blocks.append(pcapng.statistics(1, START_NS, 7, 3))
    path.write_bytes(b"".join(blocks))
    return path


SOME: Packets = [
    (0, 0, bytes(60), ""),
    (1, 1, bytes(61), "pathscope: link down wlan at 1700000000.000000001"),
    (1_000_000_007, 0, bytes(62), "ä\nb"),
]


def test_tshark_reads_names_nanoseconds_and_comments(tmp_path: Path) -> None:
    names = ("frame.time_epoch", "frame.interface_name", "frame.len", "frame.comment")
    found = oracle.fields(written(tmp_path / "x.pcapng", SOME[:2]), names)
    assert [oracle.nanoseconds(one[names[0]][0]) for one in found] == [START_NS, START_NS + 1]
    assert [one[names[1]] for one in found] == [["wlan"], ["cellular"]]
    assert [one[names[2]] for one in found] == [["60"], ["61"]]
    assert [one[names[3]] for one in found] == [[], [SOME[1][3]]]


def test_capinfos_reads_the_section(tmp_path: Path) -> None:
    path = written(tmp_path / "x.pcapng", SOME)
    said = subprocess.run(["capinfos", path], check=True, capture_output=True, text=True).stdout
    for words in (
        "nanoseconds (9)",
        "Linux 6.1",
        "one thing",
        "another: ä",
        "Name = wlan",
        "Description = the first",
        "Number of packets:   3",
    ):
        assert words in said


def ledger(path: Path) -> Ledger:
    return pathscope.read(path, pathscope.ReadOptions(reorder_window_ns=0))


def test_pathscope_reads_it(tmp_path: Path) -> None:
    found = ledger(written(tmp_path / "x.pcapng", SOME))
    assert [one["name"] for one in found.capture["interfaces"]] == ["wlan", "cellular"]
    assert found.capture["damage"] is None
    assert [(row["frame"], row["text"]) for row in found.rows("comments")] == [
        (2, SOME[1][3]),
        (3, SOME[2][3]),
    ]


@settings(max_examples=50)
@given(
    packets=st.lists(
        st.tuples(
            st.integers(0, 10**18),
            st.integers(0, 1),
            st.binary(min_size=14, max_size=80),
            st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
        ),
        max_size=5,
    )
)
def test_every_packet_comes_back(
    packets: list[tuple[int, int, bytes, str]], tmp_path_factory: object
) -> None:
    assert hasattr(tmp_path_factory, "mktemp")
    path = written(tmp_path_factory.mktemp("pcapng") / "x.pcapng", packets)
    found = ledger(path)
    assert found.capture["damage"] is None
    assert found.capture["frames"]["read"] == len(packets)
    assert [row["text"] for row in found.rows("comments")] == [
        comment for *_, comment in packets if comment
    ]
    for number, (*_, data, _comment) in enumerate(packets, 1):
        assert pathscope.show(path, number, decoder="own").data == data
