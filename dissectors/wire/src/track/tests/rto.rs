//! The RTO by the round trips seen (RFC 9260 section 6.3.1), and Fast Recovery (7.2.4).

use super::script::{established, ms};
use crate::ledger::Ledger;

/// SRTT and RTO of each bin that has them, in ms, with the bin's begin.
fn models(ledger: &Ledger) -> Vec<(i64, u64, u64)> {
    let in_ms = |ns: Option<u64>| ns.map(|ns| ns / ms(1) as u64);
    let rows = ledger.intervals.iter().filter(|row| row.sender == "a" && row.path == 0);
    rows.filter_map(|row| {
        let rto = row.srtt_ns.zip(row.rttvar_ns).map(|(srtt, rttvar)| srtt + 4 * rttvar);
        assert_eq!(row.rto_model_ns, rto);
        Some((row.start_ns / ms(1), in_ms(row.srtt_ns)?, in_ms(rto)?))
    })
    .collect()
}

#[test]
fn samples_of_data_and_heartbeats_make_the_model() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      140  a1 <- b1  SACK 1
      300  a1 -> b1  HEARTBEAT 1
      420  a1 <- b1  HEARTBEAT-ACK 1
      500  a1 -> b1  DATA 2",
    );
    // 40 and 20; then 40 + 80 / 8, 20 + (80 - 20) / 4.
    assert_eq!(models(&ledger), [(100, 40, 120), (300, 40, 120), (400, 50, 190), (500, 50, 190)]);
}

/// C4: of the chunks of one round trip the first is timed, though the SACK comes for all.
#[test]
fn one_sample_a_round_trip() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      130  a1 -> b1  DATA 2
      150  a1 <- b1  SACK 2",
    );
    assert_eq!(models(&ledger), [(100, 50, 150)]);
}

/// C5, Karn: a chunk sent twice gives no sample; the next new one does.
#[test]
fn a_retransmission_spoils_the_sample() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1100  a1 -> b1  DATA 1
     1150  a1 <- b1  SACK 1
     1200  a1 -> b1  DATA 2
     1260  a1 <- b1  SACK 2",
    );
    assert_eq!(models(&ledger), [(1200, 60, 180)]);
}

/// An expiry has the model of its time, and how often it had been doubled.
#[test]
fn an_expiry_has_its_model() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      140  a1 <- b1  SACK 1
      200  a1 -> b1  DATA 2
     1200  a1 -> b1  DATA 2
     3200  a1 -> b1  DATA 2",
    );
    let rows: Vec<_> =
        ledger.timeouts.iter().map(|row| (row.rto_model_ns, row.doublings)).collect();
    let model_ns = Some(ms(120) as u64);
    assert_eq!(rows, [(model_ns, 0), (model_ns, 1)]);
}

/// Section 7.2.4: in Fast Recovery a SACK that moves the cumulative TSN indicates every chunk
/// missing that it reports so. Without that, chunk 6 had two indications, and T3-rtx the blame.
#[test]
fn fast_recovery_indicates_all_that_is_missing() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-8
      150  a1 <- b1  SACK 0 gaps=2-3
      151  a1 <- b1  SACK 0 gaps=2-4
      152  a1 <- b1  SACK 0 gaps=2-5
      153  a1 -> b1  DATA 1
      160  a1 <- b1  SACK 0 gaps=2-5,7-7
      200  a1 <- b1  SACK 5 gaps=2-2
      201  a1 <- b1  SACK 5 gaps=2-3
      202  a1 -> b1  DATA 6",
    );
    let causes: Vec<_> = ledger
        .retransmissions
        .iter()
        .map(|row| (row.tsn, row.cause, row.miss_indications))
        .collect();
    assert_eq!(causes, [(1, "fast", 3), (6, "fast", 3)]);
    assert_eq!(ledger.timeouts, []);
}

/// Outside of Fast Recovery the highest newly acknowledged TSN is the bound.
#[test]
fn without_fast_recovery_only_what_is_new_indicates() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-8
      150  a1 <- b1  SACK 0 gaps=2-5,7-7
      151  a1 <- b1  SACK 5 gaps=2-2
      152  a1 <- b1  SACK 5 gaps=2-3
     1300  a1 -> b1  DATA 6",
    );
    let [row] = &ledger.retransmissions[..] else { panic!("{:?}", ledger.retransmissions) };
    assert_eq!((row.cause, row.miss_indications), ("t3", 2));
}

/// A gap block restarts the timer by the RFC; where that leaves too short a wait, it did not.
#[test]
fn a_start_in_doubt_is_told() {
    let ladder = |resent_ms: u32| {
        established(&format!(
            "
          100  a2 -> b2  HEARTBEAT 1
          300  a2 <- b2  HEARTBEAT-ACK 1
          400  a1 -> b1  DATA 1
          500  a2 -> b2  DATA 2-3
          700  a2 <- b2  SACK 0 gaps=2-2
          {resent_ms}  a2 -> b2  DATA 3"
        ))
    };
    let times = |ledger: &Ledger| {
        let row = &ledger.timeouts[0];
        (row.armed_ns.map(|ns| ns / ms(1)), row.earliest_armed_ns.map(|ns| ns / ms(1)))
    };
    assert_eq!(times(&ladder(1200)), (Some(700), Some(500)));
    assert_eq!(times(&ladder(850)), (Some(500), None));
}

/// HEARTBEATs count for the least wait, too: no DATA of the path was ever sent once.
#[test]
fn sooner_than_a_heartbeats_round_trip_is_no_expiry() {
    let ledger = established(
        "
      100  a2 -> b2  HEARTBEAT 1
      300  a2 <- b2  HEARTBEAT-ACK 1
      400  a1 -> b1  DATA 1
     1400  a2 -> b2  DATA 1
     1450  a1 -> b1  DATA 1",
    );
    let causes: Vec<_> = ledger.retransmissions.iter().map(|row| row.cause).collect();
    assert_eq!((causes, ledger.timeouts.len()), (vec!["t3", "unknown"], 1));
}

/// RTO.Max may be below SRTT; an expiry before showed it.
#[test]
fn an_expiry_before_shows_what_is_soon_enough() {
    let ledger = established(
        "
      100  a2 -> b2  HEARTBEAT 1
      400  a2 <- b2  HEARTBEAT-ACK 1
      500  a1 -> b1  DATA 1
      680  a2 -> b2  DATA 1
      860  a1 -> b1  DATA 1",
    );
    let causes: Vec<_> = ledger.retransmissions.iter().map(|row| row.cause).collect();
    assert_eq!(causes, ["t3", "t3"]);
    assert_eq!(ledger.timeouts[1].elapsed_ns, Some(ms(180)));
}
