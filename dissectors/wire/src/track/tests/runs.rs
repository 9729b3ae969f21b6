//! The primary timeline: runs of new DATA on one path.

use super::script::{established, ms, play};

#[test]
fn a_run_lasts_while_new_data_stay_on_a_path() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2 bytes=300
      200  a1 -> b1  DATA 3 bytes=300
      300  a2 -> b2  DATA 4
      400  a1 -> b1  DATA 5",
    );
    let runs: Vec<_> =
        ledger.runs.iter().map(|run| (run.path, run.first_tsn, run.last_tsn, run.chunks)).collect();
    assert_eq!(runs, [(0, 1, 3, 3), (1, 4, 4, 1), (0, 5, 5, 1)]);
    let first = &ledger.runs[0];
    assert_eq!((first.first_ns, first.last_ns, first.user_bytes), (ms(100), ms(200), 900));
    assert_eq!((first.first_frame, first.last_frame), (5, 6));
}

/// METRICS: "a short run that only retransmits is not a change".
#[test]
fn retransmissions_on_another_path_open_no_run() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-2
     1200  a2 -> b2  DATA 1
     1210  a1 -> b1  DATA 3",
    );
    assert_eq!((ledger.runs.len(), ledger.runs[0].chunks), (1, 3));
}

/// The first transmission was lost before the tap: this is its retransmission on the alternate path.
#[test]
fn a_late_first_sight_on_another_path_opens_no_run() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      110  a1 -> b1  DATA 3
     1200  a2 -> b2  DATA 2
     1210  a1 -> b1  DATA 4",
    );
    assert_eq!((ledger.runs.len(), ledger.runs[0].chunks), (1, 3));
    let late: Vec<_> = ledger.intervals.iter().filter(|bin| bin.late_chunks > 0).collect();
    assert_eq!((late.len(), late[0].path, late[0].new_chunks), (1, 1, 1));
}

#[test]
fn each_sender_has_its_own_timeline() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      110  a2 <- b2  DATA 1
      120  a1 -> b1  DATA 2
      130  a2 <- b2  DATA 2",
    );
    let runs: Vec<_> = ledger.runs.iter().map(|run| (run.sender, run.path, run.chunks)).collect();
    assert_eq!(runs, [("a", 0, 2), ("b", 1, 2)]);
}

/// What METRICS derives a handover's instants from, packet by packet.
#[test]
fn a_handover_with_its_instants() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      150  a1 <- b1  SACK 1
      200  a1 -> b1  DATA 2-4
     1200  a2 -> b2  DATA 2
     1210  a1 -> b1  DATA 3
     1300  a2 -> b2  DATA 5
     1350  a2 <- b2  SACK 2
     1400  a2 -> b2  DATA 6
     1450  a2 <- b2  SACK 4
     1500  a2 <- b2  SACK 6",
    );
    let [old, new] = &ledger.runs[..] else { panic!("{:?}", ledger.runs) };
    // TSN 2 was delivered by the other path and TSN 3 may have been by its second
    // transmission, but TSN 4 was sent once, here.
    assert_eq!(
        (old.last_ok_tsn, old.last_ok_ns, old.last_ok_frame),
        (Some(4), Some(ms(200)), Some(7))
    );
    assert_eq!((old.last_sack_ns, old.last_sack_frame), (Some(ms(1450)), Some(13)));
    assert_eq!((old.first_ack_ns, old.first_ack_frame), (Some(ms(150)), Some(6)));
    assert_eq!((new.previous_heard_ns, new.previous_heard_frame), (Some(ms(150)), Some(6)));
    assert_eq!((new.previous_data_ns, new.previous_data_frame), (Some(ms(1210)), Some(9)));
    assert_eq!((new.outstanding_tsn, new.outstanding_chunks), (Some(4), 3));
    assert_eq!((new.gap_start_ns, new.gap_start_frame), (Some(ms(150)), Some(6)));
    assert_eq!((new.gap_end_ns, new.gap_end_frame), (Some(ms(1350)), Some(11)));
    assert_eq!((new.recovered_ns, new.recovered_frame), (Some(ms(1450)), Some(13)));
    assert_eq!((new.first_ack_ns, new.first_ack_frame), (Some(ms(1500)), Some(14)));
}

#[test]
fn a_move_with_nothing_outstanding_has_nothing_to_recover() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      150  a1 <- b1  SACK 1
      200  a2 -> b2  DATA 2
      250  a2 <- b2  SACK 2",
    );
    let run = &ledger.runs[1];
    assert_eq!((run.outstanding_tsn, run.outstanding_chunks, run.recovered_ns), (None, 0, None));
    assert_eq!(run.gap_end_ns, Some(ms(250)));
}

/// Without a SACK before the move it is still known what was outstanding.
#[test]
fn a_move_before_the_first_sack_of_a_capture() {
    let ledger = play(
        "
      100  a1 -> b1  DATA 701-702
      200  a2 -> b2  DATA 703
      250  a2 <- b2  SACK 701
      260  a2 <- b2  SACK 703",
    );
    let run = &ledger.runs[1];
    assert_eq!((run.outstanding_tsn, run.outstanding_chunks), (Some(702), 2));
    assert_eq!((run.gap_end_ns, run.recovered_ns), (Some(ms(250)), Some(ms(260))));
}

/// "The path itself delivered it": a chunk that was sent twice is no evidence.
#[test]
fn a_retransmitted_chunk_is_no_evidence_of_delivery() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     1200  a1 -> b1  DATA 1
     1250  a1 <- b1  SACK 1",
    );
    assert_eq!(ledger.runs[0].last_ok_ns, None);
    assert_eq!(ledger.runs[0].first_ack_ns, Some(ms(1250)));
}

/// A gap block may come before the cumulative TSN: the evidence is of the chunk sent last.
#[test]
fn the_latest_delivered_chunk_is_the_evidence() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      120  a1 -> b1  DATA 2
      150  a1 <- b1  SACK 0 gaps=2-2
      160  a1 <- b1  SACK 2",
    );
    let run = &ledger.runs[0];
    assert_eq!((run.last_ok_tsn, run.last_ok_ns), (Some(2), Some(ms(120))));
    assert_eq!((run.last_sack_ns, run.first_ack_ns), (Some(ms(150)), Some(ms(150))));
}
