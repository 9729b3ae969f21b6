//! Head-of-line blocking (RFC 9260 section 6.6; RFC 8260 for I-DATA; RFC 3758 for what is given up).

use proptest::prelude::*;

use super::script::{established, ms};
use crate::ledger::{BlockingRow, Ledger};

/// Stream, messages that waited, sum and longest in ms; what they would have waited in one stream.
type Waits = (u16, u64, u64, u64, u64, u64);

fn waits(ledger: &Ledger, seen_by: &str) -> Vec<Waits> {
    let in_ms = |ns: u64| ns / ms(1) as u64;
    let row = |row: &BlockingRow| {
        let single = (row.single_waited, in_ms(row.single_wait_sum_ns));
        let (sum, longest) = (in_ms(row.wait_sum_ns), in_ms(row.wait_max_ns));
        (row.stream, row.waited, sum, longest, single.0, single.1)
    };
    let mut rows: Vec<_> =
        ledger.blocking.iter().filter(|row| row.seen_by == seen_by).map(row).collect();
    rows.sort_unstable();
    rows
}

/// At the sender: TSN 1 of stream 0 is missing until 400; 2 is of stream 0, 3 of stream 1.
#[test]
fn a_message_waits_for_the_one_before_it_in_its_stream() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1 stream=0 ssn=0 + DATA 2 stream=0 ssn=1 + DATA 3 stream=1 ssn=0
      150  a1 <- b1  SACK 0 gaps=2-2
      160  a1 <- b1  SACK 0 gaps=2-3
      350  a1 -> b1  DATA 1 stream=0 ssn=0
      400  a1 <- b1  SACK 3",
    );
    assert_eq!(waits(&ledger, "sack"), [(0, 1, 250, 250, 1, 250), (1, 0, 0, 0, 1, 240)]);
    assert_eq!(waits(&ledger, "data"), []);
    let row = &ledger.blocking[0];
    assert_eq!((row.longest_tsn, row.longest_start_ns), (Some(1), Some(ms(150))));
    assert_eq!((row.longest_start_frame, row.longest_end_frame), (Some(6), Some(9)));
}

/// At the receiver the DATA tell, sooner than the SACKs.
#[test]
fn the_data_tell_what_the_receiver_had() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 2 stream=0 ssn=1
      110  a1 <- b1  SACK 0 gaps=2-2
      120  a1 -> b1  DATA 3 stream=0 ssn=2
      121  a1 <- b1  SACK 0 gaps=2-3
      300  a1 -> b1  DATA 1 stream=0 ssn=0
      310  a1 <- b1  SACK 3",
    );
    assert_eq!(waits(&ledger, "data"), [(0, 2, 380, 200, 2, 380)]);
    assert_eq!(waits(&ledger, "sack"), [(0, 2, 389, 200, 2, 389)]);
}

/// Unordered messages are delivered as they arrive.
#[test]
fn unordered_messages_do_not_wait() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2 U
      150  a1 <- b1  SACK 0 gaps=2-2
      350  a1 -> b1  DATA 1 U
      400  a1 <- b1  SACK 2",
    );
    assert_eq!(ledger.blocking, []);
}

/// A message that lacks a fragment of its own has not arrived: nothing waits for order.
#[test]
fn a_missing_fragment_is_no_blocking() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1 B + DATA 2 M + DATA 3 E
      150  a1 <- b1  SACK 1 gaps=2-2
      350  a1 -> b1  DATA 2 M
      400  a1 <- b1  SACK 3",
    );
    assert_eq!(waits(&ledger, "sack"), []);
}

/// The fragments of the message that is complete may have passed long before.
#[test]
fn a_fragmented_message_waits_from_its_last_fragment_on() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1 + DATA 2 B + DATA 3 M + DATA 4 E
      150  a1 <- b1  SACK 0 gaps=2-3
      200  a1 <- b1  SACK 0 gaps=2-4
      350  a1 -> b1  DATA 1
      400  a1 <- b1  SACK 4",
    );
    assert_eq!(waits(&ledger, "sack"), [(0, 1, 200, 200, 1, 200)]);
}

