//! What the formats of compressed files allow and encoders seldom write.

use std::num::NonZeroU64;

use super::*;

/// All records of a file with nothing wrong in it.
fn whole(bytes: &[u8]) -> Vec<Kept> {
    let (kept, error) = read(bytes, &in_file_order());
    assert!(error.is_none(), "{error:?}");
    kept
}

/// In blocks of 4 KiB, as small as the encoder makes them.
fn xz_in_blocks(bytes: &[u8]) -> Vec<u8> {
    let mut options = lzma_rust2::XzOptions::with_preset(0);
    options.lzma_options.dict_size = 4096;
    options.set_block_size(NonZeroU64::new(1));
    let mut encoder = lzma_rust2::XzWriter::new(Vec::new(), options).unwrap();
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Backward Size of the footer, in bytes: where the index begins from there, its CRC32 included.
fn index_start(packed: &[u8]) -> usize {
    let footer = packed.len() - 12;
    let words = u32::from_le_bytes(*packed[footer + 4..].first_chunk().unwrap());
    footer - 4 * (words as usize + 1)
}

#[test]
fn an_xz_file_of_many_blocks() {
    let mut many = Builder::pcap(ByteOrder::Little, true);
    for second in 0..20_000_u32 {
        many.pcap_record(second, 0, &second.to_be_bytes().repeat(8));
    }
    let packed = xz_in_blocks(&many.bytes);
    let index = packed.len() - index_start(&packed);
    assert!(index > 200 * 4, "so many blocks: an index of {index} bytes");
    assert_eq!(whole(&packed), whole(&many.bytes));
}

#[test]
fn an_index_of_other_blocks_is_damage() {
    let bytes = everything();
    let packed = xz(&bytes);
    let start = index_start(&packed);
    let end = packed.len() - 16;
    // Indicator, number of records, unpadded and uncompressed size of the first.
    for at in start + 1..start + 4 {
        let mut packed = packed.clone();
        packed[at] ^= 1;
        let mut checksum = flate2::Crc::new();
        checksum.update(&packed[start..end]);
        packed[end..end + 4].copy_from_slice(&checksum.sum().to_le_bytes());
        let (kept, error) = read(&packed, &in_file_order());
        assert_eq!(kept, whole(&bytes), "all of it was decoded before");
        assert!(error.unwrap().to_string().contains("xz: an index of other blocks"));
    }
}

#[test]
fn a_block_with_another_check_is_read_first() {
    let bytes = everything();
    let mut packed = xz(&bytes);
    // CRC64, at the end of the one block.
    let last = index_start(&packed) - 1;
    packed[last] ^= 1;
    let (kept, error) = read(&packed, &in_file_order());
    assert_eq!(kept, whole(&bytes));
    assert!(error.unwrap().to_string().ends_with("xz: another check of a block"));
}

#[test]
fn what_is_no_capture_is_so_even_when_damaged_later() {
    let mut packed = lz4(&b"Dear diary, ".repeat(10));
    packed.truncate(packed.len() - 4);
    for block_size in [64, 4096] {
        let refusal = open(&packed, &in_file_order(), block_size).err().unwrap().to_string();
        assert!(refusal.ends_with(r#"found "Dear diary, Dear""#), "{refusal}");
    }
}

#[test]
fn an_empty_lz4_block_does_not_end_its_frame() {
    const HEADER: usize = 7;
    let bytes = everything();
    for empty in [&[0, 0, 0, 0x80][..], &[1, 0, 0, 0, 0]] {
        let packed = lz4(&bytes);
        let (header, blocks) = packed.split_at(HEADER);
        let packed = [header, empty, empty, blocks].concat();
        assert_eq!(whole(&packed), whole(&bytes));
        // The file ends where another block was to come.
        let cut = packed.len() - 8;
        let (kept, error) = read(&[&packed[..cut], empty].concat(), &in_file_order());
        assert_eq!(kept, whole(&bytes));
        assert!(error.unwrap().to_string().ends_with("lz4: unexpected end of file"));
    }
}

#[test]
fn what_was_decoded_before_a_fault_is_read_however_large_the_buffer() {
    let mut file = Builder::pcap(ByteOrder::Little, true);
    for second in 0..30_000_u32 {
        // Hard to compress, so that the file is long and its middle is in the middle.
        let data = second.wrapping_mul(0x9e37_79b1).to_be_bytes();
        file.pcap_record(second, 0, &data);
    }
    for compress in [gzip, zstd, xz, lz4] {
        let mut packed = compress(&file.bytes);
        let middle = packed.len() / 2;
        packed[middle..middle + 64].fill(0xff);
        let drained = |block_size| {
            let (kept, error) =
                drain(&mut open(&packed, &in_file_order(), block_size).ok().unwrap());
            (kept, error.map(|error| error.to_string()))
        };
        let (kept, error) = drained(1 << 20);
        assert!(error.is_some());
        assert!(!kept.is_empty());
        assert_eq!(drained(64), (kept, error));
    }
}
