//! A tiny sender and receiver with the tap beside the sender: whatever they do, the ledger's
//! counts are theirs. And packets of any content, which must cost neither panic nor memory.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use super::script::{Envelope, Scene, address, ms};
use super::spec::{data, sack};
use crate::sctp::build::chunk;
use crate::sctp::tsn::Tsn;
use crate::track::End;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// New DATA of so many bytes on a path; whether it arrives.
    Send { path: u8, bytes: u8, arrives: bool },
    /// One of the unacknowledged chunks again.
    Resend { pick: usize, path: u8, arrives: bool },
    /// A SACK on a path, seen by the tap or lost before it.
    Sack { path: u8, seen: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        3 => (0..3_u8, 1..200_u8, any::<bool>())
            .prop_map(|(path, bytes, arrives)| Step::Send { path, bytes, arrives }),
        1 => (any::<usize>(), 0..3_u8, any::<bool>())
            .prop_map(|(pick, path, arrives)| Step::Resend { pick, path, arrives }),
        2 => (0..3_u8, any::<bool>()).prop_map(|(path, seen)| Step::Sack { path, seen }),
    ];
    prop::collection::vec(step, 1..120)
}

/// What the sender knows of a chunk.
struct Outstanding {
    bytes: u64,
    path: u8,
    acked: bool,
}

/// Chunks count from 1; TSNs are `first` and what follows it.
struct Model {
    first: u32,
    next: u64,
    sent: BTreeMap<u64, Outstanding>,
    received: BTreeSet<u64>,
    duplicates: Vec<u32>,
    data_chunks: u64,
}

impl Model {
    fn tsn(&self, number: u64) -> u32 {
        self.first.wrapping_add(number as u32).wrapping_sub(1)
    }

    fn arrive(&mut self, number: u64) {
        if !self.received.insert(number) {
            self.duplicates.push(self.tsn(number));
        }
    }

    fn cumulative(&self) -> u64 {
        (1..).find(|number| !self.received.contains(number)).unwrap() - 1
    }

    fn sack(&mut self) -> Vec<u8> {
        let base = self.cumulative();
        let mut gaps: Vec<(u16, u16)> = Vec::new();
        for number in self.received.range(base + 1..) {
            let offset = (number - base) as u16;
            match gaps.last_mut() {
                Some((_, end)) if *end + 1 == offset => *end = offset,
                _ => gaps.push((offset, offset)),
            }
        }
        let duplicates = std::mem::take(&mut self.duplicates);
        sack(self.tsn(base), &gaps, &duplicates)
    }

    fn unacknowledged(&self) -> Vec<u64> {
        self.sent.iter().filter(|(_, sent)| !sent.acked).map(|(number, _)| *number).collect()
    }
}

fn envelope(time_ns: i64, sender: End, path: u8) -> Envelope {
    let ends = ["1", "2", "3"]
        .map(|number| (address(&format!("a{number}")), address(&format!("b{number}"))));
    let (a, b) = ends[usize::from(path)];
    match sender {
        End::A => Envelope { time_ns, sender, source: a, destination: b, tag: 20, ip_id: None },
        End::B => Envelope { time_ns, sender, source: b, destination: a, tag: 10, ip_id: None },
    }
}

