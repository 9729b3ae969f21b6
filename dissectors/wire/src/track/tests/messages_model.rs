//! Random messages cut, interleaved, repeated, reordered and partly lost: what comes out is what
//! was cut.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::script::{Envelope, Scene, address, ms};
use crate::ledger::MessageRow;
use crate::sctp::build::chunk;
use crate::sctp::chunk::{DATA, FLAG_BEGINNING, FLAG_ENDING, FLAG_UNORDERED, I_DATA};
use crate::track::End;

#[derive(Clone, Debug)]
struct Message {
    stream: u16,
    unordered: bool,
    fragment_bytes: Vec<usize>,
}

/// A chunk as the sender made it.
#[derive(Clone, Debug)]
struct Cut {
    message: usize,
    tsn: u32,
    bytes: Vec<u8>,
    user_bytes: usize,
}

fn message() -> impl Strategy<Value = Message> {
    (0..3_u16, any::<bool>(), prop::collection::vec(1..50_usize, 1..6)).prop_map(
        |(stream, unordered, fragment_bytes)| Message { stream, unordered, fragment_bytes },
    )
}

/// DATA: one message after the other. I-DATA: in turn, as a round-robin scheduler does it.
fn cut(messages: &[Message], interleaved: bool, first: u32) -> Vec<Cut> {
    let mut numbers: BTreeMap<(u16, bool), u32> = BTreeMap::new();
    let mut queues: Vec<Vec<(u8, Vec<u8>, usize)>> = Vec::new();
    for message in messages {
        // SSN and MID begin near their wrap; unordered DATA has no number of its own.
        let start = if interleaved { u32::MAX - 1 } else { 65_534 };
        let key = (message.stream, message.unordered);
        let number = numbers.entry(key).and_modify(|n| *n = n.wrapping_add(1)).or_insert(start);
        let last = message.fragment_bytes.len() - 1;
        let fragments = message.fragment_bytes.iter().enumerate().map(|(index, &bytes)| {
            let mut flags = u8::from(message.unordered) * FLAG_UNORDERED;
            flags |= u8::from(index == 0) * FLAG_BEGINNING;
            flags |= u8::from(index == last) * FLAG_ENDING;
            let stream = message.stream.to_be_bytes();
            let fields = if interleaved {
                let word = if index == 0 { 46 } else { index as u32 };
                [&stream[..], &[0; 2], &number.to_be_bytes(), &word.to_be_bytes()].concat()
            } else {
                [&stream[..], &(*number as u16).to_be_bytes(), &46_u32.to_be_bytes()].concat()
            };
            (flags, fields, bytes)
        });
        queues.push(fragments.rev().collect());
    }
    let mut cuts = Vec::new();
    while queues.iter().any(|queue| !queue.is_empty()) {
        for (message, queue) in queues.iter_mut().enumerate() {
            while let Some((flags, fields, user_bytes)) = queue.pop() {
                let tsn = first.wrapping_add(cuts.len() as u32);
                let value = [&tsn.to_be_bytes()[..], &fields, &vec![0; user_bytes]].concat();
                let kind = if interleaved { I_DATA } else { DATA };
                cuts.push(Cut { message, tsn, bytes: chunk(kind, flags, &value), user_bytes });
                if interleaved {
                    break;
                }
            }
        }
    }
    cuts
}

fn play(first: u32, sent: &[&Cut]) -> (Vec<MessageRow>, Vec<&'static str>, u64) {
    let mut scene = Scene::new();
    scene.tracker.ledger.messages = Some(Vec::new());
    scene.play(&format!("0  a1 -> b1  INIT tsn={first}\n1  a1 <- b1  INIT-ACK"));
    for (one, time) in sent.iter().zip(10..) {
        let envelope = Envelope {
            time_ns: ms(time),
            sender: End::A,
            source: address("a1"),
            destination: address("b1"),
            tag: 20,
            ip_id: None,
        };
        scene.send(envelope, std::slice::from_ref(&one.bytes));
    }
    let mut ledger = scene.tracker.finish().0;
    let streamed: u64 = ledger.streams.iter().map(|row| row.user_bytes).sum();
    (ledger.messages.take().unwrap(), scene.problems, streamed)
}

