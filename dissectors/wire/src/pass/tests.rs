//! Whole files through the pass: what is counted, what is kept, what cannot happen.

use std::io::Cursor;

use proptest::prelude::*;

use super::*;
use crate::container::Capture;
use crate::ledger::ChunkRow;
use crate::packet::build::{ethernet, ipv4, ipv4_fragment, ipv6, udp};
use crate::sctp::build::{chunk, packet};
use crate::sctp::chunk::{COOKIE_ACK, DATA, HEARTBEAT, SACK};
use crate::tcp::SYN;
use crate::tcp::build::segment;

mod threads;

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
    read_with(file, Options::default())
}

fn with_flows() -> Options {
    Options { flows: true, ..Options::default() }
}

fn read_with(file: Vec<u8>, options: Options) -> Summary {
    let mut pass = open(file, options).unwrap();
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
    assert_eq!(summary.flows, None);
}

#[test]
fn every_record_is_counted_once_with_flows() {
    let records = [
        ipv4(SCTP, &packet(&[data(1)])),
        ipv4(89, &[0; 20]),
        ipv4(6, &[0; 20]),
        ipv4(17, &udp(53, 53, &[0; 20])),
    ];
    let summary = read_with(pcap(RAW, &records), with_flows());
    assert_eq!((summary.frames.read, summary.frames.dissected), (4, 2));
    assert_eq!(skipped(&summary.frames), [("another protocol", 1), ("malformed tcp", 1)]);
    assert!(conserved(&summary.frames));
}

#[test]
fn flows_and_icmp_errors_have_their_tables() {
    let syn = segment(1, 0, SYN, 512, &[2, 4, 5, 180], &[]);
    let data = udp(53, 5353, &[0; 20]);
    let sctp = packet(&[self::data(1)]);
    let quote = |inner: Vec<u8>| [&[3, 3, 0, 0, 0, 0, 0, 0][..], &inner[..28]].concat();
    let records = [
        ipv4(SCTP, &sctp),
        ipv4(6, &syn),
        ipv4(17, &data),
        ipv4(1, &quote(ipv4(6, &syn))),
        ipv4(1, &quote(ipv4(17, &data))),
        ipv4(1, &quote(ipv4(SCTP, &sctp))),
        ipv4(1, &[8, 0, 0, 0, 0, 1, 0, 1]),
        ipv4(1, &[3, 3, 0, 0, 0, 0, 0, 0, 0x45]),
    ];
    let summary = read_with(pcap(RAW, &records), with_flows());
    assert_eq!((summary.frames.dissected, summary.frames.partial), (7, 1));
    let ledger = &summary.ledger;
    let flows: Vec<_> =
        ledger.of_flows().flows.iter().map(|row| (row.protocol, row.icmp_errors)).collect();
    assert_eq!(flows, [("tcp", 1), ("udp", 1)]);
    assert_eq!(ledger.of_flows().flow_directions[0].mss, Some(1460));
    let tied: Vec<_> =
        ledger.of_flows().icmp.iter().map(|row| (row.flow, row.association, row.sender)).collect();
    let a = Some("a");
    let none = (None, None, None);
    assert_eq!(tied, [(Some(0), None, a), (Some(1), None, a), (None, Some(0), a), none]);
    let census = summary.flows.unwrap();
    assert_eq!((census.flows, census.evicted), (2, 0));
}

fn streamed(table: &str, records: &[Vec<u8>]) -> Streamed {
    let options = Options { stream: Streamed::of(table), ..with_flows() };
    let mut pass = open(pcap(RAW, records), options).unwrap();
    while pass.step(7).unwrap() {}
    std::mem::replace(pass.streamed().unwrap(), Streamed::Chunks(Vec::new()))
}

