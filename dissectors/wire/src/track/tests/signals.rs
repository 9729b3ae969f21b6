//! HEARTBEATs, silences, stalls, and the counters of the time bins.

use super::script::{established, ms, play};
use crate::ledger::Ledger;

#[test]
fn a_heartbeat_finds_its_answer_by_its_info() {
    let ledger = established(
        "
      100  a1 -> b1  HEARTBEAT 1
      101  a2 -> b2  HEARTBEAT 2
      102  a2 -> b2  HEARTBEAT 3
      130  a2 <- b2  HEARTBEAT-ACK 2
      140  a1 <- b1  HEARTBEAT-ACK 1",
    );
    let rows: Vec<_> =
        ledger.heartbeats.iter().map(|row| (row.path, row.rtt_ns, row.ack_path)).collect();
    assert_eq!(rows, [(0, Some(ms(40)), Some(0)), (1, Some(ms(29)), Some(1)), (1, None, None)]);
    assert_eq!(ledger.heartbeats[0].ack_frame, Some(9));
}

/// RFC 9260 section 8.3 sends the answer to the HEARTBEAT's source; routing may do otherwise.
#[test]
fn an_answer_on_another_path_says_so() {
    let ledger = established(
        "
      100  a1 -> b1  HEARTBEAT 1
      140  a2 <- b2  HEARTBEAT-ACK 1",
    );
    let row = &ledger.heartbeats[0];
    assert_eq!((row.path, row.ack_path, row.rtt_ns), (0, Some(1), Some(ms(40))));
}

#[test]
fn an_answer_counts_once_and_only_from_the_peer() {
    let ledger = established(
        "
      100  a1 -> b1  HEARTBEAT 1
      110  a1 -> b1  HEARTBEAT-ACK 1
      120  a1 <- b1  HEARTBEAT-ACK 9
      140  a1 <- b1  HEARTBEAT-ACK 1
      150  a1 <- b1  HEARTBEAT-ACK 1",
    );
    assert_eq!((ledger.heartbeats.len(), ledger.heartbeats[0].ack_ns), (1, Some(ms(140))));
    assert_eq!(ledger.rtt.iter().map(|row| row.count).sum::<u64>(), 1);
}

#[test]
fn half_a_second_without_a_packet_is_a_silence() {
    let ledger = play(
        "
        0  a1 -> b1  DATA 1
      499  a1 -> b1  DATA 2
      998  a1 <- b1  SACK 2
      999  a1 -> b1  HEARTBEAT 1
     1000  a2 -> b2  DATA 3",
    );
    let [row] = &ledger.silences[..] else { panic!("{:?}", ledger.silences) };
    assert_eq!((row.path, row.sender, row.start_ns, row.end_ns), (0, "a", ms(499), ms(999)));
    assert_eq!((row.start_frame, row.end_frame, row.first_chunk), (2, 4, "HEARTBEAT"));
}

#[test]
fn a_stall_is_a_stop_of_the_cumulative_tsn() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-3
      150  a1 <- b1  SACK 1
      200  a1 <- b1  SACK 1 gaps=2-2
     1200  a1 -> b1  DATA 2
     1250  a1 <- b1  SACK 3",
    );
    let [row] = &ledger.stalls[..] else { panic!("{:?}", ledger.stalls) };
    assert_eq!((row.sender, row.start_ns, row.end_ns), ("a", ms(150), ms(1250)));
    assert_eq!((row.tsn_before, row.tsn_after, row.start_frame, row.end_frame), (1, 3, 6, 9));
}

/// A sender with nothing to send does not stall.
#[test]
fn idleness_is_no_stall() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      150  a1 <- b1  SACK 1
     5000  a1 -> b1  DATA 2
     5050  a1 <- b1  SACK 2",
    );
    assert_eq!(ledger.stalls, []);
}

fn total(ledger: &Ledger, count: impl Fn(&crate::ledger::IntervalRow) -> u64) -> u64 {
    ledger.intervals.iter().map(count).sum()
}

