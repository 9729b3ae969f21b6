//! What is read through an index is what the pass over the whole capture found.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::UInt64Type;
use proptest::prelude::*;

use super::*;
use crate::container::{Description, Options as CaptureOptions, Start};
use crate::error::Error;
use crate::ledger::{ChunkRow, IndexPacketRow, Streamed};
use crate::packet::build::{ipv4, ipv4_fragment};
use crate::pass::{Options, Pass};
use crate::sctp::build::{chunk, packet};

const SCTP: u8 = 132;
const RAW: u32 = 101;

/// A capture file that goes with the test.
struct File(PathBuf);

impl File {
    /// A little-endian pcap of records with their milliseconds.
    fn new(records: &[(u32, Vec<u8>)]) -> File {
        static FILES: AtomicU32 = AtomicU32::new(0);
        let number = FILES.fetch_add(1, Ordering::Relaxed);
        let name = format!("pathscope-index-{}-{number}.pcap", std::process::id());
        let file = File(std::env::temp_dir().join(name));
        file.write(records);
        file
    }

    fn write(&self, records: &[(u32, Vec<u8>)]) {
        let header = [0xa1b2_c3d4, 4 << 16 | 2, 0, 0, 65_535, RAW];
        let mut bytes = header.map(u32::to_le_bytes).concat();
        for (millisecond, record) in records {
            let length = record.len() as u32;
            let head = [millisecond / 1000, millisecond % 1000 * 1000, length, length];
            bytes.extend(head.map(u32::to_le_bytes).concat());
            bytes.extend_from_slice(record);
        }
        fs::write(&self.0, bytes).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        drop(fs::remove_file(&self.0));
    }
}

/// The chunk rows of the whole capture, and its index.
fn index(path: &Path, window_ns: i64, block_bytes: u64) -> (Vec<ChunkRow>, Tables) {
    let options = Options {
        stream: Some(Streamed::Chunks(Vec::new())),
        index_block_bytes: Some(block_bytes),
        capture: CaptureOptions { reorder_window_ns: Some(window_ns), ..Default::default() },
        ..Default::default()
    };
    let mut pass = Pass::open(&[path.to_path_buf()], options).unwrap();
    let mut taken = Vec::new();
    while pass.step(5).unwrap() {
        taken.extend(pass.index().unwrap().take());
    }
    let Some(Streamed::Chunks(rows)) = pass.streamed() else { panic!() };
    let rows = std::mem::take(rows);
    let mut tables = pass.finish().1.index.unwrap();
    taken.append(&mut tables.packets);
    (rows, Tables { packets: taken, ..tables })
}

fn numbers(batch: &RecordBatch, column: &str) -> Vec<u64> {
    batch.column_by_name(column).unwrap().as_primitive::<UInt64Type>().values().to_vec()
}

/// Where each block begins.
fn starts(tables: &Tables) -> Vec<Start> {
    let descriptions = [Description { section: 0, offset: 0, length: 24 }];
    assert_eq!(numbers(&tables.descriptions, "offset"), [0]);
    let places = numbers(&tables.blocks, "offset").into_iter();
    places
        .zip(numbers(&tables.blocks, "frame"))
        .map(|(offset, frame)| Start::new(offset, frame, &descriptions))
        .collect()
}

fn data(tsn: u8) -> Vec<u8> {
    packet(&[chunk(0, 3, &[0, 0, 0, tsn, 0, 0, 0, 0, 0, 0, 0, 0, b'x', 0, 0, 0])])
}

/// A record of a capture that is hard on the index: DATA sent again, frames held twice, fragments
/// whose other halves come later or never, damaged packets, and what is no SCTP.
fn record() -> impl Strategy<Value = Vec<u8>> {
    let fragment = |id: u16, last: bool| {
        let whole = data(id as u8);
        let piece = if last { &whole[16..] } else { &whole[..16] };
        ipv4_fragment(SCTP, id, if last { 16 } else { 0 }, !last, piece)
    };
    prop_oneof![
        4 => (1_u8..12).prop_map(|tsn| ipv4(SCTP, &data(tsn))),
        4 => (1_u16..6, any::<bool>()).prop_map(move |(id, last)| fragment(id, last)),
        1 => (1_u8..12).prop_map(|tsn| {
            let mut damaged = data(tsn);
            damaged[8] ^= 1;
            ipv4(SCTP, &damaged)
        }),
        1 => Just(ipv4(6, &[0; 20])),
    ]
}

proptest! {
    #[test]
    fn blocks_read_alone_are_the_whole(
        records in prop::collection::vec((0_u32..30, record()), 1..60),
        window in 0_i64..40,
        block_bytes in 1_u64..2000,
    ) {
        let file = File::new(&records);
        let (whole, tables) = index(&file.0, window * 1_000_000, block_bytes);
        let starts = starts(&tables);
        prop_assert_eq!(starts.len(), tables.packets.len());
        let mut found = Vec::new();
        for (start, packets) in starts.iter().zip(&tables.packets) {
            found.extend(read(&file.0, start, packets, Vec::new()).unwrap().chunks);
        }
        prop_assert_eq!(found, whole);
    }
}

#[test]
fn blocks_are_as_large_as_asked_for_and_read_alone() {
    let records: Vec<_> = (0..4000).map(|n| (n, ipv4(SCTP, &data(n as u8)))).collect();
    let file = File::new(&records);
    let (_, tables) = index(&file.0, 0, 60_000);
    let size = fs::metadata(&file.0).unwrap().len();
    assert_eq!(tables.packets.len() as u64, size.div_ceil(60_000));
    for (start, packets) in starts(&tables).iter().zip(&tables.packets) {
        let bytes = read(&file.0, start, packets, Vec::new()).unwrap().bytes;
        // A block, the file header, and what one look into the file brings.
        assert!(bytes <= 60_000 + 24 + 2 * 65_536, "{bytes}");
    }
}

#[test]
fn another_capture_is_told() {
    let file = File::new(&[(0, ipv4(SCTP, &data(1))), (1, ipv4(SCTP, &data(2)))]);
    let (_, tables) = index(&file.0, 0, 1 << 20);
    let start = &starts(&tables)[0];
    let misfit = || match read(&file.0, start, &tables.packets[0], Vec::new()) {
        Err(Error::Usage(what)) => what,
        other => panic!("{:?}", other.map(|read| read.chunks.len())),
    };
    file.write(&[(0, ipv4(SCTP, &data(1)))]);
    assert!(misfit().ends_with("frame 2 is not as its index says"));
    file.write(&[(0, ipv4(6, &data(1))), (1, ipv4(SCTP, &data(2)))]);
    assert!(misfit().ends_with("frame 1 is not as its index says"));
}

#[test]
fn another_table_is_told() {
    let file = File::new(&[(0, ipv4(SCTP, &data(1)))]);
    let (_, tables) = index(&file.0, 0, 1 << 20);
    let start = &starts(&tables)[0];
    let row =
        |standing, sender| IndexPacketRow { frame: 1, standing, sender, ..Default::default() };
    for bad in [row("lost", None), row("placed", Some("c"))] {
        let read = read(&file.0, start, &IndexPacketRow::batch(&[bad]), Vec::new());
        assert!(matches!(read, Err(Error::Usage(_))));
    }
    let too_few = IndexPacketRow { transmissions: Some(String::new()), ..row("placed", Some("a")) };
    let read_again = |table: &RecordBatch| read(&file.0, start, table, Vec::new());
    assert!(read_again(&IndexPacketRow::batch(&[too_few])).is_err());
    assert!(read_again(&tables.blocks).is_err());
}
