//! What is open, what is listed and what is remembered is bounded, and what is left out is counted.

use proptest::prelude::*;

use super::model::{hostile_kinds, hostile_values};
use super::script::{Envelope, HANDSHAKE, Scene, address, ms};
use crate::address::Address;
use crate::ledger::Ledger;
use crate::sctp::build::chunk;
use crate::track::{Census, End, Limits};

const OPEN_2: Limits = Limits { open: 2, listed: 100, slight: 100, room_bytes: 1 << 20 };

/// One more association of a flood: an INIT that nobody answers, from an address and a port of its own.
fn init(scene: &mut Scene, number: u16, time_ms: i64) {
    let own = std::mem::replace(&mut scene.ports, [number, 2002]);
    let [high, low] = number.to_be_bytes();
    let envelope = Envelope {
        time_ns: ms(time_ms),
        sender: End::A,
        source: Address::v4([11, 0, high, low]),
        destination: address("b1"),
        tag: 0,
        ip_id: Some(scene.frame as u16),
    };
    let value = [u32::from(number), 65_536, 10 << 16 | 10, 1].map(u32::to_be_bytes).concat();
    scene.send(envelope, &[chunk(1, 0, &value)]);
    scene.ports = own;
}

fn ends(ledger: &Ledger) -> Vec<(u32, &'static str, u64)> {
    ledger.associations.iter().map(|row| (row.association, row.end, row.packets)).collect()
}

#[test]
fn the_one_idle_longest_makes_room() {
    let mut scene = Scene::within(OPEN_2);
    init(&mut scene, 1, 0);
    init(&mut scene, 2, 10);
    init(&mut scene, 1, 20);
    init(&mut scene, 3, 30);
    init(&mut scene, 1, 40);
    let (ledger, census) = scene.tracker.finish();
    assert_eq!(ends(&ledger), [(0, "no-answer", 3), (1, "idle", 1), (2, "no-answer", 1)]);
    assert_eq!(census, Census { seen: 3, evicted: 1, unlisted: 0 });
}

#[test]
fn an_unanswered_one_makes_room_before_an_answered_one() {
    let mut scene = Scene::within(OPEN_2);
    scene.play(HANDSHAKE);
    for number in 1..=5 {
        init(&mut scene, number, 100);
    }
    scene.play("200  a1 -> b1  DATA 1");
    let (ledger, census) = scene.tracker.finish();
    assert_eq!(ends(&ledger)[0], (0, "open", 5));
    assert!(ends(&ledger)[1..5].iter().all(|row| row.1 == "idle"));
    assert_eq!(census, Census { seen: 6, evicted: 4, unlisted: 0 });
}

/// Nothing more is to come from it, so it goes before one that is alive and idle for longer.
#[test]
fn an_ended_one_makes_room_before_an_open_one() {
    let mut scene = Scene::within(OPEN_2);
    scene.play(HANDSHAKE);
    scene.ports = [1003, 2002];
    scene.play(
        "
       40  a1 -> b1  INIT tag=11
       50  a1 <- b1  INIT-ACK tag=21
       60  a1 -> b1  COOKIE-ECHO
       70  a1 <- b1  COOKIE-ACK
       80  a1 -> b1  ABORT",
    );
    init(&mut scene, 7, 100);
    let (ledger, census) = scene.tracker.finish();
    assert_eq!(ends(&ledger), [(0, "open", 4), (1, "abort", 5), (2, "no-answer", 1)]);
    assert_eq!(census.evicted, 1);
}

#[test]
fn a_late_packet_of_an_evicted_one_begins_another() {
    let mut scene = Scene::within(Limits { open: 1, ..OPEN_2 });
    scene.play(HANDSHAKE);
    init(&mut scene, 7, 40);
    scene.play(
        "
       50  a1 -> b1  DATA 1
       60  a1 <- b1  SACK 1",
    );
    let (ledger, census) = scene.tracker.finish();
    assert_eq!(ends(&ledger), [(0, "idle", 4), (1, "idle", 1), (2, "open", 2)]);
    assert_eq!(ledger.associations[2].init_ns, None);
    assert_eq!(census, Census { seen: 3, evicted: 2, unlisted: 0 });
}

