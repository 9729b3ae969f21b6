//! Why a chunk was sent again: T3-rtx (RFC 9260 section 6.3) or fast retransmission (7.2.4).

use super::script::{established, ms};
use crate::ledger::Ledger;

fn causes(ledger: &Ledger) -> Vec<(u32, &'static str)> {
    ledger.retransmissions.iter().map(|row| (row.tsn, row.cause)).collect()
}

/// TSN, armed, expired, consecutive.
fn timeouts(ledger: &Ledger) -> Vec<(u32, i64, i64, u32)> {
    let row = |row: &crate::ledger::TimeoutRow| {
        assert_eq!(row.elapsed_ns, row.armed_ns.map(|armed_ns| row.time_ns - armed_ns));
        (row.tsn, row.armed_ns.unwrap() / ms(1), row.time_ns / ms(1), row.consecutive)
    };
    ledger.timeouts.iter().map(row).collect()
}

/// Section 7.2.4: the third miss indication.
#[test]
fn three_miss_indications_make_a_fast_retransmission() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-5
      150  a1 <- b1  SACK 0 gaps=2-2
      151  a1 <- b1  SACK 0 gaps=2-3
      152  a1 <- b1  SACK 0 gaps=2-4
      153  a1 -> b1  DATA 1",
    );
    assert_eq!((causes(&ledger), ledger.timeouts.len()), (vec![(1, "fast")], 0));
    assert_eq!(ledger.retransmissions[0].miss_indications, 3);
}

/// Only a SACK that acknowledges something new above the gap is an indication ("HTNA").
#[test]
fn a_sack_that_brings_nothing_new_is_no_indication() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-5
      150  a1 <- b1  SACK 0 gaps=2-2
      151  a1 <- b1  SACK 0 gaps=2-2
      152  a1 <- b1  SACK 0 gaps=2-2
     1200  a1 -> b1  DATA 1",
    );
    assert_eq!(causes(&ledger), [(1, "t3")]);
    assert_eq!(ledger.retransmissions[0].miss_indications, 1);
}

#[test]
fn an_indication_is_only_for_what_lies_below_the_newly_acknowledged() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-6
      150  a1 <- b1  SACK 0 gaps=6-6
      151  a1 <- b1  SACK 0 gaps=2-2,6-6
      152  a1 <- b1  SACK 0 gaps=2-3,6-6
      153  a1 -> b1  DATA 1
     1400  a1 -> b1  DATA 5",
    );
    let misses: Vec<_> =
        ledger.retransmissions.iter().map(|row| (row.tsn, row.miss_indications)).collect();
    assert_eq!(misses, [(1, 3), (5, 1)]);
}

/// Section 6.3.2, R1: DATA start the timer of a path that has nothing outstanding.
#[test]
fn the_first_outstanding_chunk_arms_the_timer() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      400  a1 -> b1  DATA 2
     1100  a1 -> b1  DATA 1",
    );
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1)]);
    let row = &ledger.timeouts[0];
    assert_eq!((row.path, row.retransmission_path, row.armed_frame, row.frame), (0, 0, Some(5), 7));
}

/// R3: an acknowledgement of the earliest outstanding TSN arms it again; R2: with
/// nothing outstanding it stops.
#[test]
fn acknowledgements_restart_and_stop_the_timer() {
    let restarted = established(
        "
      100  a1 -> b1  DATA 1-2
      150  a1 <- b1  SACK 1
     1150  a1 -> b1  DATA 2",
    );
    assert_eq!(timeouts(&restarted), [(2, 150, 1150, 1)]);
    let stopped = established(
        "
      100  a1 -> b1  DATA 1
      150  a1 <- b1  SACK 1
     5000  a1 -> b1  DATA 2
     6000  a1 -> b1  DATA 2",
    );
    assert_eq!(timeouts(&stopped), [(2, 5000, 6000, 1)]);
}

/// A gap block leaves the earliest outstanding TSN where it is, and the timer running.
#[test]
fn a_gap_block_does_not_restart_the_timer() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2
      150  a1 <- b1  SACK 0 gaps=2-2
     1100  a1 -> b1  DATA 1",
    );
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1)]);
}

