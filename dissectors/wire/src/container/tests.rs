//! Whole files, read through [`Capture`].

mod build;
mod compressed;
mod damage;
mod set;
mod time;
mod variants;

use std::io::{Cursor, Write};

use lz4_flex::frame::{BlockMode, BlockSize, FrameEncoder, FrameInfo};

use self::build::Builder;
use super::stream::ByteOrder;
use super::*;

const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// A record that owns its bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Kept {
    frame: u64,
    offset: u64,
    time_ns: i64,
    interface: u32,
    wire_length: u32,
    data: Vec<u8>,
    comments: Vec<String>,
}

fn in_file_order() -> Options {
    Options { reorder_window_ns: Some(0), prefetch: Some(false) }
}

fn open(bytes: &[u8], options: &Options, block_size: usize) -> Result<Capture> {
    Capture::with_block_size(
        "test",
        Box::new(Cursor::new(bytes.to_vec())),
        options,
        Some(block_size),
    )
}

/// All records, and the error after them if there is one.
fn drain(capture: &mut Capture) -> (Vec<Kept>, Option<Error>) {
    let mut kept = Vec::new();
    loop {
        match capture.next() {
            Ok(Some(Record {
                frame,
                offset,
                time_ns,
                interface,
                wire_length,
                data,
                comments,
                ..
            })) => {
                let data = data.to_vec();
                let comments = comments.to_vec();
                kept.push(Kept { frame, offset, time_ns, interface, wire_length, data, comments });
            }
            Ok(None) => return (kept, None),
            Err(error) => {
                assert!(capture.next().is_ok_and(|record| record.is_none()), "told once");
                return (kept, Some(error));
            }
        }
    }
}

fn read(bytes: &[u8], options: &Options) -> (Vec<Kept>, Option<Error>) {
    drain(&mut open(bytes, options, 4096).unwrap())
}

/// Two sections of different byte order, every kind of block.
fn everything() -> Vec<u8> {
    let mut file = Builder::new(ByteOrder::Little);
    file.section(&["first", "second"])
        .interface(1, |options| {
            options.option(2, b"eth0").option(3, b"path A").option(9, &[9]);
        })
        .interface(113, |options| {
            options.option(9, &[0x8a]).option_u64(14, 100);
        })
        .block(4, |names| {
            names.u32(0);
        })
        .packet(0, 5_000_000_001, &[1, 2, 3, 4, 5], &[])
        .packet(1, 1536, &[6, 7, 8, 9], &["odd", "", "even"])
        .block(0x0bad, |custom| {
            custom.u32(32_473).u64(7);
        })
        .simple_packet(3, &[10, 11, 12])
        .old_packet(0, 5_000_000_002, &[13])
        .block(5, |statistics| {
            statistics.u32(0).u64(0).option_u64(5, 1).option_u64(7, 99);
        })
        .block(5, |statistics| {
            statistics.u32(0).u64(0).option_u64(5, 3);
        });
    let mut second = Builder::new(ByteOrder::Big);
    second
        .section(&["third"])
        .interface(1, |_| {})
        .packet(0, 1_700_000_000_000_001, &[14; 96], &["big"])
        .simple_packet(400, &[15; 200])
        .block(5, |statistics| {
            statistics.u32(0).u64(0).option_u64(7, 4);
        });
    file.bytes.extend(second.bytes);
    file.bytes
}

fn pcap(order: ByteOrder, nanosecond: bool) -> Vec<u8> {
    let mut file = Builder::pcap(order, nanosecond);
    file.pcap_record(1, 2, &[1]).pcap_record(u32::MAX, 999_999, &[]).pcap_record(3, 4, &[2; 60]);
    file.bytes
}

#[test]
fn pcap_in_both_orders_and_units() {
    for order in ORDERS {
        for nanosecond in [false, true] {
            let mut capture = open(&pcap(order, nanosecond), &in_file_order(), 4096).unwrap();
            let big_endian = order == ByteOrder::Big;
            let (variant, version) = (Variant::Standard, (2, 4));
            assert_eq!(capture.format(), Format::Pcap { variant, nanosecond, big_endian, version });
            let (kept, error) = drain(&mut capture);
            assert!(error.is_none());
            let unit = if nanosecond { 1 } else { 1000 };
            let times: Vec<i64> = kept.iter().map(|record| record.time_ns).collect();
            let second = 1_000_000_000;
            let last = i64::from(u32::MAX) * second + 999_999 * unit;
            assert_eq!(times, [second + 2 * unit, last, 3 * second + 4 * unit]);
            assert_eq!(kept[2].data, [2; 60]);
            assert_eq!((kept[2].frame, kept[2].offset, kept[2].wire_length), (3, 57, 67));
            let [interface] = capture.interfaces() else { panic!("one interface") };
            assert_eq!((interface.link_type, interface.packets), (1, 3));
            assert_eq!((interface.snap_length, interface.number), (65_535, 0));
            let unit = if nanosecond { "10^-9 s" } else { "10^-6 s" };
            assert_eq!(interface.time_unit, unit);
            assert_eq!((capture.dropped(), capture.comments().len()), (None, 0));
        }
    }
    let capture = open(&pcap(ByteOrder::Big, true), &in_file_order(), 4096).unwrap();
    assert_eq!(capture.format().name(), "pcap (nanosecond, big-endian)");
}

