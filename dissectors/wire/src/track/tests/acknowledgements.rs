//! SACK, SHUTDOWN and FORWARD-TSN: round-trip times, disorder, what was needless.

use super::script::{HANDSHAKE, Scene, established, ms};
use crate::ledger::Ledger;

/// Path, count, sum in ms of the RTT samples.
fn samples(ledger: &Ledger) -> Vec<(u32, u64, u64)> {
    let bins = ledger.intervals.iter().filter(|bin| bin.rtt_count > 0);
    bins.map(|bin| (bin.path, bin.rtt_count, bin.rtt_sum_ns / ms(1) as u64)).collect()
}

fn acked(ledger: &Ledger) -> (u64, u64) {
    let bins = || ledger.intervals.iter();
    (bins().map(|bin| bin.acked_chunks).sum(), bins().map(|bin| bin.acked_bytes).sum())
}

#[test]
fn a_sack_gives_one_sample_a_path() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      110  a1 -> b1  DATA 2
      120  a2 -> b2  DATA 3
      125  a2 -> b2  DATA 4
      150  a1 <- b1  SACK 4",
    );
    assert_eq!(samples(&ledger), [(0, 1, 40), (1, 1, 25)]);
}

/// RFC 9260 section 6.2: a receiver may wait with its SACK. The chunk sent last waited least.
#[test]
fn a_delayed_sack_counts_the_latest_chunk() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      280  a1 -> b1  DATA 2
      300  a1 <- b1  SACK 2",
    );
    assert_eq!(samples(&ledger), [(0, 1, 20)]);
}

/// Section 6.3.1, C5 (Karn): no sample from a chunk that was sent more than once.
#[test]
fn a_retransmitted_chunk_gives_no_sample() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1200  a1 -> b1  DATA 1
     1250  a1 <- b1  SACK 1",
    );
    assert_eq!((samples(&ledger), ledger.rtt.len()), (vec![], 0));
    let beside = established(
        "
      100  a1 -> b1  DATA 1-2
     1200  a1 -> b1  DATA 1
     1240  a1 -> b1  DATA 3
     1250  a1 <- b1  SACK 3",
    );
    assert_eq!(samples(&beside), [(0, 1, 10)]);
}

#[test]
fn a_gap_block_gives_a_sample_once() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-3
      150  a1 <- b1  SACK 0 gaps=2-3
      151  a1 <- b1  SACK 0 gaps=2-3
     1250  a1 -> b1  DATA 1
     1300  a1 <- b1  SACK 3",
    );
    assert_eq!(samples(&ledger), [(0, 1, 50)]);
    assert_eq!(acked(&ledger), (3, 300));
}

/// Section 6.2.1, i: an older cumulative TSN is out of order; its blocks count from where it stands.
#[test]
fn an_overtaken_sack_says_nothing_old_again() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-6
      150  a1 <- b1  SACK 4
      151  a1 <- b1  SACK 1 gaps=2-3
      152  a1 <- b1  SACK 2 gaps=4-4
      160  a1 <- b1  SACK 5",
    );
    assert_eq!(acked(&ledger), (6, 600));
    assert_eq!(ledger.stalls, []);
}

#[test]
fn gap_blocks_that_overlap_or_go_back_are_a_problem() {
    for gaps in ["2-4,3-5", "5-6,2-3", "4-2", "0-1"] {
        let mut scene = Scene::new();
        scene.play(HANDSHAKE);
        scene.play("100  a1 -> b1  DATA 1-7");
        scene.play(&format!("150  a1 <- b1  SACK 0 gaps={gaps}"));
        assert_eq!(scene.problems, ["gap blocks overlap or are out of order"], "{gaps}");
    }
}

#[test]
fn a_duplicate_tsn_shows_that_the_first_had_arrived() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2
     1200  a1 -> b1  DATA 1
     1210  a1 -> b1  DATA 2
     1260  a1 <- b1  SACK 2 dups=1",
    );
    let rows: Vec<_> = ledger.retransmissions.iter().map(|row| (row.tsn, row.spurious)).collect();
    assert_eq!(rows, [(1, Some("duplicate-tsn")), (2, None)]);
}

