//! Time order of whole files, and that the borders of blocks do not matter.

use proptest::prelude::*;

use super::*;

#[test]
fn several_interfaces_come_in_time_order_by_themselves() {
    let mut file = Builder::new(ByteOrder::Little);
    file.section(&[]).interface(1, |_| {}).packet(0, 9_000_000, &[0], &[]);
    file.interface(1, |_| {});
    for time in [10_000_000, 10_400_000, 10_800_000] {
        file.packet(0, time, &[1], &["held"]);
    }
    for time in [9_900_000, 10_400_000, 10_700_000, 13_000_000, 8_000_000] {
        file.packet(1, time, &[2], &[]);
    }
    let mut capture = open(&file.bytes, &Options::default(), 4096).unwrap();
    let (kept, error) = drain(&mut capture);
    assert!(error.is_none());
    let frames: Vec<u64> = kept.iter().map(|record| record.frame).collect();
    assert_eq!(frames, [1, 5, 2, 3, 6, 7, 4, 9, 8]);
    assert_eq!(kept[2].comments, ["held"]);
    let order = capture.order();
    assert_eq!((order.late, order.largest_lateness_ns), (1, 2_800_000_000));
    assert_eq!((order.reordered, order.clock_steps), (4, 0));
}

#[test]
fn held_records_come_before_the_damage_after_them() {
    let mut file = Builder::new(ByteOrder::Little);
    file.section(&[]).interface(1, |_| {}).interface(1, |_| {});
    file.packet(0, 2, &[0], &[]).packet(1, 1, &[1], &[]).u32(6);
    let (kept, error) = read(&file.bytes, &Options::default());
    assert_eq!(kept.iter().map(|record| record.frame).collect::<Vec<_>>(), [2, 1]);
    assert!(matches!(error, Some(Error::Damaged { .. })));
}

#[test]
fn memory_bounds_what_is_held_whatever_the_window() {
    let mut file = Builder::new(ByteOrder::Little);
    file.section(&[]).interface(1, |_| {});
    for time in 0..400 {
        file.packet(0, time, &[7; 1 << 18], &[]);
    }
    let options = Options { reorder_window_ns: Some(i64::MAX), prefetch: Some(false) };
    let mut capture = open(&file.bytes, &options, 1 << 20).unwrap();
    let mut records = 0;
    while let Some(record) = capture.next().unwrap() {
        assert_eq!(record.data, [7; 1 << 18]);
        records += 1;
        assert!(capture.stream.bytes_aside() <= stream::MAX_ASIDE + (2 << 20));
    }
    assert_eq!((records, capture.stream.bytes_aside()), (400, 0));
}

fn any_records() -> impl Strategy<Value = Vec<(u32, u8, Vec<u8>)>> {
    let record = (0..50_u32, 0..3_u8, prop::collection::vec(any::<u8>(), 0..90));
    prop::collection::vec(record, 0..40)
}

fn pcapng_of(records: &[(u32, u8, Vec<u8>)]) -> Vec<u8> {
    let mut file = Builder::new(ByteOrder::Big);
    file.section(&[]).interface(1, |_| {}).interface(1, |_| {}).interface(1, |_| {});
    for (time, number, data) in records {
        file.packet(u32::from(*number), u64::from(*time) * 100_000, data, &[]);
    }
    file.bytes
}

proptest! {
    #[test]
    fn any_block_size_gives_the_same_records(
        records in any_records(),
        block_size in 1..96_usize,
        prefetch: bool,
    ) {
        let mut file = Builder::pcap(ByteOrder::Little, false);
        for (seconds, fraction, data) in &records {
            file.pcap_record(*seconds, u32::from(*fraction), data);
        }
        for bytes in [file.bytes, pcapng_of(&records)] {
            let options = Options { prefetch: Some(prefetch), ..in_file_order() };
            let (kept, error) = drain(&mut open(&bytes, &options, block_size).unwrap());
            prop_assert!(error.is_none());
            prop_assert_eq!(kept.len(), records.len());
            prop_assert_eq!(kept, read(&bytes, &in_file_order()).0);
        }
    }

    #[test]
    fn a_window_as_wide_as_the_file_sorts_it(records in any_records()) {
        let bytes = pcapng_of(&records);
        let options = Options { reorder_window_ns: Some(10_000_000_000), prefetch: Some(false) };
        let mut sorted = read(&bytes, &in_file_order()).0;
        sorted.sort_by_key(|record| record.time_ns);
        prop_assert_eq!(read(&bytes, &options).0, sorted);
    }

    #[test]
    fn any_window_gives_every_record_once(records in any_records(), window in 0..6_000_000_000_i64) {
        let bytes = pcapng_of(&records);
        let options = Options { reorder_window_ns: Some(window), prefetch: Some(false) };
        let mut capture = open(&bytes, &options, 4096).unwrap();
        let mut kept = drain(&mut capture).0;
        let backward = kept.windows(2).filter(|pair| pair[1].time_ns < pair[0].time_ns).count();
        prop_assert!(backward as u64 <= capture.order().late);
        kept.sort_by_key(|record| record.frame);
        prop_assert_eq!(kept, read(&bytes, &in_file_order()).0);
    }
}
