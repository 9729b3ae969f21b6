//! AUTH: RFC 4895 section 6.3, a receiver discards what should be authenticated and is not.

use super::script::{established, play};
use crate::ledger::AuthenticationRow;

/// Both ends can authenticate; b wants DATA (0) and ASCONF (193), a nothing.
const NEGOTIATED: &str = "
     0  a1 -> b1  INIT tag=10 random=32 hmacs=3,1
    10  a1 <- b1  INIT-ACK tag=20 random=32 hmacs=3 chunks=0,193
    20  a1 -> b1  COOKIE-ECHO
    30  a1 <- b1  COOKIE-ACK";

fn rows(ladder: &str) -> Vec<AuthenticationRow> {
    play(&format!("{NEGOTIATED}\n{ladder}")).authentication
}

#[test]
fn what_the_ends_announce() {
    let rows = rows("");
    let [a, b] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!(
        (a.sender, a.random_bytes, a.hmacs.as_str(), a.chunks.as_str()),
        ("a", Some(32), "SHA-256, SHA-1", "")
    );
    assert_eq!((b.sender, b.hmacs.as_str(), b.chunks.as_str()), ("b", "SHA-256", "DATA, ASCONF"));
}

#[test]
fn what_comes_after_auth_is_covered() {
    let rows = rows(
        "
      100  a1 -> b1  AUTH key=1 hmac=3 + DATA 1 + DATA 2
      110  a1 <- b1  SACK 2
      120  a1 -> b1  SACK 0 + AUTH key=2 hmac=3 + DATA 3
      130  a1 <- b1  DATA 1",
    );
    let [a, b] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((a.auth_chunks, a.first_auth_frame), (2, Some(5)));
    assert_eq!((a.used_hmacs.as_str(), a.used_keys.as_str()), ("SHA-256", "1,2"));
    // a wants nothing authenticated, so b need not.
    assert_eq!((a.unauthenticated_chunks, b.unauthenticated_chunks, b.auth_chunks), (0, 0, 0));
}

#[test]
fn what_comes_before_auth_or_without_is_not() {
    let rows = rows(
        "
      100  a1 -> b1  AUTH hmac=1 + DATA 1
      110  a1 -> b1  DATA 2 + AUTH hmac=1 + DATA 3
      120  a1 -> b1  DATA 4
      130  a1 -> b1  ASCONF 7 add=a2
      140  a1 -> b1  HEARTBEAT 1",
    );
    let a = &rows[0];
    assert_eq!((a.unauthenticated_chunks, a.first_unauthenticated_frame), (3, Some(6)));
    assert_eq!(a.unauthenticated_types, "DATA, ASCONF");
}

/// Without RANDOM and HMAC-ALGO of both ends nothing can be demanded (RFC 4895 section 6.1).
#[test]
fn one_end_alone_negotiates_nothing() {
    let ledger = play(
        "
        0  a1 -> b1  INIT tag=10
       10  a1 <- b1  INIT-ACK tag=20 random=32 hmacs=1 chunks=0
       20  a1 -> b1  COOKIE-ECHO
       30  a1 <- b1  COOKIE-ACK
      100  a1 -> b1  DATA 1",
    );
    let [b] = &ledger.authentication[..] else { panic!("{:?}", ledger.authentication) };
    assert_eq!((b.sender, b.unauthenticated_chunks), ("b", 0));
}

/// INIT, INIT ACK, SHUTDOWN COMPLETE and AUTH must not be listed (RFC 4895 section 3.2), and are not held to it.
#[test]
fn what_cannot_be_authenticated() {
    let ledger = play(
        "
        0  a1 -> b1  INIT tag=10 random=32 hmacs=1 chunks=1,2,14,15
       10  a1 <- b1  INIT-ACK tag=20 random=32 hmacs=1
       20  a1 <- b1  SHUTDOWN-COMPLETE",
    );
    assert!(ledger.authentication.iter().all(|row| row.unauthenticated_chunks == 0));
}

#[test]
fn associations_without_have_no_rows() {
    assert_eq!(established("100  a1 -> b1  DATA 1").authentication, []);
}
