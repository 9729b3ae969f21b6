//! Files that are not captures, or go wrong on the way.

use std::io::{self, Cursor, Read};

use proptest::prelude::*;

use super::variants::variants;
use super::*;

fn refusal(bytes: &[u8]) -> String {
    open(bytes, &in_file_order(), 4096).err().expect("refused").to_string()
}

#[test]
fn refuses_what_is_not_a_capture() {
    assert!(refusal(b"").ends_with(
        "expected a pcap, pcapng or snoop header, or a line of an ns-2 trace, found an empty file"
    ));
    assert!(refusal(b"hello\n").ends_with(r#"found "hello\n""#));
    assert!(refusal(&pcap(ByteOrder::Little, false)[..23]).contains("24 bytes, found 23 bytes"));
    assert!(refusal(&everything()[..11]).contains("found 11 bytes, then end of file"));
    let mut old = pcap(ByteOrder::Big, false);
    old[5] = 1;
    assert!(refusal(&old).contains("found version 1.4"));
    let mut order = everything();
    order[8] = 0;
    assert!(refusal(&order).contains("byte-order magic"));
}

#[test]
fn a_directory_or_no_file_is_an_io_error_with_its_path() {
    for path in [&std::env::temp_dir(), Path::new("/nonexistent/file.pcap")] {
        let error = Capture::open(path, &Options::default()).err().unwrap();
        assert!(matches!(error, Error::Io { .. }), "{error:?}");
        assert!(error.to_string().starts_with(&path.display().to_string()));
    }
}

#[test]
fn lengths_of_four_gigabytes_are_damage() {
    for order in ORDERS {
        let mut file = Builder::pcap(order, false);
        file.pcap_record(1, 0, &[1, 2]).u32(2).u32(0).u32(u32::MAX).u32(60);
        let (kept, error) = read(&file.bytes, &in_file_order());
        assert_eq!(kept.len(), 1);
        assert_eq!(
            error.unwrap().to_string(),
            "test: at byte 42: expected a captured length of at most 262144 bytes, found 4294967295"
        );
        let mut file = Builder::new(order);
        file.section(&[]).interface(1, |_| {}).packet(0, 1, &[1], &[]);
        let good = file.bytes.len() as u64;
        file.u32(6).u32(u32::MAX).u32(0);
        let (kept, error) = read(&file.bytes, &in_file_order());
        assert_eq!(kept.len(), 1);
        let Some(Error::Damaged { offset, found, .. }) = error else { panic!("{error:?}") };
        assert_eq!((offset, found.as_str()), (good, "4294967295"));
    }
}

/// A block that contradicts itself or the blocks before it.
fn damage(spoil: impl FnOnce(&mut Builder)) -> String {
    let mut file = Builder::new(ByteOrder::Big);
    file.section(&[]).interface(1, |options| {
        options.option(9, &[0]);
    });
    file.packet(0, 1, &[1], &[]);
    spoil(&mut file);
    file.packet(0, 2, &[2], &[]);
    let (kept, error) = read(&file.bytes, &in_file_order());
    assert_eq!(kept.len(), 1, "what comes before stands");
    assert!(matches!(error, Some(Error::Damaged { .. })), "{error:?}");
    error.unwrap().to_string()
}

#[test]
fn contradictions_in_blocks_are_damage() {
    let message = damage(|file| {
        file.packet(1, 1, &[1], &[]);
    });
    assert!(message.ends_with("declares before, found interface 1"), "{message}");
    let message = damage(|file| {
        file.packet(0, u64::MAX, &[1], &[]);
    });
    assert!(message.contains("1677"), "{message}");
    let message = damage(|file| {
        file.packet(0, 1, &[1], &[]);
        *file.bytes.last_mut().unwrap() += 4;
    });
    assert!(message.contains("again at the block's end"), "{message}");
    for length in [0, 8, 13, 0xffff_fffc] {
        let message = damage(|file| {
            file.u32(6).u32(length).u64(0);
        });
        assert!(message.contains("a multiple of 4"), "{message}");
    }
    let message = damage(|file| {
        file.block(6, |block| {
            block.u32(0).u64(1).u32(9).u32(9).u64(0);
        });
    });
    assert!(message.contains("at most the 8 bytes in its block, found 9"), "{message}");
    let message = damage(|file| {
        file.block(6, |block| {
            block.u32(0).u64(1).u32(0).u32(0).u16(1).u16(5).u32(0);
        });
    });
    assert!(message.contains("options that end within their block"), "{message}");
    for kind in [1, 3, 5, 6, 2] {
        damage(|file| {
            file.block(kind, |_| {});
        });
    }
}

#[test]
fn a_cut_anywhere_keeps_every_whole_record() {
    let standard = [pcap(ByteOrder::Little, false), pcap(ByteOrder::Big, true), everything()];
    for bytes in standard.into_iter().chain(variants()) {
        let (all, _) = read(&bytes, &in_file_order());
        // Records end where the next one begins, and blocks that are not packets count as well.
        let borders = borders(&bytes);
        for cut in 0..bytes.len() {
            let Ok(mut capture) = open(&bytes[..cut], &in_file_order(), 32) else {
                assert!(cut < borders[0], "refused only without a whole header");
                continue;
            };
            let (kept, error) = drain(&mut capture);
            assert_eq!(kept, all[..kept.len()]);
            assert!(all.get(kept.len()).is_none_or(|next| cut < end(&borders, next.offset)));
            match error {
                None => assert!(borders.contains(&cut)),
                Some(Error::Damaged { offset, found, .. }) => {
                    assert!(!borders.contains(&cut));
                    let last = borders.iter().rfind(|&&border| border < cut).unwrap();
                    assert_eq!(offset, *last as u64);
                    assert_eq!(found, format!("{} bytes, then end of file", cut - last));
                }
                Some(other) => panic!("{other}"),
            }
        }
    }
}

/// Where headers, records and blocks end.
fn borders(bytes: &[u8]) -> Vec<usize> {
    let mut borders = Vec::new();
    let mut at = 0;
    let mut order = ByteOrder::Little;
    if !bytes.starts_with(&pcapng::MAGIC) {
        borders.extend(read(bytes, &in_file_order()).0.iter().map(|record| record.offset as usize));
        borders.push(bytes.len());
        return borders;
    }
    while at < bytes.len() {
        if bytes[at..].starts_with(&pcapng::MAGIC) {
            order = if bytes[at + 8] == 0x1a { ByteOrder::Big } else { ByteOrder::Little };
        }
        at += order.u32(bytes, at + 4).unwrap() as usize;
        borders.push(at);
    }
    borders
}

fn end(borders: &[usize], offset: u64) -> usize {
    *borders.iter().find(|&&border| border as u64 > offset).unwrap()
}

#[test]
fn a_compressed_file_that_breaks_keeps_what_came_before() {
    let mut file = Builder::pcap(ByteOrder::Little, true);
    for second in 0..20_000_u32 {
        file.pcap_record(second, 0, &second.to_be_bytes().repeat(8));
    }
    let plain = read(&file.bytes, &in_file_order()).0;
    for compress in [gzip, zstd, xz, lz4] {
        let packed = compress(&file.bytes);
        for keep in [packed.len() - 1, packed.len() / 2, packed.len() * 3 / 4] {
            let Ok(mut capture) = open(&packed[..keep], &in_file_order(), 4096) else {
                panic!("the header is there");
            };
            let (kept, error) = drain(&mut capture);
            assert_eq!(kept, plain[..kept.len()]);
            let Some(Error::Damaged { offset, .. }) = error else { panic!("{error:?}") };
            let next = kept.last().map_or(24, |last| last.offset + 16 + 32);
            assert!((next..next + 48).contains(&offset), "{offset} after {next}");
        }
        let (kept, _) = read(&packed[..packed.len() - 1], &in_file_order());
        assert_eq!(kept.len(), plain.len(), "only the checksum is cut");
    }
}

#[test]
fn a_wrong_checksum_is_damage() {
    for compress in [gzip, zstd, xz, lz4] {
        let mut packed = compress(&pcap(ByteOrder::Little, true));
        let last = packed.len() - 5 * usize::from(packed[0] == 0x1f) - 1;
        packed[last] ^= 1;
        let (kept, error) = read(&packed, &in_file_order());
        assert_eq!(kept.len(), 3);
        assert!(matches!(error, Some(Error::Damaged { .. })), "{error:?}");
    }
}

/// Gives its bytes, then fails.
struct Failing(Cursor<Vec<u8>>);

impl Read for Failing {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::Error::other("the disk is gone")),
            read => Ok(read),
        }
    }
}

