//! Traces through a whole pass.

use std::io::Cursor;

use proptest::prelude::*;

use crate::address::Address;
use crate::container::{Capture, Options as CaptureOptions};
use crate::ledger::Simulation;
use crate::pass::{Options, Pass, Summary};

fn read_with(trace: &str, options: Options) -> Summary {
    let reader = Box::new(Cursor::new(trace.as_bytes().to_vec()));
    let capture = Capture::from_reader("trace", reader, &CaptureOptions::default()).unwrap();
    let mut pass = Pass::over(capture, options);
    while pass.step(3).unwrap() {}
    pass.finish().1
}

fn tables(summary: &Summary) -> &Simulation {
    summary.ledger.simulation.as_deref().unwrap()
}

fn read(trace: &str) -> Summary {
    read_with(trace, Options { flows: true, ..Options::default() })
}

/// A line for each of a packet's events on its way over one link and a second one behind a node.
fn journey(start_us: u64, ends: (u32, u32), tail: &str) -> String {
    let (from, to) = ends;
    let events = [("+", 0, from, 99), ("-", 5, from, 99), ("r", 15, from, 99)];
    let second = [("+", 15, 99, to), ("-", 25, 99, to), ("r", 45, 99, to)];
    let line = |(event, after_us, from, to): (&str, u64, u32, u32)| {
        format!("{event} {:.6} {from} {to} {tail}\n", (start_us + after_us) as f64 / 1e6)
    };
    events.into_iter().chain(second).map(line).collect()
}

fn sctp(start_us: u64, ends: (u32, u32), letter: char, tsn: i64, packet: u64) -> String {
    let (from, to) = ends;
    let bytes = if letter == 'D' { 1500 } else { 56 };
    let tail = format!("sctp {bytes} -------{letter} 0 {from}.0 {to}.0 1 {tsn} {packet} 0 0");
    journey(start_us, ends, &tail)
}

fn handshake() -> String {
    [
        sctp(0, (1, 2), 'I', -1, 1),
        sctp(100, (2, 1), 'I', -1, 2),
        sctp(200, (1, 2), 'I', -1, 3),
        sctp(300, (2, 1), 'I', -1, 4),
    ]
    .concat()
}

#[test]
fn an_association_as_its_first_sender_sees_it() {
    let trace = handshake()
        + &sctp(400, (1, 2), 'D', 1, 5)
        + &sctp(500, (2, 1), 'S', 1, 6)
        + &sctp(600, (1, 2), 'H', -1, 7)
        + &sctp(700, (2, 1), 'B', -1, 8);
    let summary = read(&trace);
    assert_eq!(summary.frames.read, trace.lines().count() as u64);
    assert_eq!(summary.frames.dissected, summary.frames.read);
    let ledger = summary.ledger;
    let association = &ledger.associations[0];
    assert!(association.seen_handshake);
    assert_eq!((association.a_tag, association.b_tag), (None, None));
    assert_eq!((association.a_initial_rwnd_bytes, association.a_outbound_streams), (None, None));
    assert_eq!((association.start_ns, association.end_ns), (0, 745_000));
    let path = &ledger.paths[0];
    assert_eq!((path.a_address, path.b_address), (Address::node(1), Address::node(2)));
    assert_eq!(ledger.runs[0].first_tsn, 1);
    assert_eq!(ledger.runs[0].first_ack_ns, Some(545_000));
    assert_eq!(ledger.heartbeats[0].rtt_ns, Some(145_000));
    assert!(ledger.problems.is_empty());
}