/// The report may come in a later SACK than the acknowledgement.
#[test]
fn a_duplicate_tsn_reported_late() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1200  a1 -> b1  DATA 1
     1201  a1 <- b1  SACK 1
     1260  a1 <- b1  SACK 1 dups=1",
    );
    let row = &ledger.retransmissions[0];
    assert_eq!((row.spurious, row.ack_ns), (Some("duplicate-tsn"), Some(ms(1201))));
}

/// No answer can come sooner than the path's least RTT.
#[test]
fn an_answer_that_comes_too_early_is_to_the_first_transmission() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      150  a1 <- b1  SACK 1
      200  a1 -> b1  DATA 2-3
     1300  a1 -> b1  DATA 2
     1310  a1 <- b1  SACK 2
     1320  a1 -> b1  DATA 3
     1375  a1 <- b1  SACK 3",
    );
    let rows: Vec<_> =
        ledger.retransmissions.iter().map(|row| (row.tsn, row.spurious, row.ack_ns)).collect();
    assert_eq!(rows, [(2, Some("early-ack"), Some(ms(1310))), (3, None, Some(ms(1375)))]);
}

/// RFC 3758 section 3.5: what FORWARD-TSN passes is covered by later SACKs but was not delivered.
#[test]
fn abandoned_chunks_are_no_goodput() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-4
      150  a1 <- b1  SACK 1 gaps=3-3
      300  a1 -> b1  FORWARD-TSN 3
      350  a1 <- b1  SACK 4",
    );
    assert_eq!(acked(&ledger), (2, 200));
    assert_eq!(samples(&ledger), [(0, 1, 50)]);
}

#[test]
fn abandoned_chunks_leave_the_flight() {
    let mut scene = Scene::new();
    scene.play(HANDSHAKE);
    scene.play(
        "
      100  a1 -> b1  DATA 1-4
      300  a1 -> b1  FORWARD-TSN 3
      350  a1 <- b1  SACK 4",
    );
    assert_eq!(scene.flight_bytes(crate::track::End::A, 0), 0);
}

/// Section 9.2: SHUTDOWN acknowledges what a SACK would.
#[test]
fn a_shutdown_acknowledges() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2
      150  a1 <- b1  SHUTDOWN 2",
    );
    assert_eq!((acked(&ledger), samples(&ledger)), ((2, 200), vec![(0, 1, 50)]));
    assert_eq!(ledger.runs[0].first_ack_ns, Some(ms(150)));
}

#[test]
fn the_table_of_round_trip_times() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      120  a1 <- b1  SACK 1
      200  a1 -> b1  DATA 2
      240  a1 <- b1  SACK 2
      300  a1 -> b1  HEARTBEAT 1
      330  a1 <- b1  HEARTBEAT-ACK 1
      400  a1 <- b1  DATA 1
      410  a1 -> b1  SACK 1",
    );
    let rows: Vec<_> = ledger
        .rtt
        .iter()
        .map(|row| (row.sender, row.kind, row.count, row.min_ns, row.max_ns))
        .collect();
    let ms = |time| ms(time) as u64;
    let expected = [
        ("a", "sack", 2, ms(20), ms(40)),
        ("a", "heartbeat", 1, ms(30), ms(30)),
        ("b", "sack", 1, ms(10), ms(10)),
    ];
    assert_eq!(rows, expected);
    let row = &ledger.rtt[0];
    assert_eq!(row.mean_ns, 30e6);
    // Of 20 and 40 around 30: the root of (10^2 + 10^2) / (2 - 1).
    assert!((row.sd_ns - 200_f64.sqrt() * 1e6).abs() < 1.0);
}

/// The two lists of an NR-SACK each begin at the cumulative TSN.
#[test]
fn an_nr_sack_acknowledges_with_both_lists() {
    let ledger = established(
        "
      100  a1 -> b1  I-DATA 1-6
      150  a1 <- b1  NR-SACK 0 gaps=5-5 kept=2-3
      160  a1 <- b1  NR-SACK 0 gaps=5-6 kept=2-3",
    );
    assert_eq!(acked(&ledger), (4, 400));
    assert_eq!(ledger.runs[0].chunks, 6);
}