#[test]
fn bins_add_up_to_the_totals() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-3 bytes=500
      199  a1 -> b1  DATA 4 bytes=500
      200  a2 -> b2  DATA 5 bytes=500
      250  a1 <- b1  SACK 2 gaps=2-3
     1250  a2 -> b2  DATA 3 bytes=500
     1300  a2 <- b2  SACK 5",
    );
    assert_eq!(total(&ledger, |bin| bin.packets), ledger.associations[0].packets);
    assert_eq!(total(&ledger, |bin| bin.data_chunks), 6);
    assert_eq!(total(&ledger, |bin| bin.new_chunks), 5);
    assert_eq!(total(&ledger, |bin| bin.new_bytes), 2500);
    assert_eq!(total(&ledger, |bin| bin.retransmitted_chunks), ledger.retransmissions.len() as u64);
    assert_eq!(total(&ledger, |bin| bin.retransmitted_bytes), 500);
    assert_eq!(total(&ledger, |bin| bin.acked_chunks), 5);
    assert_eq!(total(&ledger, |bin| bin.acked_bytes), 2500);
    assert_eq!(total(&ledger, |bin| bin.rtt_count), ledger.rtt.iter().map(|row| row.count).sum());
    let keys: Vec<_> =
        ledger.intervals.iter().map(|bin| (bin.path, bin.sender, bin.start_ns)).collect();
    let mut unique = keys.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), keys.len());
    assert!(keys.iter().all(|(_, _, start_ns)| start_ns % ms(100) == 0));
}

/// A SACK counts for the path that carried the DATA, even when it comes on another.
#[test]
fn a_bin_may_hold_nothing_but_acknowledgements() {
    let ledger = established(
        "
      110  a1 -> b1  DATA 1 bytes=500
      310  a2 <- b2  SACK 1",
    );
    let bin = ledger.intervals.iter().find(|bin| bin.acked_bytes > 0).unwrap();
    assert_eq!((bin.path, bin.sender, bin.start_ns), (0, "a", ms(300)));
    assert_eq!((bin.packets, bin.first_ns, bin.last_ns), (0, None, None));
    assert_eq!((bin.acked_chunks, bin.rtt_count, bin.rtt_min_ns), (1, 1, Some(ms(200) as u64)));
}

#[test]
fn flight_and_window_of_a_bin() {
    let ledger = established(
        "
      110  a1 -> b1  DATA 1-2 bytes=500
      120  a1 -> b1  DATA 3 bytes=500
      130  a1 <- b1  SACK 3 rwnd=9000
      131  a1 <- b1  SACK 3 rwnd=7000
      132  a1 <- b1  SACK 3 rwnd=8000
      140  a1 -> b1  DATA 4 bytes=500",
    );
    let of = |sender| {
        ledger.intervals.iter().find(|bin| bin.sender == sender && bin.start_ns == ms(100))
    };
    assert_eq!(of("a").unwrap().flight_max_bytes, 1500);
    assert_eq!(of("b").unwrap().a_rwnd_min_bytes, Some(7000));
}

/// Captures of several interfaces may go back a little; a clock that is set goes back far.
#[test]
fn a_late_packet_counts_in_the_open_bin_and_a_clock_step_opens_another() {
    let ledger = play(
        "
   100000  a1 -> b1  DATA 1
    99990  a1 -> b1  DATA 2
    10000  a1 -> b1  DATA 3",
    );
    let bins: Vec<_> = ledger.intervals.iter().map(|bin| (bin.start_ns, bin.packets)).collect();
    assert_eq!(bins, [(ms(100_000), 2), (ms(10_000), 1)]);
    assert_eq!(ledger.intervals[0].first_ns, Some(ms(99_990)));
    // What came last in time is not what came last in the file.
    assert_eq!((ledger.paths[0].last_ns, ledger.paths[0].last_frame), (ms(100_000), 3));
    assert_eq!(ledger.associations[0].end_ns, ms(100_000));
}

/// A sender that repeats its info means the latest HEARTBEAT.
#[test]
fn repeated_info_is_answered_latest_first() {
    let ledger = established(
        "
      100  a1 -> b1  HEARTBEAT 1
     1100  a1 -> b1  HEARTBEAT 1
     1140  a1 <- b1  HEARTBEAT-ACK 1",
    );
    let rtts: Vec<_> = ledger.heartbeats.iter().map(|row| row.rtt_ns).collect();
    assert_eq!(rtts, [None, Some(ms(40))]);
}
