"""A restart (RFC 9260 section 5.2.4) ends one association and begins another."""

from __future__ import annotations

from pathlib import Path

from invariants import check
from ladder import HANDSHAKE, Ladder, second, steady
from pathscope import api


def test_a_restart_is_two_associations(tmp_path: Path) -> None:
    capture = tmp_path / "restart.pcapng"
    capture.write_bytes(
        Ladder()
        .draw(HANDSHAKE + steady(1.0, 1.9, 0.1, 1, tsn=1, rtt=0.01))
        .draw("""
        5.00  a 1  INIT new 101      # a has lost its state: another tag, another first TSN
        5.01  b 1  INIT ACK new 1
        5.02  a 1  COOKIE ECHO
        5.03  b 1  COOKIE ACK
        """)
        .draw(steady(6.0, 6.9, 0.1, 1, tsn=101, rtt=0.01))
        .capture()
    )
    analysis = api.analyze(capture)
    check(analysis)
    old, new = analysis.associations
    assert old.how_it_ended == "restart"
    assert old.restart_of is None
    assert new.restart_of == old.number
    assert [a.totals["a"]["new_chunks"].value for a in (old, new)] == [10, 10]
    (finding,) = [f for f in new.findings if f.rule == "restart"]
    assert finding.frames == (27,)
    assert second(new.start.ns) == 5.0
    assert old.handovers == new.handovers == ()