#[test]
fn slight_associations_beyond_the_limit_leave_no_row() {
    let mut scene = Scene::within(Limits { open: 10, slight: 3, ..OPEN_2 });
    for number in 1..=20 {
        init(&mut scene, number, i64::from(number));
    }
    scene.play(
        "
      100  a1 -> b1  INIT
      110  a1 <- b1  INIT-ACK
      120  a1 -> b1  COOKIE-ECHO
      130  a1 <- b1  COOKIE-ACK",
    );
    let (ledger, census) = scene.tracker.finish();
    let numbers: Vec<_> = ledger.associations.iter().map(|row| row.association).collect();
    assert_eq!(numbers, [0, 1, 2, 20]);
    assert_eq!(census, Census { seen: 21, evicted: 11, unlisted: 17 });
    check_references(&ledger);
    let listed: Vec<_> = ledger.control.iter().map(|row| row.association).collect();
    assert_eq!(listed, [0, 1, 2, 20, 20, 20, 20]);
}

/// INIT and ABORT is all there is to a scan, answered or not.
#[test]
fn refused_ones_are_slight_and_those_set_up_are_not() {
    let mut scene = Scene::within(Limits { open: 10, slight: 0, ..OPEN_2 });
    scene.play(
        "
        0  a1 -> b1  INIT
       10  a1 <- b1  ABORT",
    );
    scene.ports = [1003, 2002];
    scene.play(HANDSHAKE);
    scene.ports = [1004, 2002];
    scene.play(
        "
       40  a1 -> b1  DATA 1 / vtag=30
       50  a1 <- b1  SACK 1 / vtag=31",
    );
    scene.ports = [1005, 2002];
    // A capture of one direction: of many packets it has something to say.
    for time in (100..200).step_by(10) {
        scene.play(&format!("{time}  a1 -> b1  DATA {time} / vtag=40"));
    }
    let (ledger, census) = scene.tracker.finish();
    assert_eq!(ends(&ledger), [(1, "open", 4), (2, "open", 2), (3, "open", 10)]);
    assert_eq!(census.unlisted, 1);
}

#[test]
fn the_associations_listed_are_bounded() {
    let mut scene = Scene::within(Limits { listed: 2, ..OPEN_2 });
    for port in 0..5 {
        scene.ports = [port, 2002];
        scene.play(HANDSHAKE);
    }
    let (ledger, census) = scene.tracker.finish();
    assert_eq!((ledger.associations.len(), census.unlisted), (2, 3));
}

#[test]
fn no_row_names_an_unlisted_association() {
    let mut scene = Scene::within(Limits { listed: 1, open: 10, ..OPEN_2 });
    scene.ports = [1, 2];
    scene.play(HANDSHAKE);
    scene.ports = [1001, 2002];
    scene.play(
        "
       40  a1 -> b1  INIT
       50  a1 <- b1  INIT-ACK
       60  a1 -> b1  COOKIE-ECHO
       70  a1 <- b1  COOKIE-ACK
      100  a1 -> b1  INIT tag=11
      110  a1 <- b1  INIT-ACK tag=21
      120  a1 -> b1  COOKIE-ECHO
      130  a1 <- b1  COOKIE-ACK",
    );
    let slots = scene.tracker.open.in_order();
    let last = &scene.tracker.open.get(slots[2]).unwrap().ledger.associations[0];
    assert_eq!(last.restart_of, Some(1));
    // Only the last one: what it restarted has no row.
    for slot in &slots[..2] {
        scene.tracker.limits.listed = 0;
        scene.tracker.close(*slot);
    }
    scene.tracker.limits.listed = 1;
    let ledger = scene.finish();
    assert_eq!((ledger.associations[0].association, ledger.associations[0].restart_of), (2, None));
}