#[test]
fn a_read_error_is_told_after_the_records_before_it() {
    let bytes = pcap(ByteOrder::Little, false);
    for prefetch in [false, true] {
        let options = Options { prefetch: Some(prefetch), ..in_file_order() };
        let failing = |bytes: &[u8]| Box::new(Failing(Cursor::new(bytes.to_vec())));
        let mut capture = Capture::from_reader("test", failing(&bytes), &options).unwrap();
        let (kept, error) = drain(&mut capture);
        assert_eq!(kept.len(), 3);
        let message = error.unwrap().to_string();
        assert!(message.ends_with("found the disk is gone"), "{message}");
        let early = Capture::from_reader("test", failing(&bytes[..9]), &options).err().unwrap();
        assert!(matches!(early, Error::Io { .. }), "{early:?}");
    }
}

#[test]
fn interfaces_without_end_are_damage() {
    let mut file = Builder::new(ByteOrder::Little);
    file.section(&[]);
    let start = file.bytes.len();
    file.interface(1, |_| {});
    let one = file.bytes[start..].to_vec();
    file.bytes.extend(one.repeat(65_536));
    let (_, error) = read(&file.bytes, &in_file_order());
    let message = error.unwrap().to_string();
    assert!(message.ends_with("expected at most 65536 interfaces, found 65537"), "{message}");
}