/// I-DATA of several streams lie between each other's fragments.
#[test]
fn interleaved_messages_wait_by_stream() {
    let ledger = established(
        "
      100  a1 -> b1  I-DATA 1 stream=1 mid=0 B + I-DATA 2 stream=2 mid=0 + I-DATA 3 stream=1 mid=0 fsn=1 E
      101  a1 -> b1  I-DATA 4 stream=2 mid=1 + I-DATA 5 stream=1 mid=1
      150  a1 <- b1  SACK 1 gaps=2-4
      400  a1 <- b1  SACK 5",
    );
    // TSN 2 is missing: MID 1 of stream 2 (TSN 4) waits; of stream 1 only a single stream would,
    // MID 0 and MID 1 in rows of their own: the protocol of MID 0 was told before TSN 2 was missed.
    let rows = [(1, 0, 0, 0, 1, 250), (2, 1, 250, 250, 1, 250)];
    assert_eq!(waits(&ledger, "sack"), [&rows[..1], &rows[..]].concat());
}

/// RFC 3758 section 3.6: FORWARD-TSN lets the receiver deliver what waited.
#[test]
fn giving_up_ends_the_wait() {
    let ladder = "
      100  a1 -> b1  I-DATA 2 stream=3 mid=1
      110  a1 <- b1  SACK 0 gaps=2-2
      500  a1 -> b1  I-FORWARD-TSN 1 skip=3:0
      510  a1 <- b1  SACK 2";
    let ledger = established(ladder);
    assert_eq!(waits(&ledger, "data"), [(3, 1, 400, 400, 1, 400)]);
}

/// Chunks in order pass without a look, and nothing stays from before.
#[test]
fn order_costs_no_row() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-3
      150  a1 <- b1  SACK 0 gaps=2-2
      160  a1 <- b1  SACK 3
      200  a1 -> b1  DATA 4-6
      250  a1 <- b1  SACK 5
      260  a1 <- b1  SACK 6",
    );
    assert_eq!(waits(&ledger, "sack"), [(0, 1, 10, 10, 1, 10)]);
}

/// Arrivals in any order, against the definition: a message is delivered when it and all before it
/// in its stream have arrived.
fn expected(arrivals: &[(u32, u16)]) -> Vec<Waits> {
    let at = |tsn: u32| arrivals.iter().position(|(one, _)| *one == tsn).unwrap() as u64;
    let mut rows: Vec<Waits> = Vec::new();
    for stream in 0..3 {
        let mut row = (stream, 0, 0, 0, 0, 0);
        for &(tsn, _) in arrivals.iter().filter(|(_, own)| *own == stream) {
            let until = |alone: bool| {
                let before =
                    arrivals.iter().filter(|(one, s)| *one <= tsn && (!alone || *s == stream));
                before.map(|(one, _)| at(*one)).max().unwrap() - at(tsn)
            };
            let (wait, single) = (until(true), until(false));
            row.1 += u64::from(wait > 0);
            row.2 += wait;
            row.3 = row.3.max(wait);
            row.4 += u64::from(single > 0);
            row.5 += single;
        }
        if row.4 > 0 {
            rows.push(row);
        }
    }
    rows
}

proptest! {
    #[test]
    fn any_order_waits_by_the_definition(
        streams in proptest::collection::vec(0_u16..3, 1..12),
        order in any::<prop::sample::Index>(),
        seed in any::<u64>(),
    ) {
        let mut tsns: Vec<u32> = (1..=streams.len() as u32).collect();
        let mut state = seed ^ order.index(1 << 20) as u64 | 1;
        for last in (1..tsns.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            tsns.swap(last, (state >> 33) as usize % (last + 1));
        }
        let arrivals: Vec<(u32, u16)> =
            tsns.iter().map(|tsn| (*tsn, streams[*tsn as usize - 1])).collect();
        let mut ladder = String::new();
        for (index, (tsn, stream)) in arrivals.iter().enumerate() {
            ladder += &format!("{} a1 -> b1 DATA {tsn} stream={stream}\n", 100 + index);
        }
        ladder += &format!("{} a1 <- b1 SACK {}\n", 200, streams.len());
        let ledger = established(&ladder);
        prop_assert_eq!(waits(&ledger, "data"), expected(&arrivals));
    }
}
