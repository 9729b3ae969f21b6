//! Captures that start in the middle, and addresses that a NAT rewrites.

use super::script::{Scene, address, established, play};

#[test]
fn the_halves_join_by_address() {
    let ledger = play(
        "
        0  a1 -> b1  DATA 700
       10  a1 <- b1  SACK 700
       20  a1 <- b1  DATA 30
       30  a1 -> b1  SACK 30",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.a_tag, row.b_tag), (Some(10), Some(20)));
    assert_eq!((row.seen_handshake, row.init_ns, row.end), (false, None, "open"));
    assert_eq!((row.packets, ledger.paths.len()), (4, 1));
    let runs: Vec<_> = ledger.runs.iter().map(|run| (run.sender, run.chunks)).collect();
    assert_eq!(runs, [("a", 1), ("b", 1)]);
    assert!(ledger.runs.iter().all(|run| run.first_ack_ns.is_some()));
}

/// The address that the halves share may be on one side only.
#[test]
fn the_halves_join_by_one_address() {
    let ledger = play(
        "
        0  a1 -> b1  DATA 700
       10  a2 <- b1  SACK 700",
    );
    assert_eq!((ledger.associations.len(), ledger.paths.len()), (1, 2));
}

/// Each direction uses addresses of its own: only what the SACK says joins them.
#[test]
fn the_halves_join_by_tsn() {
    let ledger = play(
        "
        0  a1 -> b1  DATA 700-703
       10  a2 <- b2  SACK 703",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.a_tag, row.b_tag), (Some(10), Some(20)));
    assert!(ledger.runs[0].first_ack_ns.is_some());
}

#[test]
fn a_sack_of_something_else_joins_nothing() {
    let ledger = play(
        "
        0  a1 -> b1  DATA 700-703
       10  a2 <- b2  SACK 99000",
    );
    assert_eq!(ledger.associations.len(), 2);
}

#[test]
fn both_ends_may_use_the_same_port() {
    let mut scene = Scene::new();
    scene.ports = [5000, 5000];
    scene.play(
        "
        0  a1 -> b1  DATA 700
       10  a1 <- b1  SACK 700
       20  a1 <- b1  DATA 30
       30  a1 -> b1  SACK 30
       40  a2 -> b2  DATA 701",
    );
    let ledger = scene.finish();
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.packets, row.a_tag, row.b_tag), (5, Some(10), Some(20)));
    let runs: Vec<_> = ledger.runs.iter().map(|run| (run.sender, run.path)).collect();
    assert_eq!(runs, [("a", 0), ("b", 0), ("a", 1)]);
}

/// Two clients behind one NAT differ in nothing but their tags.
#[test]
fn tags_keep_associations_apart_where_addresses_do_not() {
    let ledger = play(
        "
        0  n1 -> b1  DATA 700 / vtag=20
       10  n1 <- b1  SACK 700 / vtag=10
       20  n1 -> b1  DATA 5 / vtag=40
       30  n1 <- b1  SACK 5 / vtag=30
       40  n1 -> b1  DATA 701 / vtag=20",
    );
    let tags: Vec<_> = ledger.associations.iter().map(|row| (row.a_tag, row.b_tag)).collect();
    assert_eq!(tags, [(Some(10), Some(20)), (Some(30), Some(40))]);
    assert_eq!(ledger.retransmissions, []);
}

#[test]
fn a_nat_that_changes_its_mind_does_not_break_an_association() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      110  a1 <- b1  SACK 1
      200  n7 -> b1  DATA 2
      210  n7 <- b1  SACK 2",
    );
    assert_eq!(ledger.associations.len(), 1);
    assert_eq!(ledger.paths[1].a_address, address("n7"));
    let row = ledger.addresses.iter().find(|row| row.address == address("n7")).unwrap();
    assert_eq!((row.endpoint, row.source, row.first_frame), ("a", "packet", 7));
    assert_eq!(ledger.runs.len(), 2);
}

/// Older than the first TSN in sight: its first transmission lies before the capture.
#[test]
fn a_retransmission_from_before_the_capture() {
    let ledger = play(
        "
        0  a1 -> b1  DATA 700
        5  a1 -> b1  DATA 698",
    );
    let [row] = &ledger.retransmissions[..] else { panic!("{:?}", ledger.retransmissions) };
    assert_eq!((row.tsn, row.transmission, row.cause, row.first_ns), (698, 0, "unknown", None));
    assert_eq!(ledger.runs[0].chunks, 1);
}

/// A receiver is never far behind its sender, so an old TSN is another association's.
#[test]
fn a_sack_from_far_below_joins_nothing() {
    let ledger = play(
        "
        0  a1 -> b1  DATA 7000-7003
       10  a2 <- b2  SACK 6000",
    );
    assert_eq!(ledger.associations.len(), 2);
}