/// Whatever else goes on, its rows are what they are without it.
#[test]
fn a_handover_in_a_flood_is_found_whole() {
    let ladder = "
      100  a1 -> b1  DATA 1
      120  a1 <- b1  SACK 1
      130  a1 -> b1  DATA 2
     1130  a2 -> b2  DATA 2
     1150  a2 <- b2  SACK 2
     1160  a2 -> b2  DATA 3
     1180  a2 <- b2  SACK 3
     1200  a2 -> b2  HEARTBEAT 7
     1220  a2 <- b2  HEARTBEAT-ACK 7
     1230  a1 -> b1  DATA 4 / damaged";
    let mut alone = Scene::new();
    // An association is kept when its answer comes before as many others as may be open.
    let mut flooded = Scene::within(Limits { open: 51, slight: 2, ..OPEN_2 });
    let mut number = 0;
    for rung in HANDSHAKE.lines().chain(ladder.lines()) {
        alone.play(rung);
        let frame = alone.frame;
        // The frames are numbered alike, so that the rows can be compared.
        flooded.frame = frame.saturating_sub(1);
        flooded.play(rung);
        for _ in 0..50 {
            number += 1;
            init(&mut flooded, number, 0);
        }
    }
    let expected = alone.finish();
    let (found, census) = flooded.tracker.finish();
    assert_eq!(census.seen, 1 + u64::from(number));
    let place = found.associations.iter().position(|row| row.a_port == 1001).unwrap();
    let own = found.associations[place].association;
    assert_eq!(expected.associations[0].damaged_packets, 1);
    macro_rules! same {
        ($($table:ident)+) => {$(
            let mut rows: Vec<_> =
                found.$table.iter().filter(|row| row.association == own).cloned().collect();
            rows.iter_mut().for_each(|row| row.association = 0);
            assert_eq!(rows, expected.$table, stringify!($table));
        )+};
    }
    same!(associations addresses paths runs retransmissions timeouts stalls heartbeats control);
    same!(intervals rtt silences oddities);
}

#[test]
fn aborts_again_and_again_are_remembered_once() {
    let mut scene = Scene::new();
    scene.play(HANDSHAKE);
    for time in 100..200 {
        scene.play(&format!("{time}  a1 -> b1  ABORT"));
    }
    assert_eq!(scene.tracker.open.indexed(), [1, 1, 1]);
}

#[test]
fn chunks_beyond_the_room_are_forgotten() {
    let mut scene = Scene::within(Limits { room_bytes: 20_000, ..OPEN_2 });
    scene.play(HANDSHAKE);
    for tsn in 1..=1000_u32 {
        scene.play(&format!("{}  a1 -> b1  DATA {tsn}", 100 + tsn));
    }
    let sender = &scene.tracker.open.get(0).unwrap().association.senders[0];
    assert!((4..200).contains(&sender.remembered()), "{}", sender.remembered());
    assert_eq!(scene.own().runs[0].chunks, 1000);
}

#[test]
fn runs_and_bins_without_room_are_counted_once() {
    let mut scene = Scene::within(Limits { room_bytes: 70_000, ..OPEN_2 });
    scene.play(HANDSHAKE);
    // Three packets of each path in turn: a run and a bin for every three.
    for turn in 0..500 {
        let path = turn % 2 + 1;
        for packet in 0..3 {
            let tsn = turn * 3 + packet + 1;
            scene.play(&format!("{} a{path} -> b{path} DATA {tsn}", 100 * turn + packet + 50));
        }
    }
    let (ledger, _) = scene.tracker.finish();
    let unlisted = ledger.unlisted();
    assert_eq!(ledger.runs.len() as u64 + unlisted["runs"], 500);
    // The handshake has a bin each way.
    assert_eq!(ledger.intervals.len() as u64 + unlisted["intervals"], 500 + 1);
    assert!(ledger.runs.iter().all(|run| run.chunks == 3));
}

#[test]
fn without_room_for_its_path_an_association_is_counted() {
    let mut scene = Scene::within(Limits { room_bytes: 0, ..OPEN_2 });
    scene.play(HANDSHAKE);
    let (ledger, census) = scene.tracker.finish();
    assert_eq!(ledger.associations, []);
    assert_eq!(census, Census { seen: 1, evicted: 0, unlisted: 1 });
    assert_eq!(ledger.unlisted()["paths"], 4);
}

/// No address is learned from wildcards, which captures are anonymised with; that is no flood.
#[test]
fn an_association_between_wildcards_is_listed() {
    let mut scene = Scene::within(OPEN_2);
    let nowhere = Address::v4([0; 4]);
    let (source, destination) = (nowhere, nowhere);
    let (time_ns, sender, tag, ip_id) = (ms(1), End::A, 7, Some(1));
    let envelope = Envelope { time_ns, sender, source, destination, tag, ip_id };
    scene.send(envelope, &[chunk(11, 0, &[])]);
    let (ledger, census) = scene.tracker.finish();
    assert_eq!((ledger.paths.len(), ledger.addresses.len()), (1, 0));
    assert_eq!((ends(&ledger), census.unlisted), (vec![(0, "open", 1)], 0));
}