/// Each message's fragments, bytes, first and last TSN, of the chunks that were seen.
fn expected(cuts: &[Cut], seen: impl Fn(usize) -> bool) -> Vec<(u32, u64, u32, u32)> {
    let mut found: BTreeMap<usize, (u32, u64, u32, u32)> = BTreeMap::new();
    for (_, cut) in cuts.iter().enumerate().filter(|(index, _)| seen(*index)) {
        let entry = found.entry(cut.message).or_insert((0, 0, cut.tsn, cut.tsn));
        entry.0 += 1;
        entry.1 += cut.user_bytes as u64;
        entry.3 = cut.tsn;
    }
    found.into_values().collect()
}

fn sorted(mut rows: Vec<(u32, u64, u32, u32)>) -> Vec<(u32, u64, u32, u32)> {
    rows.sort_unstable();
    rows
}

fn firsts() -> impl Strategy<Value = u32> {
    prop_oneof![any::<u32>(), u32::MAX - 20..=u32::MAX]
}

proptest! {
    /// In any order, with any chunk sent again, all messages are whole.
    #[test]
    fn what_was_cut_comes_out(
        messages in prop::collection::vec(message(), 1..12),
        interleaved in any::<bool>(),
        first in firsts(),
        order in prop::collection::vec(any::<u32>(), 80),
        again in prop::collection::vec(any::<prop::sample::Index>(), 0..10),
    ) {
        let cuts = cut(&messages, interleaved, first);
        let mut sent: Vec<(u32, &Cut)> = order.into_iter().cycle().zip(&cuts).collect();
        for index in again {
            let copy = sent[index.index(sent.len())];
            sent.push((copy.0 ^ 0x5555, copy.1));
        }
        sent.sort_by_key(|(rank, _)| *rank);
        let sent: Vec<&Cut> = sent.into_iter().map(|(_, cut)| cut).collect();
        let (rows, problems, streamed) = play(first, &sent);
        prop_assert_eq!(problems, [""; 0]);
        prop_assert!(rows.iter().all(|row| row.outcome == "complete" && row.ppid == Some(46)));
        let shapes = rows.iter().map(|r| (r.fragments, r.user_bytes, r.first_tsn, r.last_tsn)).collect();
        prop_assert_eq!(sorted(shapes), sorted(expected(&cuts, |_| true)));
        prop_assert_eq!(streamed, cuts.iter().map(|cut| cut.user_bytes as u64).sum::<u64>());
    }

    /// Chunks that the capture never shows leave messages incomplete, and the others whole.
    #[test]
    fn what_is_lost_is_missing_and_nothing_else(
        messages in prop::collection::vec(message(), 1..12),
        interleaved in any::<bool>(),
        first in firsts(),
        lost in prop::collection::vec(any::<bool>(), 80),
    ) {
        let cuts = cut(&messages, interleaved, first);
        let seen = |index: usize| !lost.get(index).copied().unwrap_or(false);
        let sent: Vec<&Cut> =
            cuts.iter().enumerate().filter(|(index, _)| seen(*index)).map(|(_, cut)| cut).collect();
        let (rows, problems, streamed) = play(first, &sent);
        prop_assert_eq!(problems, [""; 0]);
        let whole = |one: &&(usize, (u32, u64, u32, u32))| {
            messages[one.0].fragment_bytes.len() == one.1.0 as usize
        };
        let mut kept: BTreeMap<usize, usize> = BTreeMap::new();
        sent.iter().for_each(|cut| *kept.entry(cut.message).or_default() += 1);
        let numbered: Vec<_> = kept.keys().copied().zip(expected(&cuts, seen)).collect();
        let complete = rows.iter().filter(|row| row.outcome == "complete");
        let shapes = complete.map(|r| (r.fragments, r.user_bytes, r.first_tsn, r.last_tsn)).collect();
        prop_assert_eq!(sorted(shapes), sorted(numbered.iter().filter(whole).map(|one| one.1).collect()));
        prop_assert!(rows.iter().all(|row| matches!(row.outcome, "complete" | "open")));
        let bytes: u64 = sent.iter().map(|cut| cut.user_bytes as u64).sum();
        prop_assert_eq!(rows.iter().map(|row| row.user_bytes).sum::<u64>(), bytes);
        prop_assert_eq!(streamed, bytes);
        // A message is one row, but for unordered DATA, whose fragments do not say where they belong.
        if interleaved || messages.iter().all(|message| !message.unordered) {
            prop_assert_eq!(rows.len(), kept.len());
        }
    }
}
