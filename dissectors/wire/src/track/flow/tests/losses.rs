//! New, late and repeated segments, and why they were repeated.

use super::ladder::{MS, established, way};
use crate::ledger::Ledger;

/// Sequence, cause, transmission, spurious.
fn repeated(ledger: &Ledger) -> Vec<(u32, &'static str, u32, bool)> {
    ledger
        .of_flows()
        .tcp_retransmissions
        .iter()
        .map(|row| (row.sequence, row.cause, row.transmission, row.spurious))
        .collect()
}

const FIVE: &str = "
    30 a A seq=100 ack=500 len=100
    31 a A seq=200 ack=500 len=100
    32 a A seq=300 ack=500 len=100
    33 a A seq=400 ack=500 len=100
    34 a A seq=500 ack=500 len=100";

#[test]
fn round_trips_by_karns_rule_and_by_timestamps() {
    let ledger = established(
        "30  a A seq=100 ack=500 len=100 ts=7/0
         40  b A seq=500 ack=200 ts=90/7
         50  a A seq=200 ack=500 len=100 ts=8/90
         300 a A seq=200 ack=500 len=100 ts=9/90
         320 b A seq=500 ack=300 ts=91/9",
    );
    let a = way(&ledger, "a");
    assert_eq!((a.rtt_count, a.rtt_max_ns), (1, Some(10 * MS as u64)));
    assert_eq!((a.timestamp_rtt_count, a.timestamp_rtt_max_ns), (2, Some(20 * MS as u64)));
    assert_eq!(repeated(&ledger), [(200, "timeout", 2, false)]);
    let bin = ledger.of_flows().flow_intervals.iter().find(|row| row.sender == "a").unwrap();
    assert_eq!((bin.rtt_count, bin.rtt_sum_ns, bin.new_bytes), (1, 10 * MS as u64, 200));
}

#[test]
fn three_duplicate_acks_are_a_fast_retransmission() {
    let ledger = established(&format!(
        "{FIVE}
         41 b A seq=500 ack=200
         42 b A seq=500 ack=200
         43 b A seq=500 ack=200
         44 b A seq=500 ack=200
         45 a A seq=200 ack=500 len=100
         55 b A seq=500 ack=600"
    ));
    let (a, b) = (way(&ledger, "a"), way(&ledger, "b"));
    assert_eq!(repeated(&ledger), [(200, "fast", 2, false)]);
    assert_eq!(b.duplicate_acks, 3);
    assert_eq!((a.fast_retransmissions, a.new_bytes, a.acked_bytes), (1, 500, 500));
    assert_eq!((a.retransmitted_bytes, a.flight_max_bytes), (100, 500));
    // The ACK at 55 covers a repeated segment: no sample but that of 100-200.
    assert_eq!(a.rtt_count, 1);
}

#[test]
fn a_sacked_segment_above_is_enough() {
    let ledger = established(&format!(
        "{FIVE}
         44 b A seq=500 ack=200 sack=400-600
         45 a A seq=200 ack=500 len=100
         46 a A seq=300 ack=500 len=100
         55 b A seq=500 ack=600"
    ));
    assert_eq!(repeated(&ledger), [(200, "fast", 2, false), (300, "fast", 2, false)]);
}

#[test]
fn a_time_out_and_what_follows_in_its_wake() {
    let ledger = established(&format!(
        "{FIVE}
         300 a A seq=100 ack=500 len=100
         310 b A seq=500 ack=200
         311 a A seq=200 ack=500 len=100
         312 a A seq=300 ack=500 len=100
         700 a A seq=300 ack=500 len=100"
    ));
    let found = [
        (100, "timeout", 2, false),
        (200, "timeout", 2, false),
        (300, "timeout", 2, false),
        (300, "timeout", 3, false),
    ];
    assert_eq!(repeated(&ledger), found);
    let row = &ledger.of_flows().tcp_retransmissions[3];
    assert_eq!((row.first_ns, row.previous_ns), (Some(32 * MS), Some(312 * MS)));
}

#[test]
fn the_last_segment_again_after_two_round_trips_is_a_probe() {
    let ledger = established(
        "30 a A seq=100 ack=500 len=100
         50 b A seq=500 ack=200
         60 a A seq=200 ack=500 len=100
         105 a A seq=200 ack=500 len=100",
    );
    assert_eq!(repeated(&ledger), [(200, "probe", 2, false)]);
}

