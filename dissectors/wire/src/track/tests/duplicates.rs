//! The capture's copies of a frame against the sender's retransmissions.

use super::script::established;
use crate::ledger::Ledger;

/// Duplicated frames, and retransmissions.
fn counts(ledger: &Ledger) -> (u64, usize) {
    (ledger.associations[0].duplicate_frames, ledger.retransmissions.len())
}

#[test]
fn the_same_frame_within_a_millisecond_is_a_copy() {
    for id in ["none", "0", "77"] {
        let ledger = established(&format!(
            "
          100.0  a1 -> b1  DATA 1 / id={id}
          100.4  a1 -> b1  DATA 1 / id={id}",
        ));
        assert_eq!(counts(&ledger), (1, 0), "id {id}");
        assert_eq!(ledger.associations[0].packets, 5);
        let bytes: u64 = ledger.intervals.iter().map(|bin| bin.new_bytes).sum();
        assert_eq!(bytes, 100);
    }
}

/// RFC 6864: a sender's packets carry identifications of their own, unless it does without.
#[test]
fn another_identification_is_another_packet() {
    let ledger = established(
        "
      100.0  a1 -> b1  DATA 1 / id=77
      100.4  a1 -> b1  DATA 1 / id=78",
    );
    assert_eq!(counts(&ledger), (0, 1));
}

#[test]
fn the_same_bytes_a_second_later_are_a_retransmission() {
    for id in ["none", "0", "77"] {
        let ledger = established(&format!(
            "
          100  a1 -> b1  DATA 1 / id={id}
         1101  a1 -> b1  DATA 1 / id={id}",
        ));
        assert_eq!(counts(&ledger), (0, 1), "id {id}");
        assert_eq!(ledger.retransmissions[0].cause, "t3");
    }
}

#[test]
fn a_slow_copy_is_known_by_its_identification() {
    let slow = |id| {
        established(&format!(
            "
          100  a1 -> b1  DATA 1 / id={id}
          140  a1 -> b1  DATA 1 / id={id}",
        ))
    };
    assert_eq!(counts(&slow("77")), (1, 0));
    assert_eq!(counts(&slow("0")), (0, 1));
    assert_eq!(counts(&slow("none")), (0, 1));
}

/// RFC 9260 section 6.4.1: on another path the same bytes are the sender's doing.
#[test]
fn the_same_bytes_between_other_addresses_are_no_copy() {
    let ledger = established(
        "
      100.0  a1 -> b1  DATA 1 / id=none
      100.4  a2 -> b2  DATA 1 / id=none",
    );
    assert_eq!(counts(&ledger), (0, 1));
}

/// A tap on two interfaces delivers a burst twice, not each packet twice.
#[test]
fn a_burst_in_two_copies() {
    let ledger = established(
        "
      100.0  a1 -> b1  DATA 1 / id=1
      100.1  a1 -> b1  DATA 2 / id=2
      100.2  a1 -> b1  DATA 3 / id=3
      100.5  a1 -> b1  DATA 1 / id=1
      100.6  a1 -> b1  DATA 2 / id=2
      100.7  a1 -> b1  DATA 3 / id=3",
    );
    assert_eq!(counts(&ledger), (3, 0));
}

#[test]
fn a_copied_handshake_is_one_handshake() {
    let ledger = super::script::play(
        "
        0.0  a1 -> b1  INIT / id=1
        0.1  a1 -> b1  INIT / id=1
       10.0  a1 <- b1  INIT-ACK / id=9
       10.1  a1 <- b1  INIT-ACK / id=9
       20.0  a1 -> b1  ABORT T / id=2 vtag=20
       20.1  a1 -> b1  ABORT T / id=2 vtag=20",
    );
    assert_eq!(ledger.associations.len(), 1);
    let row = &ledger.associations[0];
    assert_eq!((row.packets, row.duplicate_frames, ledger.control.len()), (3, 3, 3));
}