#[test]
fn every_table_of_packets_streams_its_own() {
    let records = [
        ipv4(SCTP, &packet(&[data(1)])),
        ipv4(6, &segment(1, 0, SYN, 512, &[2, 4, 5, 180, 3, 3, 15], b"hi")),
        ipv4(17, &udp(53, 5353, &[0; 20])),
        ipv4(6, &[0; 20]),
        ipv4(89, &[]),
    ];
    let Streamed::Segments(rows) = streamed("segments", &records) else { panic!() };
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.frame, row.sequence, row.flags, &row.flag_letters[..]), (2, 1, 2, "S"));
    assert_eq!((row.header_bytes, row.payload_bytes, row.checksum), (28, 2, "bad"));
    assert_eq!(row.options.as_deref(), Some("mss=1460;ws=15"));
    assert_eq!((row.flow, row.sender, row.sent_as), (Some(0), Some("a"), Some("new")));
    let Streamed::Datagrams(rows) = streamed("datagrams", &records) else { panic!() };
    let [row] = &rows[..] else { panic!("{rows:?}") };
    assert_eq!((row.frame, row.length, row.payload_bytes, row.checksum), (3, 28, 20, "zero"));
    let Streamed::Frames(rows) = streamed("frames", &records) else { panic!() };
    let rows: Vec<_> =
        rows.iter().map(|row| (row.protocol, row.outcome, row.reason.as_deref())).collect();
    let dissected = |protocol| (Some(protocol), "dissected", None);
    assert_eq!(rows[..3], [dissected("sctp"), dissected("tcp"), dissected("udp")]);
    assert_eq!(rows[3], (Some("tcp"), "skipped", Some("malformed tcp")));
    assert_eq!(rows[4], (None, "skipped", Some("another protocol")));
}

#[test]
fn an_icmp_error_quotes_sctp_inside_udp() {
    let sctp = packet(&[data(1)]);
    let [known, other] = [9899, 9898].map(|port| ipv4(17, &udp(port, 9899, &sctp)));
    let quote = |inner: &[u8]| ipv4(1, &[&[3, 1, 0, 0, 0, 0, 0, 0][..], inner].concat());
    let mut stranger = known.clone();
    stranger[32] ^= 1; // of the verification tag
    let records = [
        known.clone(),
        quote(&known[..36]),
        quote(&other[..36]), // a NAT may have changed the UDP port
        quote(&known[..35]),
        quote(&stranger[..36]),
    ];
    let summary = read_with(pcap(RAW, &records), with_flows());
    let rows = summary.ledger.of_flows().icmp.iter();
    let tied: Vec<_> =
        rows.map(|row| (row.association, row.sender, row.quoted_tag, row.flow)).collect();
    let found = (Some(0), Some("a"), Some(0x0102_0304), None);
    let none = (None, None, None, None);
    assert_eq!(tied, [found, found, none, none]);
}

#[test]
fn without_flows_only_sctp_is_read() {
    let records = [ipv4(6, &segment(1, 0, SYN, 512, &[], &[])), ipv4(SCTP, &packet(&[data(1)]))];
    let summary = read(pcap(RAW, &records));
    assert_eq!(skipped(&summary.frames), [("not SCTP", 1)]);
    assert_eq!((summary.frames.dissected, summary.ledger.of_flows().flows.len()), (1, 0));
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
    assert!(matches!(summary.damage[..], [Error::Damaged { .. }]));
    assert_eq!(summary.frames.dissected, 1);
    assert!(conserved(&summary.frames));
    let row = summary.ledger.problems.last().unwrap();
    assert_eq!((row.frame, row.layer, row.time_ns), (0, "file", None));
}

/// The rows streamed so far.
fn chunks(pass: &mut Pass) -> Vec<ChunkRow> {
    let Some(Streamed::Chunks(rows)) = pass.streamed() else { panic!("no chunks") };
    std::mem::take(rows)
}

#[test]
fn a_filter_takes_records_out_and_they_are_counted() {
    let records: Vec<_> = (1..=4).map(|tsn| ipv4(SCTP, &packet(&[data(tsn)]))).collect();
    let mut calls = 0;
    let filter: Filter = Box::new(move |_, _, _| {
        calls += 1;
        Ok(calls % 2 == 0)
    });
    let options =
        Options { filter: Some(filter), stream: Streamed::of("chunks"), ..Options::default() };
    let mut pass = open(pcap(RAW, &records), options).unwrap();
    while pass.step(1).unwrap() {}
    let tsns: Vec<_> = chunks(&mut pass).into_iter().filter_map(|row| row.tsn).collect();
    assert_eq!((tsns, pass.streamed().unwrap().len()), (vec![2, 4], 0));
    let (_, summary) = pass.finish();
    assert_eq!(skipped(&summary.frames), [("excluded by the filter", 2)]);
    assert_eq!((summary.frames.read, summary.frames.dissected), (4, 2));
}

