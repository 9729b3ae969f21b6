"""What each end sent, held against tshark; and traces that ask for too much."""

from __future__ import annotations

from collections.abc import Iterator

import oracle
import pyarrow as pa
import pytest
from pathscope import api
from pathscope.dissectors import ledger
from pathscope.replay.live import messages
from pathscope.replay.live.errors import LiveError
from pathscope.replay.live.messages import Sent
from running import CAPTURES, MIXED

FIELDS = (
    "frame.time_epoch",
    "sctp.data_tsn_raw",
    "sctp.data_sid",
    "sctp.data_u_bit",
    "sctp.srcport",
)


def sent(capture: str, end: messages.End) -> tuple[Sent, int]:
    """Return what an end of a lab run sent, and when the association was up."""
    path = CAPTURES / capture / "client.pcapng"
    (association,) = api.analyze(path).associations
    up_ns = association.established.ns
    assert up_ns is not None
    batches = api.dissect(path, "messages", association=association.number)
    return messages.of_association(batches, end, up_ns), up_ns


@pytest.mark.parametrize("capture", ["lab-failover", "lab-lossy", "lab-asconf", "failover-v6"])
def test_messages_are_the_first_transmissions_that_tshark_sees(capture: str) -> None:
    found, up_ns = sent(capture, "a")
    path = CAPTURES / capture / "client.pcapng"
    (association,) = api.analyze(path).associations
    port = association.endpoints["a"].port
    first: dict[str, tuple[int, int, bool]] = {}
    for frame in oracle.fields(path, FIELDS, f"sctp.srcport == {port} && sctp.data_tsn_raw"):
        at_ns = oracle.nanoseconds(frame["frame.time_epoch"][0]) - up_ns
        rows = zip(
            frame["sctp.data_tsn_raw"],
            frame["sctp.data_sid"],
            frame["sctp.data_u_bit"],
            strict=True,
        )
        for tsn, stream, unordered in rows:
            ordered = unordered in ("0", "False")
            first.setdefault(tsn, (max(0, at_ns), int(stream, 0), ordered))
    told = [(one.at_ns, one.stream, bool(one.ordered)) for one in found.messages()]
    assert sorted(told) == sorted(first.values())
    assert told == sorted(told, key=lambda one: one[0])
    assert len(found) > 100


def test_the_other_end_sent_nothing() -> None:
    found, _ = sent("lab-failover", "b")
    assert (len(found), found.last_ns, found.streams, found.user_bytes) == (0, 0, 1, 0)
    assert found.warnings == ()


def test_the_new_payload_of_a_flow_is_all_of_it() -> None:
    analysis = api.analyze(MIXED)
    for flow in analysis.flows:
        table = "segments" if flow.protocol == "tcp" else "datagrams"
        for end in messages.ENDS:
            start_ns = flow.start.ns or 0
            found = messages.of_flow(
                flow.protocol, api.dissect(MIXED, table), flow.number, end, start_ns
            )
            assert found.user_bytes == (flow.directions[end].metrics["new_bytes"].value or 0)


def batch(**columns: list[object]) -> pa.RecordBatch:
    """Return rows of the table of messages; what is not given is that of a plain message."""
    count = len(next(iter(columns.values())))
    plain: dict[str, object] = {
        "association": 0, "sender": "a", "stream": 0, "ordered": True, "sequence": 0,
        "interleaved": False, "ppid": 0, "ppid_name": "", "fragments": 1, "user_bytes": 1,
        "first_tsn": 1, "last_tsn": 1, "first_ns": 0, "first_frame": 1, "last_ns": 0,
        "last_frame": 1, "paths": "0", "outcome": "complete",
    }  # fmt: skip
    given = {name: columns.get(name, [value] * count) for name, value in plain.items()}
    return pa.RecordBatch.from_pydict(given, schema=ledger.schemas()["messages"])


def test_what_cannot_be_known_is_told() -> None:
    rows = batch(outcome=["complete", "abandoned", "partial", "open"], ppid=[1, 2, None, 4])
    found = messages.of_association([rows], "a", 0)
    assert len(found) == 4
    assert [one.ppid for one in found.messages()] == [1, 2, 0, 4]
    first, *others = found.warnings
    assert "first transmission" in first
    assert [text.split(" messages")[0] for text in others] == ["client: 1"] * 3


def test_data_before_the_association_is_up_leaves_at_once() -> None:
    found = messages.of_association([batch(first_ns=[50, 200, 90])], "a", 100)
    assert [one.at_ns for one in found.messages()] == [0, 0, 100]


def test_a_message_that_no_socket_takes_is_refused() -> None:
    rows = batch(user_bytes=[65_536, 65_537, 1 << 31])
    with pytest.raises(LiveError, match="client: 2 messages above 65536 bytes, the largest"):
        messages.of_association([rows], "a", 0)


def test_too_many_messages_are_refused_before_all_are_read() -> None:
    taken = 0

    def endless() -> Iterator[pa.RecordBatch]:
        nonlocal taken
        rows = batch(first_ns=list(range(100_000)))
        while True:
            taken += 1
            yield rows

    with pytest.raises(LiveError, match="more than 2000000 messages"):
        messages.of_association(endless(), "a", 0)
    assert taken == 21


def test_streams_are_as_many_as_the_highest_number_needs() -> None:
    found = messages.of_association([batch(stream=[0, 9, 65_535])], "a", 0)
    assert found.streams == 65_536