/// RFC 2883 section 4: the first block reports what arrived twice.
#[test]
fn a_dsack_makes_a_retransmission_spurious() {
    let ledger = established(
        "30  a A seq=100 ack=500 len=100
         31  a A seq=200 ack=500 len=100
         300 a A seq=100 ack=500 len=100
         301 b A seq=500 ack=300
         310 b A seq=500 ack=300 sack=100-200",
    );
    assert_eq!(repeated(&ledger), [(100, "timeout", 2, true)]);
    assert_eq!(way(&ledger, "a").spurious_retransmissions, 1);
    assert_eq!(way(&ledger, "b").duplicate_acks, 0);
}

#[test]
fn an_overtaken_segment_is_new_but_out_of_order() {
    let ledger = established(
        "30 a A seq=100 ack=500 len=100
         31 a A seq=300 ack=500 len=100
         32 a A seq=200 ack=500 len=100
         42 b A seq=500 ack=400",
    );
    let a = way(&ledger, "a");
    assert_eq!((a.out_of_order_packets, a.out_of_order_bytes), (1, 100));
    assert_eq!((a.new_bytes, a.retransmitted_packets, a.unseen_bytes), (300, 0, 0));
}

#[test]
fn a_gap_filled_late_was_lost_before_the_capture() {
    let late = |timestamps: [u32; 2]| {
        let [then, now] = timestamps;
        let ledger = established(&format!(
            "30  a A seq=100 ack=500 len=100
             31  a A seq=300 ack=500 len=100 ts={then}/0
             300 a A seq=200 ack=500 len=100 ts={now}/0"
        ));
        let a = way(&ledger, "a");
        (a.out_of_order_packets, a.retransmitted_packets)
    };
    assert_eq!(late([7, 7]), (0, 1));
    assert_eq!(late([7, 9]), (0, 1));
    // The sender's own clock says that it was sent before.
    assert_eq!(late([7, 6]), (1, 0));
}

#[test]
fn what_is_acknowledged_but_not_in_the_capture() {
    let ledger = established(
        "30 a A seq=100 ack=500 len=100
         31 a A seq=300 ack=500 len=100
         42 b A seq=500 ack=600",
    );
    let a = way(&ledger, "a");
    assert_eq!((a.new_bytes, a.acked_bytes, a.unseen_bytes), (200, 500, 300));
}

#[test]
fn a_segment_may_be_partly_new() {
    let ledger = established(
        "30  a A seq=100 ack=500 len=100
         300 a A seq=100 ack=500 len=250",
    );
    let a = way(&ledger, "a");
    assert_eq!((a.new_bytes, a.retransmitted_bytes, a.retransmitted_packets), (250, 100, 1));
}

#[test]
fn sequence_numbers_wrap() {
    let ledger = super::ladder::play(
        "0  a S  seq=4294967195
         10 b SA seq=499 ack=4294967196
         20 a A  seq=4294967196 ack=500 len=200
         30 a A  seq=100 ack=500 len=100
         40 b A  seq=500 ack=200
         300 a A seq=4294967196 ack=500 len=200",
    );
    let a = way(&ledger, "a");
    assert_eq!((a.new_bytes, a.acked_bytes, a.retransmitted_bytes), (300, 300, 200));
    assert_eq!(a.unseen_bytes, 0);
}

#[test]
fn a_copy_of_a_frame_is_no_retransmission() {
    let ledger = established(
        "30   a A seq=100 ack=500 len=100 id=7
         30.5 a A seq=100 ack=500 len=100 id=7
         40   b A seq=500 ack=200 id=8
         40.1 b A seq=500 ack=200 id=8",
    );
    assert_eq!(ledger.of_flows().flows[0].duplicate_frames, 2);
    let (a, b) = (way(&ledger, "a"), way(&ledger, "b"));
    assert_eq!((a.packets, a.retransmitted_packets, b.packets), (3, 0, 2));
}

/// Without an identification, equal bare ACKs are the receiver's own.
#[test]
fn duplicate_acks_are_no_copies() {
    let ledger = established(&format!(
        "{FIVE}
         41   b A seq=500 ack=200 id=0
         41.1 b A seq=500 ack=200 id=0
         41.2 b A seq=500 ack=200 id=0"
    ));
    assert_eq!(way(&ledger, "b").duplicate_acks, 2);
    assert_eq!(ledger.of_flows().flows[0].duplicate_frames, 0);
}