#[test]
fn a_cut_compressed_file_is_never_taken_for_a_whole_one() {
    for compress in [gzip, zstd, xz, lz4, lz4_linked] {
        let packed = compress(&everything());
        for cut in 1..packed.len() {
            if let Ok(mut capture) = open(&packed[..cut], &in_file_order(), 64) {
                let (_, error) = drain(&mut capture);
                assert!(matches!(error, Some(Error::Damaged { .. })), "{cut} of {packed:?}");
            }
        }
    }
}

#[test]
fn an_xz_file_that_wants_too_much_memory_is_refused() {
    // The dictionary size of the one block's LZMA2 filter, for 1.5 GiB, and the header's checksum.
    let mut packed = xz(&everything());
    let header = 12..20;
    assert_eq!(packed[header.start + 2], 0x21, "LZMA2");
    packed[header.start + 4] = 37;
    let mut checksum = flate2::Crc::new();
    checksum.update(&packed[header.clone()]);
    packed[header.end..header.end + 4].copy_from_slice(&checksum.sum().to_le_bytes());
    let message = refusal(&packed);
    assert!(message.contains("mem_limit"), "{message}");
}

proptest! {
    #[test]
    fn changed_bytes_never_panic(
        changes in prop::collection::vec((0..900_usize, any::<u8>()), 1..12),
    ) {
        let plain = [pcap(ByteOrder::Little, false), everything()].into_iter().chain(variants());
        let packed = [gzip, zstd, xz, lz4, lz4_linked].map(|compress| compress(&everything()));
        for mut bytes in plain.chain(packed) {
            for (at, value) in &changes {
                let at = at % bytes.len();
                bytes[at] = *value;
            }
            if let Ok(mut capture) = open(&bytes, &Options::default(), 64) {
                drain(&mut capture);
            }
        }
    }
}