/// What was refused takes nothing of the room.
#[test]
fn a_path_without_room_takes_none() {
    let mut scene = Scene::within(Limits { room_bytes: 2_000, ..OPEN_2 });
    scene.play(HANDSHAKE);
    let taken = scene.tracker.ledger.room_taken();
    for time in 100..200 {
        scene.play(&format!("{time}  a2 -> b2  DATA {time}"));
    }
    assert_eq!((scene.own().paths.len(), scene.tracker.ledger.unlisted()["paths"]), (1, 100));
    assert!(scene.tracker.ledger.room_taken() <= taken + 2 * 112);
}

proptest! {
    /// Few tags, ports and addresses, so that hostile packets meet; little of everything.
    #[test]
    fn any_packets_stay_within_the_limits(
        packets in prop::collection::vec(
            (0..6_u16, 0..4_u8, any::<bool>(), 0..4_u32, prop::collection::vec((hostile_kinds(), any::<u8>(), hostile_values()), 1..4)),
            1..80,
        ),
        room_bytes in prop::sample::select(vec![2_000_usize, 6_000, 50_000, 1 << 20]),
    ) {
        let limits = Limits { open: 2, listed: 8, slight: 3, room_bytes };
        let mut scene = Scene::within(limits);
        let (mut sent, mut left_out) = (0, 0);
        for (port, path, from_a, tag, chunks) in packets {
            let sender = if from_a { End::A } else { End::B };
            let (a, b) = (Address::v4([10, 0, path, 1]), Address::v4([10, 0, path, 2]));
            let (source, destination) = if from_a { (a, b) } else { (b, a) };
            scene.ports = [1000 + port, 2002];
            let time_ns = ms(i64::from(tag) * 40_000 + i64::from(path));
            let envelope = Envelope { time_ns, sender, source, destination, tag, ip_id: None };
            let chunks: Vec<_> = chunks.iter().map(|(kind, flags, value)| chunk(*kind, *flags, value)).collect();
            scene.send(envelope, &chunks);
            sent += 1;
            let tracker = &scene.tracker;
            let open = tracker.open.len();
            prop_assert!(open <= limits.open);
            prop_assert!(tracker.open.indexed().iter().all(|count| *count <= open));
            prop_assert!(tracker.routes.values().all(|route| tracker.open.get(route.slot).is_some()));
            let ways: usize = tracker.proven.values().map(|ways| *ways as usize).sum();
            let entries = || tracker.open.in_order().into_iter().filter_map(|slot| tracker.open.get(slot));
            prop_assert_eq!(ways, entries().map(|entry| entry.association.proven().count()).sum::<usize>());
            prop_assert!(tracker.ledger.room_taken() <= room_bytes);
            left_out = tracker.census.unlisted;
        }
        let room = scene.tracker.ledger.beside();
        let (ledger, census) = scene.tracker.finish();
        prop_assert!(census.unlisted >= left_out);
        prop_assert_eq!(census.seen, ledger.associations.len() as u64 + census.unlisted);
        prop_assert!(ledger.associations.len() <= limits.listed);
        let packets: u64 = ledger.associations.iter().map(|row| row.packets + row.duplicate_frames + row.damaged_packets).sum();
        prop_assert!(packets <= sent);
        if census.unlisted == 0 && ledger.unlisted().is_empty() {
            prop_assert_eq!(packets, sent);
        }
        check_references(&ledger);
        prop_assert_eq!(room.room_taken(), ledger.row_bytes_of_all());
    }
}

/// Every number in any table is that of an association that has a row, and tables are in order.
fn check_references(ledger: &Ledger) {
    let numbers: Vec<u32> = ledger.associations.iter().map(|row| row.association).collect();
    assert!(numbers.is_sorted_by(|one, next| one < next));
    macro_rules! check {
        ($($table:ident)+) => {$(
            assert!(ledger.$table.is_sorted_by_key(|row| row.association));
            for row in &ledger.$table {
                assert!(numbers.binary_search(&row.association).is_ok(), stringify!($table));
            }
        )+};
    }
    check!(addresses paths runs retransmissions timeouts stalls heartbeats asconf control);
    check!(intervals rtt silences oddities);
    let restarted = ledger.associations.iter().filter_map(|row| row.restart_of);
    assert!(restarted.into_iter().all(|number| numbers.binary_search(&number).is_ok()));
}
