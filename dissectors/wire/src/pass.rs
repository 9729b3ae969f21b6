//! The one streaming pass over a capture: records in, ledger out.
//!
//! Every record is counted once: read = dissected + partial + skipped by reason.

use std::collections::BTreeMap;
use std::path::Path;

use crate::container::{Capture, Options as CaptureOptions, Record};
use crate::error::{Error, Result};
use crate::ledger::{ChunkRow, CommentRow, Ledger, PROBLEM_ROWS, ProblemRow};
use crate::packet::{Decoder, DecoderOptions, Found, Packet};
use crate::problem::Problem;
use crate::rows::chunk_row;
use crate::sctp::{self, verify};
use crate::track::{Located, Moment, Seen, Tracker};

/// Says whether a packet takes part: link type, captured bytes, length on the wire.
pub type Filter = Box<dyn FnMut(u16, &[u8], u32) -> Result<bool> + Send>;

pub struct Options {
    /// Width of the interval table's bins.
    pub bin_ns: i64,
    /// UDP ports that carry SCTP (RFC 6951).
    pub udp_ports: Vec<u16>,
    pub capture: CaptureOptions,
    pub filter: Option<Filter>,
    /// Whether to make rows of the chunk table.
    pub chunks: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            bin_ns: 100_000_000,
            udp_ports: DecoderOptions::default().udp_ports,
            capture: CaptureOptions::default(),
            filter: None,
            chunks: false,
        }
    }
}

/// Conservation: `read` is the sum of the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frames {
    pub read: u64,
    /// Every chunk of the frame was read.
    pub dissected: u64,
    /// Something in the frame could not be read; the rest was.
    pub partial: u64,
    /// Nothing of SCTP was read, by reason.
    pub skipped: BTreeMap<String, u64>,
}

pub struct Pass {
    capture: Capture,
    work: Work,
    filter: Option<Filter>,
    damage: Option<Error>,
    done: bool,
}

/// What the pass fills; apart from the capture that it borrows records from.
struct Work {
    decoder: Decoder,
    tracker: Tracker,
    frames: Frames,
    first_ns: Option<i64>,
    last_ns: Option<i64>,
    sctp_packets: u64,
    problems: BTreeMap<String, u64>,
    chunks: Option<Vec<ChunkRow>>,
}

/// A finished pass.
pub struct Summary {
    pub ledger: Ledger,
    pub frames: Frames,
    pub sctp_packets: u64,
    pub first_ns: Option<i64>,
    pub last_ns: Option<i64>,
    /// Problems by layer and kind; complete, while the table is bounded.
    pub problems: BTreeMap<String, u64>,
    /// Fragments dropped because too many datagrams were incomplete at a time.
    pub dropped_fragments: u64,
    /// The file went wrong before its end.
    pub damage: Option<Error>,
}

impl Pass {
    pub fn open(path: &Path, options: Options) -> Result<Pass> {
        let capture = Capture::open(path, &options.capture)?;
        Ok(Self::over(capture, options))
    }

    pub fn over(capture: Capture, options: Options) -> Pass {
        Pass {
            capture,
            work: Work {
                decoder: Decoder::new(DecoderOptions { udp_ports: options.udp_ports }),
                tracker: Tracker::new(options.bin_ns),
                frames: Frames::default(),
                first_ns: None,
                last_ns: None,
                sctp_packets: 0,
                problems: BTreeMap::new(),
                chunks: options.chunks.then(Vec::new),
            },
            filter: options.filter,
            damage: None,
            done: false,
        }
    }

    pub fn capture(&self) -> &Capture {
        &self.capture
    }

    /// Reads up to `records` records; false when the capture is at its end.
    /// Damage in the file ends the pass, but not what was read before it.
    pub fn step(&mut self, records: usize) -> Result<bool> {
        for _ in 0..records {
            if self.done {
                return Ok(false);
            }
            match self.capture.next() {
                Ok(Some(record)) => {
                    if let Some(filter) = &mut self.filter
                        && !filter(record.link_type, record.data, record.wire_length)?
                    {
                        self.work.note(&record);
                        self.work.skip("excluded by the filter");
                        continue;
                    }
                    self.work.record(&record);
                }
                Ok(None) => self.done = true,
                Err(damage @ Error::Damaged { .. }) => {
                    self.work.damaged(&damage);
                    self.damage = Some(damage);
                }
                Err(other) => return Err(other),
            }
        }
        Ok(!self.done)
    }