/// Section 7.2.4, 4: so does a fast retransmission of the path's first outstanding chunk.
#[test]
fn a_fast_retransmission_restarts_the_timer() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-5
      150  a1 <- b1  SACK 0 gaps=2-2
      151  a1 <- b1  SACK 0 gaps=2-3
      152  a1 <- b1  SACK 0 gaps=2-4
      153  a1 -> b1  DATA 1
     1153  a1 -> b1  DATA 1",
    );
    assert_eq!(causes(&ledger), [(1, "fast"), (1, "t3")]);
    assert_eq!(timeouts(&ledger), [(1, 153, 1153, 1)]);
}

/// Section 6.3.3, E3: one expiry marks everything outstanding on the path.
#[test]
fn one_expiry_explains_a_burst() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-4
     1100  a2 -> b2  DATA 1-2
     1150  a2 <- b2  SACK 2
     1151  a2 -> b2  DATA 3-4",
    );
    assert_eq!(causes(&ledger), [(1, "t3"), (2, "t3"), (3, "t3"), (4, "t3")]);
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1)]);
    assert_eq!(ledger.timeouts[0].retransmission_path, 1);
}

/// Section 6.3.3, E2: the second expiry comes a doubled RTO after the first.
#[test]
fn expiries_in_a_row_are_counted() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1100  a1 -> b1  DATA 1
     3100  a1 -> b1  DATA 1
     7100  a1 -> b1  DATA 1",
    );
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1), (1, 1100, 3100, 2), (1, 3100, 7100, 3)]);
}

/// Section 8.2: what the path delivers clears its error counter.
#[test]
fn an_acknowledgement_ends_the_row() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1100  a1 -> b1  DATA 1
     1150  a1 <- b1  SACK 1
     2000  a1 -> b1  DATA 2
     3000  a1 -> b1  DATA 2",
    );
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1), (2, 2000, 3000, 1)]);
}

/// Section 8.2: the counter is that of the address which the acknowledged chunk was last sent to.
#[test]
fn delivery_by_another_path_does_not_end_the_row() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1100  a2 -> b2  DATA 1
     1150  a2 <- b2  SACK 1
     2000  a1 -> b1  DATA 2
     4000  a2 -> b2  DATA 2
     4050  a2 <- b2  SACK 2",
    );
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1), (2, 2000, 4000, 2)]);
}

#[test]
fn a_heartbeat_ack_ends_the_row() {
    let ladder = |path: &str| {
        established(&format!(
            "
          100  a1 -> b1  DATA 1
         1100  a1 -> b1  DATA 1
         1500  {} -> {}  HEARTBEAT 1
         1600  a1 <- b1  HEARTBEAT-ACK 1
         3100  a1 -> b1  DATA 1",
            &path[..2],
            &path[2..]
        ))
    };
    assert_eq!(ladder("a1b1").timeouts[1].consecutive, 1);
    assert_eq!(ladder("a2b2").timeouts[1].consecutive, 2);
}

/// RTO is never below the smoothed RTT (section 6.3.1), so no timer explains this.
#[test]
fn sooner_than_a_round_trip_is_no_expiry() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      300  a1 <- b1  SACK 1
      400  a1 -> b1  DATA 2
      450  a1 -> b1  DATA 2",
    );
    assert_eq!((causes(&ledger), ledger.timeouts.len()), (vec![(2, "unknown")], 0));
}

#[test]
fn each_path_has_its_own_timer() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      500  a2 -> b2  DATA 2
     1100  a2 -> b2  DATA 1
     1500  a1 -> b1  DATA 2",
    );
    let rows: Vec<_> = ledger.timeouts.iter().map(|row| (row.path, row.armed_ns)).collect();
    assert_eq!(rows, [(0, Some(ms(100))), (1, Some(ms(500)))]);
}

/// Section 6.3.3, E3 and R1: the retransmission starts the timer of the path it is sent on.
#[test]
fn an_expiry_on_the_alternate_path() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1100  a2 -> b2  DATA 1
     3100  a1 -> b1  DATA 1",
    );
    let rows: Vec<_> = ledger
        .timeouts
        .iter()
        .map(|row| (row.path, row.armed_ns, row.retransmission_path, row.consecutive))
        .collect();
    assert_eq!(rows, [(0, Some(ms(100)), 1, 1), (1, Some(ms(1100)), 0, 1)]);
}

