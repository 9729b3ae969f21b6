//! RTP and D-ITG in UDP.

use crate::ledger::FlowDirectionRow;
use crate::track::flow::stream::{Numbered, Stream};

const MS: i64 = 1_000_000;

fn rtp(sequence: u16, timestamp: u32) -> Vec<u8> {
    let mut bytes = vec![0x80, 96];
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(timestamp.to_be_bytes());
    bytes.extend([0, 0, 0, 9]);
    bytes
}

fn ditg(sequence: u32, sent_ms: u32) -> Vec<u8> {
    [5, sequence, sent_ms / 1000, sent_ms % 1000 * 1000].map(u32::to_be_bytes).concat()
}

fn row(packets: impl IntoIterator<Item = (i64, Vec<u8>)>) -> FlowDirectionRow {
    let mut stream = Stream::default();
    for (time_ns, payload) in packets {
        stream.packet(&payload, time_ns);
    }
    let mut row = FlowDirectionRow::default();
    stream.finish(&mut row);
    row
}

/// One packet each 20 ms at 8 kHz, in the given order; the place says when.
fn voice(numbers: impl IntoIterator<Item = u16>) -> FlowDirectionRow {
    row(numbers.into_iter().zip(0_i64..).map(|(number, place)| {
        // The numbers start near the end of their range and wrap.
        let sequence = 65_530_u16.wrapping_add(number);
        (place * 20 * MS, rtp(sequence, u32::from(number) * 160))
    }))
}

#[test]
fn rtp_is_recognised_and_its_clock_measured() {
    let row = voice(0..50);
    assert_eq!((row.numbered_by, row.stream, row.payload_type), (Some("rtp"), Some(9), Some(96)));
    assert_eq!((row.numbered_packets, row.lost_packets, row.clock_hz), (50, 0, Some(8000)));
    assert_eq!(row.jitter_ns, Some(0));
}

#[test]
fn loss_reordering_and_repetition() {
    let numbers: Vec<u16> = (0..20).chain([22, 21, 22]).chain(24..50).collect();
    let row = voice(numbers);
    // 20 and 23 never came.
    assert_eq!((row.numbered_packets, row.lost_packets), (49, 2));
    assert_eq!((row.reordered_packets, row.repeated_packets), (1, 1));
}

/// RFC 3550 section 6.4.1: J += (|D| - J) / 16.
#[test]
fn jitter_of_one_late_packet() {
    let late = |n: i64| if n == 48 { 16 * MS } else { 0 };
    let row = row((0..49_i64).map(|n| (n * 20 * MS + late(n), rtp(n as u16, n as u32 * 160))));
    assert_eq!(row.jitter_ns, Some(MS as u64));
}

#[test]
fn ditg_is_recognised() {
    let numbers = (1..40).filter(|n| *n != 30);
    let row = row(numbers.map(|n| (i64::from(n) * 10 * MS, ditg(n, n * 10))));
    assert_eq!((row.numbered_by, row.stream), (Some("d-itg"), Some(5)));
    assert_eq!((row.numbered_packets, row.lost_packets, row.jitter_ns), (38, 1, Some(0)));
}

#[test]
fn other_datagrams_are_not_taken_for_either() {
    assert_eq!(row((0..99).map(|n| (n * MS, vec![0x80; 40]))).numbered_by, None);
    // Numbers that jump, and sending times that have nothing to do with the capture's.
    assert_eq!(voice((0..99).map(|n| n * 7)).numbered_by, None);
    let strange = (0..99_u32).map(|n| (i64::from(n) * MS, ditg(n, n * 5000)));
    assert_eq!(row(strange).numbered_by, None);
}

#[test]
fn a_packet_tells_its_number_once_the_stream_is_recognised() {
    let mut stream = Stream::default();
    let mut numbers = Vec::new();
    for number in 0..10_u16 {
        let found = stream.packet(&rtp(number, 0), i64::from(number) * MS);
        numbers.push(found.map(|found| match found {
            Numbered::Rtp(rtp) => rtp.sequence,
            Numbered::Ditg(_) => panic!(),
        }));
    }
    assert_eq!(numbers[..7], [None; 7]);
    assert_eq!(numbers[7..], [Some(7), Some(8), Some(9)]);
    // Another source in the same flow is not that stream.
    let mut other = rtp(10, 0);
    other[11] = 1;
    assert_eq!(stream.packet(&other, 10 * MS), None);
}
