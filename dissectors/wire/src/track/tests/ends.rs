//! How associations end: RFC 9260 sections 8.5.1 and 9.

use super::script::{HANDSHAKE, Scene, established, ms, play};

fn ends(ladder: &str) -> Vec<&'static str> {
    established(ladder).associations.iter().map(|row| row.end).collect()
}

#[test]
fn a_graceful_end() {
    let ledger = established(
        "
      100  a1 -> b1  SHUTDOWN 0
      110  a1 <- b1  SHUTDOWN-ACK
      120  a1 -> b1  SHUTDOWN-COMPLETE",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.end, row.end_ns), ("shutdown", ms(120)));
}

/// Section 8.5.1: a has forgotten the association, so it reflects the tag that b's packet carried.
#[test]
fn a_shutdown_complete_with_a_reflected_tag() {
    let ledger = established(
        "
      100  a1 -> b1  SHUTDOWN 0
      110  a1 <- b1  SHUTDOWN-ACK
      120  a1 -> b1  SHUTDOWN-COMPLETE T / vtag=10",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.end, row.packets, row.b_tag), ("shutdown", 7, Some(20)));
    assert_eq!(ledger.control.last().unwrap().sender, "a");
}

#[test]
fn an_abort_with_either_tag_is_its_senders() {
    for abort in ["ABORT", "ABORT T / vtag=20"] {
        let ledger = established(&format!("100  a1 <- b1  {abort}"));
        let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
        assert_eq!((row.end, row.a_tag, row.b_tag), ("abort", Some(10), Some(20)));
        assert_eq!(ledger.control.last().unwrap().sender, "b");
    }
}

#[test]
fn what_comes_after_the_end_changes_nothing() {
    let aborted = "
      100  a1 -> b1  ABORT
      110  a1 <- b1  SHUTDOWN-ACK
      120  a1 -> b1  SHUTDOWN-COMPLETE";
    assert_eq!(ends(aborted), ["abort"]);
}

#[test]
fn the_ports_may_serve_again_after_a_shutdown() {
    let again = "
      100  a1 -> b1  SHUTDOWN 0
      110  a1 <- b1  SHUTDOWN-ACK
      120  a1 -> b1  SHUTDOWN-COMPLETE
      200  a1 -> b1  INIT tag=11
      210  a1 <- b1  INIT-ACK tag=21
      220  a1 -> b1  COOKIE-ECHO
      230  a1 <- b1  COOKIE-ACK";
    let ledger = established(again);
    let rows: Vec<_> = ledger.associations.iter().map(|row| (row.end, row.restart_of)).collect();
    assert_eq!(rows, [("shutdown", None), ("open", None)]);
}

/// SHUTDOWN COMPLETE may be lost before the tap. Section 9.2 lets no INIT restart an association
/// that far; a new one proves that the old one ended.
#[test]
fn a_new_association_after_shutdown_ack_is_no_restart() {
    let ledger = established(
        "
      100  a1 -> b1  SHUTDOWN 0
      110  a1 <- b1  SHUTDOWN-ACK
      200  a1 -> b1  INIT tag=11
      210  a1 <- b1  INIT-ACK tag=21
      220  a1 -> b1  COOKIE-ECHO
      230  a1 <- b1  COOKIE-ACK",
    );
    let rows: Vec<_> = ledger.associations.iter().map(|row| (row.end, row.restart_of)).collect();
    assert_eq!(rows, [("shutdown", None), ("open", None)]);
}

#[test]
fn the_same_tag_after_the_end_is_a_new_association() {
    let again = "
      100  a1 -> b1  ABORT
      200  a1 -> b1  INIT tag=10
      210  a1 <- b1  INIT-ACK tag=21";
    assert_eq!(ends(again), ["abort", "open"]);
}

#[test]
fn an_init_without_answer() {
    let ledger = play(
        "
        0  a1 -> b1  INIT
     3000  a1 -> b1  INIT
     9000  a1 -> b1  INIT",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.end, row.packets, row.b_tag), ("no-answer", 3, None));
}

/// Section 5.1: the refusal carries INIT's own Initiate Tag. It is an answer.
#[test]
fn a_refused_init() {
    let ledger = play(
        "
        0  a1 -> b1  INIT
       10  a1 <- b1  ABORT",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.end, row.packets), ("abort", 2));
}

#[test]
fn an_ended_association_is_forgotten_after_a_minute() {
    let mut scene = Scene::new();
    scene.play(HANDSHAKE);
    scene.play("1000  a1 -> b1  ABORT");
    scene.play("60000  a1 <- b1  DATA 1");
    assert!(scene.tracker.ledger.associations.is_empty());
    scene.play("61001  a1 <- b1  DATA 2");
    assert_eq!(scene.tracker.ledger.associations[0].end, "abort");
    assert_eq!(scene.tracker.open.get(0).unwrap().association.number, 1);
    assert_eq!(scene.tracker.routes.len(), 1);
    assert_eq!(scene.finish().associations.len(), 2);
}

/// The forgotten association must not take the tags of its successor with it.
#[test]
fn a_successor_keeps_the_tags_it_shares() {
    let ledger = established(
        "
     1000  a1 -> b1  ABORT
     1100  a1 -> b1  INIT
     1110  a1 <- b1  INIT-ACK
     1120  a1 -> b1  COOKIE-ECHO
     1130  a1 <- b1  COOKIE-ACK
    62000  a1 <- b1  DATA 1
    62010  a1 -> b1  SACK 1",
    );
    let packets: Vec<_> = ledger.associations.iter().map(|row| row.packets).collect();
    assert_eq!(packets, [5, 6]);
}