#[test]
fn rows_of_chunks_come_in_order_with_their_transmission() {
    let first = ipv4(SCTP, &packet(&[data(1), data(2)]));
    let again = ipv4(SCTP, &packet(&[data(2), chunk(HEARTBEAT, 0, &[])]));
    let options = Options { stream: Streamed::of("chunks"), ..Options::default() };
    let mut pass = open(pcap(RAW, &[first.clone(), first, again]), options).unwrap();
    while pass.step(100).unwrap() {}
    let rows: Vec<_> = chunks(&mut pass)
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

#[test]
fn checksums_and_tunnels_are_counted() {
    let good = packet(&[data(1)]);
    let [mut zero, mut bad] = [packet(&[data(2)]), packet(&[data(3)])];
    zero[8..12].fill(0);
    bad[8] ^= 1;
    let tunnelled = [good, zero, bad].map(|bytes| ipv4(17, &udp(40_000, 9899, &bytes)));
    let mut cut = pcap(RAW, &tunnelled);
    // The last record had 4 bytes more on the wire, as its IP and UDP headers know.
    let length = tunnelled[2].len();
    let end = cut.len() - 4;
    cut.truncate(end);
    let captured = (length as u32 - 4).to_le_bytes();
    cut[end + 4 - length - 8..][..4].copy_from_slice(&captured);
    for (file, counts) in [(pcap(RAW, &tunnelled), (1, 0)), (cut, (0, 1))] {
        let summary = read(file);
        let row = &summary.ledger.associations[0];
        assert_eq!((row.a_udp_port, row.b_udp_port), (Some(40_000), Some(9899)));
        assert_eq!((row.zero_checksums, row.adler32_checksums), (1, 0));
        assert_eq!((row.damaged_packets, row.truncated_packets), counts);
        assert_eq!(row.bad_checksums, 0);
    }
}

/// 32 by 32 addresses; what comes beyond is not dropped in silence.
#[test]
fn a_packet_beyond_the_paths_is_a_problem() {
    let records: Vec<_> = (0..=1024_u16)
        .map(|number| {
            let mut record = ipv4(SCTP, &packet(&[chunk(COOKIE_ACK, 0, &[])]));
            record[14..16].copy_from_slice(&number.to_be_bytes());
            record
        })
        .collect();
    let summary = read(pcap(RAW, &records));
    assert_eq!((summary.frames.dissected, summary.frames.partial), (1024, 1));
    assert_eq!(summary.problems["unknown association"], 1);
    assert_eq!((summary.ledger.paths.len(), summary.ledger.associations.len()), (1024, 1));
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
    let broken = (whole.clone(), any::<prop::sample::Index>(), any::<u8>()).prop_map(
        |(mut record, at, byte)| {
            let at = at.index(record.len());
            record[at] = byte;
            record
        },
    );
    prop_oneof![
        bytes(),
        bytes().prop_map(|bytes| ipv4(SCTP, &bytes)),
        bytes().prop_map(|bytes| ipv6(SCTP, &bytes)),
        (any::<u8>(), any::<u8>(), bytes(), bytes()).prop_map(
            |(number, flags, options, payload)| {
                let options = &options[..options.len().min(40)];
                ipv4(6, &segment(number.into(), number.into(), flags, 0, options, &payload))
            }
        ),
        bytes().prop_map(|bytes| ipv4(17, &udp(5004, 5004, &bytes))),
        bytes().prop_map(|bytes| ipv4(1, &[&[3, 4, 0, 0], &bytes[..]].concat())),
        bytes().prop_map(|bytes| ipv6(58, &[&[2, 0, 0, 0], &bytes[..]].concat())),
        bytes().prop_map(|bytes| ipv4(17, &udp(9899, 9899, &bytes))),
        (bytes(), 0..8_u16, any::<bool>()).prop_map(|(bytes, place, more)| ipv4_fragment(
            SCTP,
            3,
            place * 8,
            more,
            &bytes
        )),
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
        flows in any::<bool>(),
    ) {
        let count = records.len() as u64;
        let records: Vec<_> = match link_type {
            ETHERNET => records.iter().map(|record| ethernet(0x0800, record)).collect(),
            _ => records,
        };
        let options = Options { stream: Streamed::of("chunks"), flows, ..Options::default() };
        let mut pass = open(pcap(link_type, &records), options).unwrap();
        while pass.step(3).unwrap() {}
        let rows = chunks(&mut pass);
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
        let Ok(mut pass) = open(file, with_flows()) else { return Ok(()) };
        while pass.step(10).unwrap() {}
        prop_assert!(conserved(&pass.finish().1.frames));
    }
}