    /// Rows of the chunk table made since the last call.
    pub fn take_chunks(&mut self) -> Vec<ChunkRow> {
        self.work.chunks.as_mut().map(std::mem::take).unwrap_or_default()
    }

    pub fn chunks_waiting(&self) -> usize {
        self.work.chunks.as_ref().map_or(0, Vec::len)
    }

    /// The tables. Call it after `step` has said false, or earlier for what there is so far.
    pub fn finish(self) -> (Capture, Summary) {
        let work = self.work;
        let summary = Summary {
            dropped_fragments: work.decoder.dropped_fragments(),
            ledger: work.tracker.finish(),
            frames: work.frames,
            sctp_packets: work.sctp_packets,
            first_ns: work.first_ns,
            last_ns: work.last_ns,
            problems: work.problems,
            damage: self.damage,
        };
        (self.capture, summary)
    }
}

impl Work {
    fn note(&mut self, record: &Record<'_>) {
        self.frames.read += 1;
        let time_ns = record.time_ns;
        self.first_ns = Some(self.first_ns.map_or(time_ns, |first_ns| first_ns.min(time_ns)));
        self.last_ns = Some(self.last_ns.map_or(time_ns, |last_ns| last_ns.max(time_ns)));
    }

    fn skip(&mut self, reason: &str) {
        match self.frames.skipped.get_mut(reason) {
            Some(count) => *count += 1,
            None => {
                self.frames.skipped.insert(reason.to_string(), 1);
            }
        }
    }

    fn record(&mut self, record: &Record<'_>) {
        self.note(record);
        for comment in &record.comments {
            self.tracker.ledger.comments.push(CommentRow {
                frame: record.frame,
                time_ns: record.time_ns,
                interface: record.interface_name.map(str::to_string),
                text: comment.clone(),
            });
        }
        let moment = Moment { time_ns: record.time_ns, frame: record.frame };
        // The decoder is taken apart from the rest because the packet may lie in its fragment pool.
        let Work { decoder, tracker, problems, chunks, .. } = self;
        let found =
            decoder.decode(record.link_type, record.time_ns, record.data, record.wire_length);
        match found {
            Found::Sctp(packet) => {
                let mut reader = Reader { tracker, problems, chunks, moment };
                let whole = reader.packet(&packet, record);
                self.sctp_packets += 1;
                match whole {
                    Whole::Yes => self.frames.dissected += 1,
                    Whole::Partly => self.frames.partial += 1,
                    Whole::No(reason) => self.skip(&reason),
                }
            }
            Found::Skip(skip) => self.skip(skip.name()),
            Found::Problem(problem) => {
                let reason = reason(&problem);
                report(tracker, problems, &problem, moment);
                self.skip(&reason);
            }
        }
    }

    fn damaged(&mut self, damage: &Error) {
        let Error::Damaged { offset, expected, found, .. } = damage else { return };
        self.tracker.ledger.problems.push(ProblemRow {
            frame: 0,
            time_ns: None,
            layer: "file",
            kind: "malformed",
            offset: *offset,
            what: format!("expected {expected}, found {found}"),
            ..Default::default()
        });
    }
}

enum Whole {
    Yes,
    Partly,
    No(String),
}

/// Reads one SCTP packet into the tracker.
struct Reader<'w> {
    tracker: &'w mut Tracker,
    problems: &'w mut BTreeMap<String, u64>,
    chunks: &'w mut Option<Vec<ChunkRow>>,
    moment: Moment,
}

