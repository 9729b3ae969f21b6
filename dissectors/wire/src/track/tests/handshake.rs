//! RFC 9260 section 5: handshakes, collisions, restarts.

use super::script::{HANDSHAKE, established, ms, play};

#[test]
fn four_packets_make_an_association() {
    let ledger = play(
        "
        0  a1 -> b1  INIT tag=10 tsn=100
       10  a1 <- b1  INIT-ACK tag=20 tsn=200
       20  a1 -> b1  COOKIE-ECHO + DATA 100
       30  a1 <- b1  COOKIE-ACK + SACK 100",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.a_tag, row.b_tag), (Some(10), Some(20)));
    assert_eq!((row.a_initial_tsn, row.b_initial_tsn), (Some(100), Some(200)));
    assert_eq!((row.init_ns, row.established_ns), (Some(0), Some(ms(30))));
    assert_eq!((row.start_ns, row.end_ns, row.end_frame), (0, ms(30), 4));
    assert!(row.seen_handshake);
    assert_eq!((row.end, row.packets, row.restart_of), ("open", 4, None));
    let chunks: Vec<_> = ledger.control.iter().map(|row| (row.sender, row.chunk)).collect();
    let expected = [("a", "INIT"), ("b", "INIT ACK"), ("a", "COOKIE ECHO"), ("b", "COOKIE ACK")];
    assert_eq!(chunks, expected);
    assert_eq!((ledger.runs.len(), ledger.retransmissions.len()), (1, 0));
}

#[test]
fn a_handshake_with_a_missing_packet_was_not_seen() {
    let ledger = play(
        "
        0  a1 -> b1  INIT
       10  a1 <- b1  INIT-ACK
       30  a1 <- b1  COOKIE-ACK",
    );
    assert!(!ledger.associations[0].seen_handshake);
    assert_eq!(ledger.associations[0].established_ns, Some(ms(30)));
}

#[test]
fn an_init_sent_again_is_the_same_association() {
    let ledger = play(
        "
        0  a1 -> b1  INIT
     3000  a2 -> b2  INIT
     3010  a2 <- b2  INIT-ACK
     3020  a2 -> b2  COOKIE-ECHO
     3030  a2 <- b2  COOKIE-ACK",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.init_ns, row.packets, row.seen_handshake), (Some(0), 5, true));
    assert_eq!(ledger.paths.len(), 2);
}

/// A responder that keeps no state answers each INIT with another tag and TSN; the cookie
/// tells which answer counts, and section 5.2.3 discards the other.
#[test]
fn of_two_init_acks_the_echoed_one_counts() {
    for (late, early) in [(true, false), (false, true)] {
        let second = "1015  a1 <- b1  INIT-ACK tag=30 tsn=9000";
        let ledger = play(&format!(
            "
            0  a1 -> b1  INIT
         1000  a1 -> b1  INIT
         1010  a1 <- b1  INIT-ACK tag=20 tsn=500
         {}
         1020  a1 -> b1  COOKIE-ECHO / vtag=20
         {}
         1030  a1 <- b1  COOKIE-ACK
         1040  a1 <- b1  DATA 500-501
         1050  a1 -> b1  SACK 501 / vtag=20",
            if early { second } else { "" },
            if late { second } else { "" },
        ));
        let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
        assert_eq!((row.b_tag, row.seen_handshake), (Some(20), true), "early: {early}");
        assert_eq!(row.b_initial_tsn, Some(500), "early: {early}");
        assert_eq!(ledger.retransmissions, [], "early: {early}");
        assert_eq!((ledger.runs[0].chunks, ledger.runs[0].first_ack_ns), (2, Some(ms(1050))));
    }
}

/// Section 5.2.1: both ends send INIT, and each answers with the tag of its own INIT.
#[test]
fn inits_that_cross_make_one_association() {
    let ledger = play(
        "
        0  a1 -> b1  INIT tag=10
        1  a1 <- b1  INIT tag=20
       20  a1 -> b1  INIT-ACK
       21  a1 <- b1  INIT-ACK
       40  a1 -> b1  COOKIE-ECHO
       41  a1 <- b1  COOKIE-ECHO
       60  a1 -> b1  COOKIE-ACK
       61  a1 <- b1  COOKIE-ACK
       70  a1 -> b1  DATA 1
       80  a1 <- b1  SACK 1",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.a_tag, row.b_tag, row.packets), (Some(10), Some(20), 10));
    assert_eq!((row.end, row.restart_of), ("open", None));
}

/// Section 5.2.4, action A: a crashed and comes back with another tag.
#[test]
fn a_restart_ends_the_old_association_and_begins_a_new_one() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     5000  a1 -> b1  INIT tag=11
     5010  a1 <- b1  INIT-ACK tag=21
     5020  a1 -> b1  COOKIE-ECHO
     5030  a1 <- b1  COOKIE-ACK
     5040  a1 -> b1  DATA 1",
    );
    let [old, new] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((old.end, old.end_ns, old.restart_of), ("restart", ms(100), None));
    assert_eq!(
        (new.end, new.restart_of, new.a_tag, new.b_tag),
        ("open", Some(0), Some(11), Some(21))
    );
    assert_eq!(ledger.retransmissions, []);
}

/// The end that was b restarts: roles turn round, since a is the one that sent INIT.
#[test]
fn a_restart_by_the_other_end() {
    let ledger = established(
        "
     5000  a1 <- b1  INIT tag=21
     5010  a1 -> b1  INIT-ACK tag=11
     5020  a1 <- b1  COOKIE-ECHO
     5030  a1 -> b1  COOKIE-ACK",
    );
    let [old, new] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((old.end, new.restart_of), ("restart", Some(0)));
    assert_eq!((new.a_port, new.b_port, new.a_tag), (2002, 1001, Some(21)));
}

#[test]
fn an_unanswered_restart_leaves_the_association_alone() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
     5000  a1 -> b1  INIT tag=11
     5010  a1 -> b1  DATA 2
     5020  a1 <- b1  SACK 2 / vtag=10",
    );
    let [old, new] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((old.end, old.end_ns), ("open", ms(5020)));
    assert_eq!((new.end, new.packets, new.restart_of), ("no-answer", 1, None));
}