#[test]
fn hops_links_and_transits_add_up() {
    let trace = handshake() + &sctp(400, (1, 2), 'D', 1, 5);
    let ledger = *read(&trace).ledger.simulation.unwrap();
    let transit = ledger.transits.last().unwrap();
    assert_eq!((transit.packet, transit.has_data, transit.hops), (5, true, 2));
    assert_eq!((transit.sent_ns, transit.arrived_ns), (400_000, Some(445_000)));
    assert_eq!((transit.queueing_ns, transit.link_ns), (15_000, 30_000));
    assert_eq!((transit.processing_ns, transit.arrival_frame), (0, Some(30)));
    let link = &ledger.links[0];
    assert_eq!((link.from, link.to, link.packets), (Address::node(1), Address::node(99), 3));
    assert_eq!((link.smallest_bytes, link.smallest_count, link.smallest_sum_ns), (56, 2, 20_000));
    assert_eq!((link.largest_bytes, link.largest_count), (1500, 1));
    let hop = &ledger.hops[1];
    assert_eq!((hop.route, hop.packets, hop.arrived, hop.dropped), (0, 3, 3, 0));
    assert_eq!((hop.queueing_sum_ns, hop.queueing_max_ns), (30_000, 10_000));
    assert_eq!(ledger.routes.len(), 2);
}

#[test]
fn a_dropped_packet_says_where() {
    let sent = sctp(400, (1, 2), 'D', 1, 5);
    let lost: String = sent.lines().take(4).map(|line| format!("{line}\n")).collect();
    let dropped = lost.lines().last().unwrap().replacen('+', "d", 1) + "\n";
    let summary = read(&(handshake() + &lost + &dropped));
    let transit = tables(&summary).transits.last().unwrap();
    assert_eq!((transit.arrived_ns, transit.dropped_ns), (None, Some(415_000)));
    assert_eq!(transit.drop_from.zip(transit.drop_to), Some((Address::node(99), Address::node(2))));
    assert_eq!(tables(&summary).hops[1].dropped, 1);
    assert_eq!(tables(&summary).links[1].dropped, 1);
}

#[test]
fn a_further_path_joins_the_association_that_stands_there() {
    let trace = handshake() + &sctp(400, (11, 12), 'H', -1, 5) + &sctp(500, (11, 12), 'D', 1, 6);
    let ledger = read(&trace).ledger;
    assert_eq!((ledger.associations.len(), ledger.paths.len()), (1, 2));
    // Two associations stand there: which one it is, nobody can tell.
    let other = handshake().replace(" 1.0 2.0 ", " 3.0 4.0 ").replace(" 2.0 1.0 ", " 4.0 3.0 ");
    let other = other.replace(" 1 99 ", " 3 99 ").replace(" 99 2 ", " 99 4 ");
    let other = other.replace(" 2 99 ", " 4 99 ").replace(" 99 1 ", " 99 3 ");
    let other: String = (1..=4).fold(other, |other, packet| {
        other.replace(&format!(" -1 {packet} "), &format!(" -1 {} ", 100 + packet))
    });
    let ledger = read(&(handshake() + &other + &sctp(400, (11, 12), 'H', -1, 5))).ledger;
    assert_eq!(ledger.associations.len(), 3);
    // Unless the user says so.
    let hosts = vec![vec![1, 11], vec![2, 12]];
    let options = Options { hosts, ..Options::default() };
    let ledger =
        read_with(&(handshake() + &other + &sctp(400, (11, 12), 'H', -1, 5)), options).ledger;
    assert_eq!((ledger.associations.len(), ledger.paths.len()), (2, 3));
    assert_eq!(ledger.paths[1].a_address, Address::node(11));
}

#[test]
fn lines_that_cannot_be_read_are_problems_and_the_rest_is_read() {
    let trace = handshake() + "+ 0.1 1 2 sctp x -------D 0 1.0 2.0 1 1 9 0 0\nv 0.1 eval {}\n\n";
    let summary = read(&(trace + &sctp(400, (1, 2), 'D', 1, 5)));
    assert_eq!(summary.problems.values().sum::<u64>(), 1);
    assert_eq!(summary.ledger.problems[0].offset, 15);
    assert_eq!(summary.ledger.problems[0].frame, 25);
    assert_eq!(tables(&summary).transits.len(), 5);
    let skipped: Vec<_> = summary.frames.skipped.iter().collect();
    let expected = [("a variable", 1), ("an empty line", 1), ("malformed record", 1)];
    let expected = expected.map(|(what, count)| (what.to_string(), count));
    assert_eq!(skipped, expected.iter().map(|(what, count)| (what, count)).collect::<Vec<_>>());
}

