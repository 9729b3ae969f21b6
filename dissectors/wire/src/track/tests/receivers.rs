//! What receivers do: windows (RFC 9260 section 6.1) and delayed SACKs (6.2).

use super::script::{established, ms};
use crate::ledger::Ledger;

#[test]
fn a_window_is_closed_until_a_sack_with_more() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2
      150  a1 <- b1  SACK 2 rwnd=0
      400  a1 <- b1  SACK 2 rwnd=0
      900  a1 <- b1  SACK 2 rwnd=5000
     1000  a1 <- b1  SACK 2 rwnd=0",
    );
    let [first, open] = &ledger.zero_windows[..] else { panic!("{:?}", ledger.zero_windows) };
    assert_eq!((first.sender, first.start_ns, first.end_ns), ("b", ms(150), Some(ms(900))));
    assert_eq!((first.sacks, first.probes, first.last_ns), (2, 0, ms(400)));
    assert_eq!((open.start_frame, open.last_frame, open.end_ns), (9, 9, None));
}

/// Section 6.1, A: with nothing in flight the sender may probe with one chunk, and send that again.
#[test]
fn a_probe_is_the_only_chunk_outstanding() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-3
      150  a1 <- b1  SACK 1 rwnd=0
      160  a1 <- b1  SACK 3 rwnd=0
     1160  a1 -> b1  DATA 4
     2160  a1 -> b1  DATA 4
     2170  a1 -> b1  DATA 5
     2210  a1 <- b1  SACK 5 rwnd=9000
     2300  a1 -> b1  DATA 6",
    );
    let [row] = &ledger.zero_windows[..] else { panic!("{:?}", ledger.zero_windows) };
    assert_eq!((row.probes, row.first_probe_frame), (2, Some(8)));
}

fn lone(ledger: &Ledger) -> Vec<(&str, i64, i64)> {
    let in_ms = |ns| ns / ms(1);
    ledger
        .lone_packets
        .iter()
        .map(|row| (row.sender, in_ms(row.time_ns), in_ms(row.delay_ns)))
        .collect()
}

#[test]
fn a_packet_that_comes_alone_shows_the_delay() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2
      300  a1 <- b1  SACK 2
      400  a1 -> b1  DATA 3
      450  a1 -> b1  DATA 4
      451  a1 <- b1  SACK 4
      500  a1 -> b1  DATA 5
      710  a1 <- b1  SACK 5",
    );
    assert_eq!(lone(&ledger), [("b", 100, 200), ("b", 500, 210)]);
    let [row] = &ledger.acknowledgements[..] else { panic!("{:?}", ledger.acknowledgements) };
    assert_eq!((row.data_packets, row.sacks, row.sacks_of_one, row.sacks_of_two), (4, 3, 2, 1));
    assert_eq!((row.sacks_of_more, row.sacks_with_gaps, row.lone_packets), (0, 0, 2));
}

/// At the sender, a packet may still be on its way when the SACK for the two before it comes.
#[test]
fn the_sack_may_come_after_that_of_earlier_packets() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      110  a1 -> b1  DATA 2
      120  a1 -> b1  DATA 3
      190  a1 <- b1  SACK 2
      400  a1 <- b1  SACK 3",
    );
    assert_eq!(lone(&ledger), [("b", 120, 280)]);
}

/// Gaps, the I bit, a retransmission, and DATA that take the SACK along call for it at once.
#[test]
fn what_hastens_a_sack_shows_no_delay() {
    for ladder in [
        "
      100  a1 -> b1  DATA 1-2
      150  a1 <- b1  SACK 0 gaps=2-2",
        "
      100  a1 -> b1  DATA 1
     1100  a1 -> b1  DATA 1
     1150  a1 <- b1  SACK 1",
        "
      100  a1 -> b1  DATA 1
      150  a1 <- b1  SACK 1 + DATA 1",
    ] {
        assert_eq!(lone(&established(ladder)), [], "{ladder}");
    }
}

/// A list that a long capture of requests and answers cannot make grow.
#[test]
fn the_list_has_an_end() {
    let mut ladder = String::new();
    for n in 1..=1030 {
        ladder += &format!("{} a1 -> b1 DATA {n}\n{} a1 <- b1 SACK {n}\n", n * 100, n * 100 + 50);
    }
    let ledger = established(&ladder);
    assert_eq!((ledger.lone_packets.len(), ledger.acknowledgements[0].lone_packets), (1024, 1030));
}