impl Reader<'_> {
    fn packet(&mut self, packet: &Packet<'_>, record: &Record<'_>) -> Whole {
        let (header, chunks) = match sctp::parse(packet.sctp, packet.sctp_length) {
            Ok(parsed) => parsed,
            Err(problem) => {
                let problem = problem.at(packet.sctp_offset as usize);
                report(self.tracker, self.problems, &problem, self.moment);
                return Whole::No(reason(&problem));
            }
        };
        let seen = Seen {
            moment: self.moment,
            wire_bytes: record.wire_length,
            interface: record.interface_name,
            packet,
            header,
            verdict: verify(packet.sctp, &header, packet.sctp_length),
        };
        let first = chunks.clone().next().and_then(|first| first.ok());
        let located = self.tracker.packet(&seen, first.as_ref());
        let mut whole = Whole::Yes;
        for (index, chunk) in chunks.enumerate() {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(problem) => {
                    self.problem(&problem, packet);
                    whole = Whole::Partly;
                    break;
                }
            };
            let mut transmission = None;
            if let Located::At(association, place) = &located {
                let outcome = self.tracker.chunk(*association, place, &seen, &chunk);
                transmission = outcome.transmission;
                if let Some(problem) = outcome.problem {
                    self.problem(&problem, packet);
                    whole = Whole::Partly;
                }
            }
            if let Some(rows) = self.chunks {
                rows.push(chunk_row(&seen, &located, &chunk, index, transmission));
            }
        }
        whole
    }

    fn problem(&mut self, problem: &Problem, packet: &Packet<'_>) {
        let problem = problem.clone().at(packet.sctp_offset as usize);
        report(self.tracker, self.problems, &problem, self.moment);
    }
}

fn reason(problem: &Problem) -> String {
    format!("{} {}", problem.kind.name(), problem.layer.name())
}