/// With an earlier chunk of the path outstanding, the timer is that chunk's and runs on.
#[test]
fn a_fast_retransmission_behind_another_leaves_the_timer_alone() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1100  a1 -> b1  DATA 1
     1150  a1 -> b1  DATA 2-6
     1200  a1 <- b1  SACK 0 gaps=3-3
     1201  a1 <- b1  SACK 0 gaps=3-4
     1202  a1 <- b1  SACK 0 gaps=3-5
     1203  a1 -> b1  DATA 2
     3100  a1 -> b1  DATA 1",
    );
    assert_eq!(causes(&ledger), [(1, "t3"), (2, "fast"), (1, "t3")]);
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1), (1, 1100, 3100, 1)]);
}

#[test]
fn two_miss_indications_are_not_enough() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-5
      150  a1 <- b1  SACK 0 gaps=2-2
      151  a1 <- b1  SACK 0 gaps=2-3
     1100  a1 -> b1  DATA 1",
    );
    assert_eq!(causes(&ledger), [(1, "t3")]);
    assert_eq!(ledger.retransmissions[0].miss_indications, 2);
}

/// Section 7.2.4 retransmits a chunk fast once; its indications count from each transmission.
#[test]
fn indications_begin_anew_with_each_transmission() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-9
      150  a1 <- b1  SACK 0 gaps=2-2
      151  a1 <- b1  SACK 0 gaps=2-3
      152  a1 <- b1  SACK 0 gaps=2-4
      153  a1 -> b1  DATA 1
      160  a1 <- b1  SACK 0 gaps=2-5
     1153  a1 -> b1  DATA 1",
    );
    let rows: Vec<_> =
        ledger.retransmissions.iter().map(|row| (row.cause, row.miss_indications)).collect();
    assert_eq!(rows, [("fast", 3), ("t3", 1)]);
}

/// R3 again: the chunk that the gap block leaves behind is outstanding on another path.
#[test]
fn a_gap_block_restarts_the_timer_of_a_path_without_gaps() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      200  a2 -> b2  DATA 2-3
      250  a2 <- b2  SACK 0 gaps=2-2
     1250  a2 -> b2  DATA 3",
    );
    assert_eq!(timeouts(&ledger), [(3, 250, 1250, 1)]);
}

/// E3 again: what was sent shortly before the expiry is marked like the rest.
#[test]
fn an_expiry_explains_what_was_sent_just_before_it() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1050  a1 -> b1  DATA 2
     1100  a2 -> b2  DATA 1
     1110  a2 -> b2  DATA 2",
    );
    assert_eq!(causes(&ledger), [(1, "t3"), (2, "t3")]);
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1)]);
}

/// R1: after an expiry whose retransmission went elsewhere, the timer runs with the next DATA.
#[test]
fn new_data_start_the_timer_that_expired() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2
     1100  a2 -> b2  DATA 1
     1500  a1 -> b1  DATA 3
     1510  a2 -> b2  DATA 2
     3500  a2 -> b2  DATA 3",
    );
    assert_eq!(causes(&ledger), [(1, "t3"), (2, "t3"), (3, "t3")]);
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1), (3, 1500, 3500, 2)]);
}

/// A retransmission that no timer and no gap explains starts no timer either.
#[test]
fn an_unexplained_retransmission_leaves_the_timer_alone() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2
      105  a1 -> b1  DATA 1
     1100  a1 -> b1  DATA 1",
    );
    assert_eq!(causes(&ledger), [(1, "unknown"), (1, "t3")]);
    assert_eq!(timeouts(&ledger), [(1, 100, 1100, 1)]);
}

/// RFC 5061 section 5.3: what was sent to a deleted address is sent again elsewhere, without a timer.
#[test]
fn a_deleted_address_needs_no_timer() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      110  a1 <- b1  SACK 1
      200  a1 -> b1  DATA 2
      250  a2 -> b2  ASCONF 1 delete=a1
      271  a2 -> b2  DATA 2",
    );
    assert_eq!((causes(&ledger), ledger.timeouts.len()), (vec![(2, "unknown")], 0));
}
