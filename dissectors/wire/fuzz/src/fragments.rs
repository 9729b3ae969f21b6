//! Fragments of a few datagrams in any order and number. Every byte of a datagram follows from
//! its place, so whatever is put together must be what was taken apart.

use arbitrary::{Result, Unstructured};
use pathscope_wire::packet::{Decoder, DecoderOptions, Found};

use crate::build::{Route, ip};

const RAW: u16 = 101;
const TCP: u8 = 6;
const FRAGMENT_HEADER: u8 = 44;
const SECOND: i64 = 1_000_000_000;

/// Never 0, so that padding would be seen.
fn byte(datagram: u8, place: usize) -> u8 {
    (datagram.wrapping_mul(37) ^ (place % 251) as u8) | 1
}

/// # Panics
/// Where a datagram is put together that is not one that was taken apart.
pub fn check(bytes: &[u8]) {
    // The bytes end in the middle of a fragment: the ones before were checked.
    let _ = run(&mut Unstructured::new(bytes));
}

fn run(input: &mut Unstructured<'_>) -> Result<()> {
    let mut decoder = Decoder::new(DecoderOptions { flows: true, ..DecoderOptions::default() });
    let mut time_ns = 0_i64;
    let mut given = 0_u64;
    while !input.is_empty() {
        let (datagram, how): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
        // In units of eight bytes: near the beginning, or at the far end.
        let start = usize::from(input.arbitrary::<u8>()? % 32) * 8;
        let start = if how & 0x40 == 0 { start } else { 65_528 - start };
        let length = usize::from(input.arbitrary::<u8>()?);
        let length = if how & 1 == 0 { length } else { length.next_multiple_of(8) };
        time_ns = match how >> 1 & 7 {
            7 => time_ns.saturating_add(59 * SECOND),
            6 => time_ns.saturating_sub(SECOND),
            _ => time_ns,
        };
        let (datagram, v6, more) = (datagram & 7, datagram & 8 != 0, how & 0x80 == 0);
        let record = fragment(datagram, v6, start, length, more);
        let kept = if how & 0x30 == 0x30 { record.len() - length / 2 } else { record.len() };
        let wire_length = u32::try_from(record.len()).unwrap_or(u32::MAX);
        given += 1;
        let found = decoder.decode(RAW, time_ns, &record[..kept], wire_length);
        if let Found::Tcp(found) = found {
            let is_fragment = more || start > 0;
            assert!(!is_fragment || found.length as usize == found.bytes.len(), "whole or nothing");
            assert!(found.bytes.len() <= 65_535);
            for (place, found) in found.bytes.iter().enumerate() {
                assert_eq!(*found, byte(datagram, place), "byte {place} of datagram {datagram}");
            }
        } else {
            assert!(matches!(found, Found::Skip(_) | Found::Problem(_)), "{found:?}");
        }
        assert!(decoder.dropped_fragments() <= given);
    }
    Ok(())
}

fn fragment(datagram: u8, v6: bool, start: usize, length: usize, more: bool) -> Vec<u8> {
    let piece: Vec<u8> = (start..start + length).map(|place| byte(datagram, place)).collect();
    let route = Route { v6, source: 1, destination: 2 };
    let place = u16::try_from(start).unwrap_or(u16::MAX) & !7;
    if v6 {
        let [high, low] = (place | u16::from(more)).to_be_bytes();
        let header = [TCP, 0, high, low, 0, 0, 0, datagram];
        return ip(route, FRAGMENT_HEADER, 0, &[&header[..], &piece].concat());
    }
    let mut packet = ip(route, TCP, datagram.into(), &piece);
    let field = (place / 8) | if more { 0x2000 } else { 0 };
    packet[6..8].copy_from_slice(&field.to_be_bytes());
    packet
}