fn report(
    tracker: &mut Tracker,
    counts: &mut BTreeMap<String, u64>,
    problem: &Problem,
    moment: Moment,
) {
    *counts.entry(reason(problem)).or_insert(0) += 1;
    let rows = &mut tracker.ledger.problems;
    if rows.len() < PROBLEM_ROWS {
        rows.push(ProblemRow {
            frame: moment.frame,
            time_ns: Some(moment.time_ns),
            layer: problem.layer.name(),
            kind: problem.kind.name(),
            offset: u64::from(problem.offset),
            needed: u64::from(problem.needed),
            available: u64::from(problem.available),
            what: problem.what.to_string(),
        });
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::packet::build::{ethernet, ipv4, ipv4_fragment, ipv6, udp};
    use crate::sctp::build::{chunk, packet};
    use crate::sctp::chunk::{COOKIE_ACK, DATA, HEARTBEAT, SACK};

    const SCTP: u8 = 132;
    const ETHERNET: u16 = 1;
    const RAW: u16 = 101;

    /// A little-endian pcap with one record a millisecond.
    fn pcap(link_type: u16, records: &[Vec<u8>]) -> Vec<u8> {
        let header = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, u32::from(link_type)];
        let mut bytes = header.map(u32::to_le_bytes).concat();
        for (record, millisecond) in records.iter().zip(0_u32..) {
            let length = record.len() as u32;
            let (seconds, rest) = (millisecond / 1000, millisecond % 1000);
            bytes.extend([seconds, rest * 1000, length, length].map(u32::to_le_bytes).concat());
            bytes.extend_from_slice(record);
        }
        bytes
    }

    fn open(file: Vec<u8>, options: Options) -> Result<Pass> {
        let reader = Box::new(Cursor::new(file));
        Ok(Pass::over(Capture::from_reader("test", reader, &options.capture)?, options))
    }

    fn read(file: Vec<u8>) -> Summary {
        let mut pass = open(file, Options::default()).unwrap();
        while pass.step(7).unwrap() {}
        pass.finish().1
    }

    fn skipped(frames: &Frames) -> Vec<(&str, u64)> {
        frames.skipped.iter().map(|(reason, count)| (reason.as_str(), *count)).collect()
    }

    fn conserved(frames: &Frames) -> bool {
        frames.read == frames.dissected + frames.partial + frames.skipped.values().sum::<u64>()
    }

    fn data(tsn: u8) -> Vec<u8> {
        chunk(DATA, 3, &[0, 0, 0, tsn, 0, 0, 0, 0, 0, 0, 0, 0, 1])
    }

    #[test]
    fn every_record_is_counted_once() {
        let half_a_chunk = packet(&[data(1), vec![3, 0, 0, 16, 0, 0, 0, 1]]);
        let summary = read(pcap(
            RAW,
            &[
                ipv4(SCTP, &packet(&[data(1), data(2)])),
                ipv6(SCTP, &packet(&[chunk(COOKIE_ACK, 0, &[])])),
                ipv4(SCTP, &half_a_chunk),
                ipv4(SCTP, &packet(&[chunk(HEARTBEAT, 0, &[])])),
                ipv4(6, &[0; 20]),
                ipv4(17, &udp(53, 53, &[0; 20])),
                ipv4(SCTP, &[0; 11]),
                ipv4_fragment(SCTP, 9, 0, true, &[0; 16]),
                vec![0x45],
            ],
        ));
        assert_eq!(summary.frames.read, 9);
        assert_eq!((summary.frames.dissected, summary.frames.partial), (2, 2));
        let reasons = [
            ("fragment kept for reassembly", 1),
            ("malformed ip", 1),
            ("malformed sctp", 1),
            ("not SCTP", 2),
        ];
        assert_eq!(skipped(&summary.frames), reasons);
        assert!(conserved(&summary.frames));
        assert_eq!(summary.sctp_packets, 4);
        assert_eq!((summary.first_ns, summary.last_ns), (Some(0), Some(8_000_000)));
        assert_eq!(summary.problems.values().sum::<u64>(), 4);
        assert_eq!(summary.ledger.problems.len(), 4);
    }

    /// The place is a place in the captured record: 14 bytes of Ethernet, 20 of IPv4, 12 of SCTP.
    #[test]
    fn a_problem_says_where() {
        let bytes = packet(&[chunk(SACK, 0, &[0; 4])]);
        let summary = read(pcap(ETHERNET, &[ethernet(0x0800, &ipv4(SCTP, &bytes))]));
        let [row] = &summary.ledger.problems[..] else { panic!("{:?}", summary.ledger.problems) };
        assert_eq!((row.frame, row.time_ns, row.layer, row.kind), (1, Some(0), "chunk", "malformed"));
        assert_eq!((row.offset, row.needed, row.available), (14 + 20 + 12 + 4, 12, 4));
        assert_eq!(summary.problems["malformed chunk"], 1);
    }

    #[test]
    fn what_was_read_before_damage_stays() {
        let record = ipv4(SCTP, &packet(&[data(1)]));
        let mut file = pcap(RAW, &[record.clone(), record]);
        file.truncate(file.len() - 3);
        let summary = read(file);
        assert!(matches!(summary.damage, Some(Error::Damaged { .. })));
        assert_eq!(summary.frames.dissected, 1);
        assert!(conserved(&summary.frames));
        let row = summary.ledger.problems.last().unwrap();
        assert_eq!((row.frame, row.layer, row.time_ns), (0, "file", None));
    }

    #[test]
    fn a_filter_takes_records_out_and_they_are_counted() {
        let records: Vec<_> = (1..=4).map(|tsn| ipv4(SCTP, &packet(&[data(tsn)]))).collect();
        let mut calls = 0;
        let filter: Filter = Box::new(move |_, _, _| {
            calls += 1;
            Ok(calls % 2 == 0)
        });
        let options = Options { filter: Some(filter), chunks: true, ..Options::default() };
        let mut pass = open(pcap(RAW, &records), options).unwrap();
        while pass.step(1).unwrap() {}
        let tsns: Vec<_> = pass.take_chunks().into_iter().filter_map(|row| row.tsn).collect();
        assert_eq!((tsns, pass.chunks_waiting()), (vec![2, 4], 0));
        let (_, summary) = pass.finish();
        assert_eq!(skipped(&summary.frames), [("excluded by the filter", 2)]);
        assert_eq!((summary.frames.read, summary.frames.dissected), (4, 2));
    }

    #[test]
    fn rows_of_chunks_come_in_order_with_their_transmission() {
        let first = ipv4(SCTP, &packet(&[data(1), data(2)]));
        let again = ipv4(SCTP, &packet(&[data(2), chunk(HEARTBEAT, 0, &[])]));
        let options = Options { chunks: true, ..Options::default() };
        let mut pass = open(pcap(RAW, &[first.clone(), first, again]), options).unwrap();
        while pass.step(100).unwrap() {}
        let rows: Vec<_> = pass
            .take_chunks()
            .into_iter()
            .map(|row| (row.frame, row.index, row.tsn, row.transmission, row.duplicate_frame))
            .collect();
        let expected = [
            (1, 0, Some(1), Some(1), false),
            (1, 1, Some(2), Some(1), false),
            (2, 0, Some(1), None, true),
            (2, 1, Some(2), None, true),
            (3, 0, Some(2), Some(2), false),
            (3, 1, None, None, false),
        ];
        assert_eq!(rows, expected);
    }

    /// Records that reach different depths before they go wrong.
    fn records() -> impl Strategy<Value = Vec<u8>> {
        let bytes = || prop::collection::vec(any::<u8>(), 0..60);
        let kinds = prop::sample::select(vec![0_u8, 1, 2, 3, 4, 5, 6, 7, 14, 64, 128, 130, 192, 193]);
        let chunks = prop::collection::vec((kinds, any::<u8>(), bytes()), 0..4);
        let whole = chunks.prop_map(|chunks| {
            let built = chunks.iter().map(|(kind, flags, value)| chunk(*kind, *flags, value));
            ipv4(SCTP, &packet(&built.collect::<Vec<_>>()))
        });
        let cut = (whole.clone(), any::<prop::sample::Index>())
            .prop_map(|(record, at)| record[..at.index(record.len())].to_vec());
        let broken = (whole.clone(), any::<prop::sample::Index>(), any::<u8>())
            .prop_map(|(mut record, at, byte)| {
                let at = at.index(record.len());
                record[at] = byte;
                record
            });
        prop_oneof![
            bytes(),
            bytes().prop_map(|bytes| ipv4(SCTP, &bytes)),
            bytes().prop_map(|bytes| ipv6(SCTP, &bytes)),
            bytes().prop_map(|bytes| ipv4(17, &udp(9899, 9899, &bytes))),
            (bytes(), 0..8_u16, any::<bool>())
                .prop_map(|(bytes, place, more)| ipv4_fragment(SCTP, 3, place * 8, more, &bytes)),
            whole,
            cut,
            broken,
        ]
    }

    proptest! {
        #[test]
        fn no_record_panics_or_is_lost(
            records in prop::collection::vec(records(), 0..20),
            link_type in prop::sample::select(vec![RAW, ETHERNET, 113, 0, 276, 147]),
        ) {
            let count = records.len() as u64;
            let records: Vec<_> = match link_type {
                ETHERNET => records.iter().map(|record| ethernet(0x0800, record)).collect(),
                _ => records,
            };
            let options = Options { chunks: true, ..Options::default() };
            let mut pass = open(pcap(link_type, &records), options).unwrap();
            while pass.step(3).unwrap() {}
            let rows = pass.take_chunks();
            let (_, summary) = pass.finish();
            prop_assert_eq!(summary.frames.read, count);
            prop_assert!(conserved(&summary.frames), "{:?}", summary.frames);
            prop_assert!(rows.iter().all(|row| row.frame <= count));
            let packets: u64 = summary.ledger.associations.iter()
                .map(|row| row.packets + row.duplicate_frames).sum();
            prop_assert!(packets <= summary.sctp_packets);
        }

        #[test]
        fn no_file_panics(bytes in prop::collection::vec(any::<u8>(), 0..300), whole in any::<bool>()) {
            let file = if whole { bytes } else { [pcap(RAW, &[]), bytes].concat() };
            let Ok(mut pass) = open(file, Options::default()) else { return Ok(()) };
            while pass.step(10).unwrap() {}
            prop_assert!(conserved(&pass.finish().1.frames));
        }
    }
}
