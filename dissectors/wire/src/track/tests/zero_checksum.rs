//! Packets without a checksum: RFC 9653 section 5.

use super::script::play;
use crate::ledger::AssociationRow;

/// b takes packets without a checksum (method 1, SCTP over DTLS), a does not.
fn row(ladder: &str) -> AssociationRow {
    let handshake = "
         0  a1 -> b1  INIT tag=10
        10  a1 <- b1  INIT-ACK tag=20 edmid=1";
    play(&format!("{handshake}\n{ladder}")).associations.remove(0)
}

fn zeros(row: &AssociationRow) -> (u64, u64, u64) {
    (row.zero_checksums, row.a_uncovered_zero_checksums, row.b_uncovered_zero_checksums)
}

#[test]
fn the_receiver_decides() {
    let row = row("
       20  a1 -> b1  COOKIE-ECHO
       30  a1 <- b1  COOKIE-ACK / zero
       40  a1 -> b1  DATA 1 / zero
       50  a1 <- b1  SACK 1");
    assert_eq!((row.a_zero_checksum_method, row.b_zero_checksum_method), (None, Some(1)));
    assert_eq!(zeros(&row), (2, 0, 1));
}

#[test]
fn never_with_cookie_echo() {
    let row = row("
       20  a1 -> b1  COOKIE-ECHO + DATA 1 / zero
       21  a1 -> b1  AUTH hmac=1 + COOKIE-ECHO / zero
       22  a1 -> b1  DATA 1 / zero");
    assert_eq!(zeros(&row), (3, 2, 0));
}

#[test]
fn never_with_init_nor_before_the_announcement() {
    let row = play(
        "
        0  a1 -> b1  INIT tag=10 edmid=1 / zero
       10  a1 <- b1  INIT-ACK tag=20 edmid=1 / zero
       20  a1 -> b1  INIT tag=10 edmid=1 / zero",
    )
    .associations
    .remove(0);
    assert_eq!(zeros(&row), (3, 2, 0));
}

#[test]
fn a_capture_from_the_middle_does_not_show_it() {
    let row = play("0  a1 -> b1  DATA 1 / zero").associations.remove(0);
    assert_eq!(zeros(&row), (1, 1, 0));
}