#[test]
fn a_trace_that_breaks_off_is_damaged() {
    let trace = handshake() + "+ 0.1 1 2 sctp 1500 ----";
    let summary = read(&trace);
    assert_eq!(summary.damage.len(), 1);
    let told = summary.damage[0].to_string();
    assert!(told.contains("a line that ends with a newline"), "{told}");
    assert_eq!(summary.frames.read, 24);
}

#[test]
fn two_threads_find_the_same() {
    let trace = handshake() + &sctp(400, (1, 2), 'D', 1, 5) + &sctp(500, (2, 1), 'S', 1, 6);
    let threads = |two_threads| {
        let options = Options { two_threads: Some(two_threads), ..Options::default() };
        let mut summary = read_with(&trace, options);
        (summary.frames, summary.ledger.take_batches())
    };
    assert_eq!(threads(true), threads(false));
}

fn line() -> impl Strategy<Value = String> {
    let event = prop::sample::select(vec!["+", "-", "r", "d", "h", "s", "f"]);
    let kind = prop::sample::select(vec!["sctp", "tcp", "ack", "cbr", "message"]);
    let letter = prop::sample::select(vec!["I", "D", "S", "H", "B", "R", "-", "U"]);
    let numbers = (0_u32..4, 0_u32..4, 0_u32..4, 0_u32..4, 0_u32..2000);
    let rest = (-1_i64..9, 0_u64..9, 0_u32..3, any::<bool>(), 0_u64..5000);
    (event, kind, letter, numbers, rest).prop_map(
        |(event, kind, letter, (from, to, source, sink, bytes), (tsn, packet, of, at, time))| {
            let ends = if at { (source, sink) } else { (from, to) };
            let time = time as f64 / 1e6;
            let start = format!("{event} {time} {} {} {kind} {bytes}", ends.0, ends.1);
            let middle = format!("-------{letter} 0 {source}.0 {sink}.0");
            if kind == "sctp" {
                format!("{start} {middle} {of} {tsn} {packet} 0 {tsn}").replace("0 -1", "0 65535")
            } else {
                format!("{start} {middle} {tsn} {packet}")
            }
        },
    )
}

proptest! {
    /// Packets that come from nowhere, arrive twice, or change on the way: every line is counted once.
    #[test]
    fn no_line_is_lost(lines in prop::collection::vec(line(), 1..80)) {
        let trace = format!("+ 0 1 2 cbr 10 ------- 0 1.0 2.0 0 999\n{}\n", lines.join("\n"));
        let summary = read(&trace);
        let frames = &summary.frames;
        prop_assert_eq!(frames.read, trace.lines().count() as u64);
        let skipped: u64 = frames.skipped.values().sum();
        prop_assert_eq!(frames.read, frames.dissected + frames.partial + skipped);
        for transit in &tables(&summary).transits {
            prop_assert!(transit.arrived_ns.is_none() || transit.dropped_ns.is_none());
        }
        let sent: u64 = tables(&summary).links.iter().map(|link| link.packets).sum();
        let of_routes: u64 = tables(&summary).hops.iter().map(|hop| hop.packets).sum();
        prop_assert_eq!(sent, of_routes);
    }

    #[test]
    fn no_text_makes_a_line_panic(text in "[+\\-rdhsf] (-t )?[0-9.e-]{0,8}( [-+A-Za-z0-9.]{0,6}){0,18}") {
        drop(super::line::read(text.as_bytes()));
    }
}