/// Two associations between the same hosts with other ports have nothing to do with each other.
#[test]
fn ports_keep_associations_apart() {
    let mut scene = super::script::Scene::new();
    scene.play(HANDSHAKE);
    scene.ports = [1002, 2002];
    scene.play(HANDSHAKE);
    let ledger = scene.finish();
    let ends: Vec<_> = ledger.associations.iter().map(|row| (row.a_port, row.end)).collect();
    assert_eq!(ends, [(1001, "open"), (1002, "open")]);
}

/// Each answer brings a tag; one that floods the tap with answers must not fill the memory.
#[test]
fn tags_of_an_association_are_bounded() {
    let mut scene = super::script::Scene::new();
    scene.play("0  a1 -> b1  INIT");
    for tag in 100..400 {
        scene.play(&format!("{tag}  a1 <- b1  INIT-ACK tag={tag}"));
    }
    assert_eq!(scene.tracker.open.len(), 1);
    assert_eq!(scene.tracker.routes.len(), super::super::route::KEYS);
}

/// There was nothing to restart: the first attempt never came up.
#[test]
fn a_second_attempt_is_no_restart() {
    let ledger = play(
        "
        0  a1 -> b1  INIT tag=9
     5000  a1 -> b1  INIT tag=10
     5010  a1 <- b1  INIT-ACK tag=20
     5020  a1 -> b1  COOKIE-ECHO
     5030  a1 <- b1  COOKIE-ACK",
    );
    let rows: Vec<_> = ledger.associations.iter().map(|row| (row.end, row.restart_of)).collect();
    assert_eq!(rows, [("no-answer", None), ("open", None)]);
}

/// Clients that choose their ports alike differ by address.
#[test]
fn another_client_with_the_same_port_is_no_restart() {
    let by_the_client = "
      100  a5 -> b1  INIT tag=11
      110  a5 <- b1  INIT-ACK tag=21
      120  a5 -> b1  COOKIE-ECHO
      130  a5 <- b1  COOKIE-ACK";
    let by_the_server = "
      100  a5 <- b1  INIT tag=21
      110  a5 -> b1  INIT-ACK tag=11
      120  a5 <- b1  COOKIE-ECHO
      130  a5 -> b1  COOKIE-ACK";
    for ladder in [by_the_client, by_the_server] {
        let ledger = established(ladder);
        let rows: Vec<_> =
            ledger.associations.iter().map(|row| (row.end, row.restart_of)).collect();
        assert_eq!(rows, [("open", None), ("open", None)]);
    }
}
