//! Variants of pcap, and snoop.

use super::*;

/// Seconds, fraction, captured bytes: what `pcap` has, too.
const RECORDS: [(u32, u32, &[u8]); 3] = [(1, 2, &[1]), (u32::MAX, 999_999, &[]), (3, 4, &[2; 60])];

fn header(order: ByteOrder, magic: u32, minor: u16) -> Builder {
    let mut file = Builder::new(order);
    file.u32(magic).u16(2).u16(minor).u64(0).u32(65_535).u32(1);
    file
}

fn modified(order: ByteOrder) -> Vec<u8> {
    let mut file = header(order, 0xa1b2_cd34, 4);
    for (seconds, fraction, data) in RECORDS {
        file.u32(seconds).u32(fraction).u32(data.len() as u32).u32(data.len() as u32 + 7);
        file.u32(3).u16(0x800).u16(4).bytes.extend(data);
    }
    file.bytes
}

fn ixia(order: ByteOrder, magic: u32) -> Vec<u8> {
    let mut file = header(order, magic, 4);
    file.u32(3 * 16 + 61);
    for (seconds, fraction, data) in RECORDS {
        file.pcap_record(seconds, fraction, data);
    }
    file.bytes
}

/// Lengths the other way round; in version 2.3 some are not.
fn old(order: ByteOrder, minor: u16) -> Vec<u8> {
    let mut file = header(order, 0xa1b2_c3d4, minor);
    for (seconds, fraction, data) in RECORDS {
        if minor == 3 && seconds == 1 {
            file.pcap_record(seconds, fraction, data);
            continue;
        }
        file.u32(seconds).u32(fraction).u32(data.len() as u32 + 7).u32(data.len() as u32);
        file.bytes.extend(data);
    }
    file.bytes
}

fn snoop() -> Vec<u8> {
    let mut file = Builder::new(ByteOrder::Big);
    file.bytes.extend(b"snoop\0\0\0");
    file.u32(2).u32(4);
    for ((seconds, fraction, data), dropped) in RECORDS.into_iter().zip([0, 5, 9]) {
        let captured = data.len() as u32;
        let whole = (24 + captured).next_multiple_of(4);
        file.u32(captured + 7).u32(captured).u32(whole).u32(dropped).u32(seconds).u32(fraction);
        file.bytes.extend(data);
        file.bytes.resize(file.bytes.len() + (whole - 24 - captured) as usize, 0xff);
    }
    file.bytes
}

/// Each with the three records, its name, and how many nanoseconds its fractions are.
fn files() -> Vec<(Vec<u8>, &'static str, i64)> {
    let [little, big] = ORDERS;
    vec![
        (modified(little), "pcap (modified, microsecond, little-endian)", 1000),
        (modified(big), "pcap (modified, microsecond, big-endian)", 1000),
        (ixia(little, 0x1c00_01ac), "pcap (IXIA lcap, microsecond, little-endian)", 1000),
        (ixia(big, 0x1c00_01ab), "pcap (IXIA lcap, microsecond, big-endian)", 1000),
        (old(little, 2), "pcap 2.2 (microsecond, little-endian)", 1000),
        (old(big, 3), "pcap 2.3 (microsecond, big-endian)", 1000),
        (snoop(), "snoop", 1000),
    ]
}

/// Without what is said of them.
pub(super) fn variants() -> impl Iterator<Item = Vec<u8>> {
    files().into_iter().map(|(bytes, ..)| bytes)
}

#[test]
fn all_variants_hold_the_same_records() {
    for (bytes, name, unit) in files() {
        for block_size in [1, 17, 4096] {
            let mut capture = open(&bytes, &in_file_order(), block_size).unwrap();
            assert_eq!(capture.format().name(), name);
            let (kept, error) = drain(&mut capture);
            assert!(error.is_none(), "{name}: {error:?}");
            assert_eq!(kept.len(), 3, "{name}");
            for (record, (seconds, fraction, data)) in kept.iter().zip(RECORDS) {
                let time_ns = i64::from(seconds) * 1_000_000_000 + i64::from(fraction) * unit;
                assert_eq!((record.time_ns, record.data.as_slice()), (time_ns, data), "{name}");
                assert_eq!(record.wire_length as usize, data.len() + 7, "{name}");
            }
            assert_eq!(capture.dropped(), (name == "snoop").then_some(9));
            let [interface] = capture.interfaces() else { panic!("one interface") };
            assert_eq!((interface.link_type, interface.packets), (1, 3));
        }
    }
}

#[test]
fn what_is_left_out_is_named() {
    for (bytes, words) in [
        (header(ByteOrder::Big, 0xa1b2_34cd, 4).bytes, "magic 0xa1b234cd"),
        (header(ByteOrder::Little, 0xa12b_3c4d, 4).bytes, "Navtel"),
        (b"snoop\0\0\0\0\0\0\x03\0\0\0\x04".to_vec(), "expected snoop version 2, found version 3"),
        (b"snoop\0\0\0\0\0\0\x02\0\0\0\x08".to_vec(), "found datalink type 8"),
        (b"\x02\x21\x4c\x18\0\0\0\0".to_vec(), "LZ4's legacy format"),
    ] {
        let error = open(&bytes, &in_file_order(), 4096).err().expect("refused");
        assert!(error.to_string().contains(words), "{error}");
    }
}

#[test]
fn lengths_that_snoop_contradicts_are_damage() {
    for (at, value) in [(5, 1_u8), (10, 0xff), (11, 24)] {
        let mut bytes = snoop();
        let second = 16 + 28;
        bytes[second + at] = value;
        // A record of no bytes is 24 long: one byte captured is one too many.
        bytes[second + 7] = 1;
        let (kept, error) = read(&bytes, &in_file_order());
        assert_eq!(kept.len(), 1);
        let Some(Error::Damaged { offset, .. }) = error else { panic!("{error:?}") };
        assert_eq!(offset, second as u64);
    }
}
