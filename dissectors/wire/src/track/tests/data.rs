//! New DATA against retransmissions, TSN order, and what a SACK covers.

use super::script::{Scene, established, ms, play};
use crate::track::End;

#[test]
fn a_tsn_is_new_once() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-3 bytes=200
     1200  a2 -> b2  DATA 2 bytes=200
     3400  a1 -> b1  DATA 2 bytes=200",
    );
    let rows: Vec<_> = ledger
        .retransmissions
        .iter()
        .map(|row| (row.tsn, row.transmission, row.path, row.previous_path, row.previous_ns))
        .collect();
    let expected = [(2, 2, 1, Some(0), Some(ms(100))), (2, 3, 0, Some(1), Some(ms(1200)))];
    assert_eq!(rows, expected);
    let first = &ledger.retransmissions[1];
    assert_eq!(
        (first.first_ns, first.first_frame, first.first_path),
        (Some(ms(100)), Some(5), Some(0))
    );
    assert_eq!((first.user_bytes, first.time_ns, first.frame), (200, ms(3400), 7));
    assert_eq!(ledger.runs[0].chunks, 3);
}

#[test]
fn transmissions_are_numbered() {
    let mut scene = Scene::new();
    scene.play("0  a1 -> b1  DATA 1");
    let envelope = super::script::Envelope {
        time_ns: ms(900),
        sender: End::A,
        source: super::script::address("a1"),
        destination: super::script::address("b1"),
        tag: 20,
        ip_id: None,
    };
    let chunks = [1, 2, 1].map(|tsn| super::spec::data(tsn, 8));
    assert_eq!(scene.send(envelope, &chunks), [2, 1, 3]);
}

/// TSNs are serial numbers (RFC 9260 section 1.6): 4294967295 is followed by 0.
#[test]
fn tsns_wrap() {
    let ledger = play(
        "
        0  a1 -> b1  INIT tsn=4294967294
       10  a1 <- b1  INIT-ACK
       20  a1 -> b1  COOKIE-ECHO
       30  a1 <- b1  COOKIE-ACK
      100  a1 -> b1  DATA 4294967294-4294967295
      101  a1 -> b1  DATA 0-2
      150  a1 <- b1  SACK 4294967294 gaps=3-4
     1300  a1 -> b1  DATA 4294967295
     1310  a1 -> b1  DATA 0
     1350  a1 <- b1  SACK 2 dups=0
     1400  a1 -> b1  DATA 3",
    );
    let rows: Vec<_> = ledger
        .retransmissions
        .iter()
        .map(|row| (row.tsn, row.transmission, row.spurious))
        .collect();
    assert_eq!(rows, [(4_294_967_295, 2, None), (0, 2, Some("duplicate-tsn"))]);
    let acked: u64 = ledger.intervals.iter().map(|bin| bin.acked_chunks).sum();
    assert_eq!(acked, 5);
    let [run] = &ledger.runs[..] else { panic!("{:?}", ledger.runs) };
    assert_eq!((run.first_tsn, run.last_tsn, run.chunks), (4_294_967_294, 3, 6));
    assert_eq!(ledger.stalls.len(), 1);
    assert_eq!((ledger.stalls[0].tsn_before, ledger.stalls[0].tsn_after), (4_294_967_294, 2));
}

/// A gap block may end beyond the wrap, and a SACK from before it may come late.
#[test]
fn old_sacks_across_the_wrap_acknowledge_nothing_twice() {
    let ledger = play(
        "
        0  a1 -> b1  DATA 4294967295
        1  a1 -> b1  DATA 0-3
       50  a1 <- b1  SACK 1
       51  a1 <- b1  SACK 4294967295 gaps=2-2
       52  a1 <- b1  SACK 4294967295 gaps=2-4",
    );
    let acked: Vec<_> = ledger.intervals.iter().map(|bin| bin.acked_chunks).collect();
    assert_eq!(acked.iter().sum::<u64>(), 5);
}

/// Overtaken on the way to the tap: late, but new.
#[test]
fn disorder_is_no_retransmission() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1
      101  a1 -> b1  DATA 3
      102  a1 -> b1  DATA 2
      103  a1 -> b1  DATA 4",
    );
    assert_eq!(ledger.retransmissions, []);
    let [run] = &ledger.runs[..] else { panic!("{:?}", ledger.runs) };
    assert_eq!((run.chunks, run.last_tsn), (4, 4));
    let late: u64 = ledger.intervals.iter().map(|bin| bin.late_chunks).sum();
    assert_eq!(late, 1);
}

#[test]
fn flight_is_what_is_not_acknowledged() {
    let mut scene = Scene::new();
    let mut flights = Vec::new();
    for line in [
        "0   a1 -> b1  DATA 1-4 bytes=100",
        "50  a1 <- b1  SACK 1 gaps=2-2",
        "60  a2 -> b2  DATA 2 bytes=100",
        "70  a1 <- b1  SACK 1 gaps=2-2",
        "90  a1 <- b1  SACK 3",
        "95  a1 <- b1  SACK 1 gaps=2-2",
        "99  a1 <- b1  SACK 4 dups=2",
    ] {
        scene.play(line);
        let second = if scene.own().paths.len() > 1 { scene.flight_bytes(End::A, 1) } else { 0 };
        flights.push((scene.flight_bytes(End::A, 0), second));
    }
    assert_eq!(flights, [(400, 0), (200, 0), (100, 100), (100, 100), (100, 0), (100, 0), (0, 0)]);
}

/// A sender whose peer is not in the capture acknowledges nothing: the oldest must be forgotten,
/// and coming back it must not look new.
#[test]
fn outstanding_chunks_are_bounded() {
    let mut scene = Scene::new();
    scene.play(super::script::HANDSHAKE);
    let envelope = |time_ns| super::script::Envelope {
        time_ns,
        sender: End::A,
        source: super::script::address("a1"),
        destination: super::script::address("b1"),
        tag: 20,
        ip_id: None,
    };
    for tsn in 1..=70_000 {
        scene.send(envelope(ms(i64::from(tsn))), &[super::spec::data(tsn, 4)]);
    }
    assert_eq!(scene.send(envelope(ms(80_000)), &[super::spec::data(3, 4)]), [0]);
    let association = &scene.tracker.open.get(0).unwrap().association;
    assert_eq!(association.senders[End::A as usize].remembered(), 65_536);
    assert_eq!(scene.flight_bytes(End::A, 0), 65_536 * 4);
    assert_eq!(scene.own().runs[0].chunks, 70_000);
}