#[test]
fn pcapng_with_everything() {
    let mut capture = open(&everything(), &in_file_order(), 4096).unwrap();
    assert_eq!(capture.format().name(), "pcapng");
    let (kept, error) = drain(&mut capture);
    assert!(error.is_none(), "{error:?}");
    let times: Vec<_> = kept.iter().map(|it| (it.time_ns, it.interface, it.wire_length)).collect();
    assert_eq!(
        times,
        [
            (5_000_000_001, 0, 12),
            (101_500_000_000, 1, 11),
            (5_000_000_001, 0, 3),
            (5_000_000_002, 0, 8),
            (1_700_000_000_000_001_000, 2, 103),
            (1_700_000_000_000_001_000, 2, 400),
        ]
    );
    let data: Vec<&[u8]> = kept.iter().map(|record| record.data.as_slice()).collect();
    let five: &[u8] = &[1, 2, 3, 4, 5];
    // The last is a Simple Packet Block cut to the interface's snap length.
    assert_eq!(data, [five, &[6, 7, 8, 9], &[10, 11, 12], &[13], &[14; 96], &[15; 96]]);
    assert_eq!(kept[1].comments, ["odd", "", "even"]);
    assert_eq!(kept[4].comments, ["big"]);
    assert_eq!(capture.comments(), ["first", "second", "third"]);
    assert_eq!(capture.dropped(), Some(3 + 4));
    let [first, second, third] = capture.interfaces() else { panic!("three interfaces") };
    assert_eq!(first.name.as_deref(), Some("eth0"));
    assert_eq!(first.description.as_deref(), Some("path A"));
    assert_eq!((first.section, first.number, first.packets), (0, 0, 3));
    assert_eq!((second.section, second.number, second.link_type), (0, 1, 113));
    assert_eq!((third.section, third.number, third.packets), (1, 0, 2));
    assert_eq!([&first.time_unit, &second.time_unit], ["10^-9 s", "2^-10 s"]);
    assert_eq!(third.time_unit, "10^-6 s");
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    ruzstd::encoding::compress_to_vec(bytes, ruzstd::encoding::CompressionLevel::Fastest)
}

fn xz(bytes: &[u8]) -> Vec<u8> {
    let options = lzma_rust2::XzOptions::with_preset(1);
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let info = FrameInfo::new().block_size(BlockSize::Max64KB).content_checksum(true);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// With larger blocks that depend on each other.
fn lz4_linked(bytes: &[u8]) -> Vec<u8> {
    let info = FrameInfo::new().block_size(BlockSize::Max1MB).block_mode(BlockMode::Linked);
    let mut encoder = FrameEncoder::with_frame_info(info, Vec::new());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Compressed in two parts, whose border is in a record.
fn in_two_parts(bytes: &[u8], compress: fn(&[u8]) -> Vec<u8>, between: &[u8]) -> Vec<u8> {
    let (head, tail) = bytes.split_at(bytes.len() / 2);
    [compress(head), between.to_vec(), compress(tail)].concat()
}

const SKIPPABLE: &[u8] = &[0x53, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 9, 9, 9];

#[test]
fn compressed_files_read_like_plain_ones() {
    for bytes in [pcap(ByteOrder::Little, true), everything()] {
        let plain = read(&bytes, &in_file_order()).0;
        let skippable_first = [SKIPPABLE, &zstd(&bytes)].concat();
        for (compression, packed) in [
            (Compression::Gzip, gzip(&bytes)),
            (Compression::Gzip, in_two_parts(&bytes, gzip, &[])),
            (Compression::Zstd, zstd(&bytes)),
            (Compression::Zstd, in_two_parts(&bytes, zstd, SKIPPABLE)),
            (Compression::Zstd, skippable_first),
            (Compression::Xz, xz(&bytes)),
            (Compression::Xz, in_two_parts(&bytes, xz, &[0; 8])),
            (Compression::Lz4, lz4(&bytes)),
            (Compression::Lz4, in_two_parts(&bytes, lz4, SKIPPABLE)),
            (Compression::Lz4, [in_two_parts(&bytes, lz4_linked, &[]), lz4(&[])].concat()),
        ] {
            let mut capture = open(&packed, &Options::default(), 64).unwrap();
            assert_eq!(capture.compression(), compression);
            assert_eq!(capture.format().name() == "pcapng", plain.len() == 6);
            let (mut kept, error) = drain(&mut capture);
            kept.sort_by_key(|record| record.frame);
            assert!(error.is_none(), "{error:?}");
            assert_eq!(kept, plain);
            assert_eq!(capture.bytes_read(), packed.len() as u64);
        }
    }
}

#[test]
fn dropping_a_capture_early_ends_its_thread() {
    let endless = Box::new(Cursor::new(pcap(ByteOrder::Little, false)).chain(io::repeat(0)));
    let mut capture =
        Capture::with_block_size("test", endless, &Options::default(), Some(1 << 16)).unwrap();
    assert!(capture.next().unwrap().is_some());
    drop(capture);
}

#[test]
fn a_capture_can_be_sent_to_another_thread() {
    fn assert_send<T: Send>(_: &T) {}
    assert_send(&open(&everything(), &Options::default(), 64).unwrap());
}