proptest! {
    #[test]
    fn the_ledger_counts_what_the_sender_did(
        first in prop_oneof![any::<u32>(), u32::MAX - 40..=u32::MAX],
        steps in steps(),
    ) {
        let mut scene = Scene::new();
        scene.play(&format!("
             0  a1 -> b1  INIT tsn={first}
             2  a1 <- b1  INIT-ACK
             4  a1 -> b1  COOKIE-ECHO
             6  a1 <- b1  COOKIE-ACK"));
        let mut model = Model {
            first,
            next: 1,
            sent: BTreeMap::new(),
            received: BTreeSet::new(),
            duplicates: Vec::new(),
            data_chunks: 0,
        };
        for (step, time) in steps.into_iter().zip((10..).step_by(7)) {
            match step {
                Step::Send { path, bytes, arrives } => {
                    let number = model.next;
                    model.next += 1;
                    model.data_chunks += 1;
                    model.sent.insert(number, Outstanding { bytes: bytes.into(), path, acked: false });
                    let chunk = data(model.tsn(number), bytes.into());
                    let transmissions = scene.send(envelope(ms(time), End::A, path), &[chunk]);
                    prop_assert_eq!(transmissions, [1]);
                    if arrives {
                        model.arrive(number);
                    }
                }
                Step::Resend { pick, path, arrives } => {
                    let candidates = model.unacknowledged();
                    let Some(&number) = candidates.get(pick % candidates.len().max(1)) else { continue };
                    model.data_chunks += 1;
                    let tsn = model.tsn(number);
                    let Some(sent) = model.sent.get_mut(&number) else { continue };
                    sent.path = path;
                    let chunk = data(tsn, sent.bytes as usize);
                    let transmissions = scene.send(envelope(ms(time), End::A, path), &[chunk]);
                    prop_assert!(transmissions[0] >= 2);
                    if arrives {
                        model.arrive(number);
                    }
                }
                Step::Sack { path, seen } => {
                    let chunk = model.sack();
                    if seen {
                        let received = &model.received;
                        for (number, sent) in &mut model.sent {
                            sent.acked |= received.contains(number);
                        }
                        scene.send(envelope(ms(time), End::B, path), &[chunk]);
                    }
                }
            }
            for (number, path) in scene.own().paths.iter().enumerate() {
                let octet = (0..3).find(|n| address(&format!("a{}", n + 1)) == path.a_address).unwrap();
                let out = model.sent.values().filter(|sent| !sent.acked && sent.path == octet);
                let bytes: u64 = out.map(|sent| sent.bytes).sum();
                prop_assert_eq!(scene.flight_bytes(End::A, number), bytes);
            }
        }
        prop_assert_eq!(&scene.problems, &[""; 0]);
        let ledger = scene.finish();
        let total = |count: fn(&crate::ledger::IntervalRow) -> u64| ledger.intervals.iter().map(count).sum::<u64>();
        let sent = || model.sent.values();
        let acked = || sent().filter(|sent| sent.acked);
        prop_assert_eq!(total(|bin| bin.data_chunks), model.data_chunks);
        prop_assert_eq!(total(|bin| bin.new_chunks), sent().count() as u64);
        prop_assert_eq!(total(|bin| bin.new_bytes), sent().map(|sent| sent.bytes).sum::<u64>());
        let again = model.data_chunks - sent().count() as u64;
        prop_assert_eq!(total(|bin| bin.retransmitted_chunks), again);
        prop_assert_eq!(ledger.retransmissions.len() as u64, again);
        prop_assert_eq!(total(|bin| bin.acked_chunks), acked().count() as u64);
        prop_assert_eq!(total(|bin| bin.acked_bytes), acked().map(|sent| sent.bytes).sum::<u64>());
        prop_assert_eq!(ledger.runs.iter().map(|run| run.chunks).sum::<u64>(), sent().count() as u64);
        // Each chunk belongs to the run whose TSNs hold it: the runs tile the line.
        let mut next = Tsn(first);
        for run in &ledger.runs {
            prop_assert_eq!(run.first_tsn, next.0);
            next = Tsn(run.last_tsn.wrapping_add(1));
        }
    }

    /// Few TSNs, tags and addresses, so that hostile packets meet in one association.
    #[test]
    fn hostile_packets_cost_neither_panic_nor_memory(
        packets in prop::collection::vec(
            (0..4_u8, any::<bool>(), 0..3_u32, prop::collection::vec((hostile_kinds(), any::<u8>(), hostile_values()), 1..4)),
            1..80,
        ),
    ) {
        let mut scene = Scene::new();
        let mut chunks_sent = 0;
        for ((path, from_a, tag, chunks), time) in packets.into_iter().zip(0..) {
            let sender = if from_a { End::A } else { End::B };
            let mut envelope = envelope(ms(time % 13), sender, path % 3);
            envelope.tag = tag * 10;
            chunks_sent += chunks.len();
            let chunks: Vec<_> = chunks.iter().map(|(kind, flags, value)| chunk(*kind, *flags, value)).collect();
            scene.send(envelope, &chunks);
            for entry in scene.tracker.open.in_order().into_iter().filter_map(|slot| scene.tracker.open.get(slot)) {
                for sender in &entry.association.senders {
                    prop_assert!(sender.remembered() <= chunks_sent);
                }
            }
        }
        let mut ledger = scene.finish();
        let total = |count: fn(&crate::ledger::IntervalRow) -> u64| ledger.intervals.iter().map(count).sum::<u64>();
        prop_assert!(total(|bin| bin.acked_bytes) <= total(|bin| bin.new_bytes));
        prop_assert_eq!(
            total(|bin| bin.data_chunks),
            total(|bin| bin.new_chunks) + total(|bin| bin.retransmitted_chunks)
        );
        let streams = |count: fn(&crate::ledger::StreamRow) -> u64| ledger.streams.iter().map(count).sum::<u64>();
        prop_assert_eq!(streams(|row| row.chunks), total(|bin| bin.new_chunks));
        prop_assert_eq!(streams(|row| row.user_bytes), total(|bin| bin.new_bytes));
        prop_assert_eq!(
            streams(|row| row.messages),
            streams(|row| row.complete + row.abandoned + row.partial + row.open)
        );
        prop_assert!(ledger.take_batches().iter().all(|(_, batch)| batch.num_columns() > 0));
    }
}

pub(super) fn hostile_kinds() -> impl Strategy<Value = u8> {
    prop::sample::select(vec![
        0_u8, 0, 0, 3, 3, 1, 2, 4, 5, 6, 7, 8, 10, 11, 14, 15, 16, 64, 64, 128, 192, 193, 194,
    ])
}

/// Words that are small, huge or near the wrap, where TSNs, tags and lengths stand.
pub(super) fn hostile_values() -> impl Strategy<Value = Vec<u8>> {
    let word = prop_oneof![
        3 => 0..20_u32,
        1 => any::<u32>(),
        1 => u32::MAX - 5..=u32::MAX,
        1 => Just(1 << 31),
        2 => (1..5_u32, 1..9_u32).prop_map(|(start, end)| start << 16 | end),
    ];
    prop::collection::vec(word, 0..8)
        .prop_map(|words| words.iter().flat_map(|word| word.to_be_bytes()).collect())
}
