//! SCTP packets for tests, written out field by field.

use super::checksum::{Checksum, verify};
use super::chunk::{Chunk, Chunks};
use super::parse;

/// A type-length-value of `head` and `value`, padded.
pub(crate) fn tlv(head: [u8; 2], value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(value.len() + 4).unwrap();
    let mut bytes = [head, length.to_be_bytes()].concat();
    bytes.extend_from_slice(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

pub(crate) fn chunk(kind: u8, flags: u8, value: &[u8]) -> Vec<u8> {
    tlv([kind, flags], value)
}

pub(crate) fn param(kind: u16, value: &[u8]) -> Vec<u8> {
    tlv(kind.to_be_bytes(), value)
}

/// A packet from port 1001 to 2002 with tag 0x0102_0304 and a valid checksum.
pub(crate) fn packet(chunks: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0x03, 0xe9, 0x07, 0xd2, 1, 2, 3, 4, 0, 0, 0, 0];
    bytes.extend(chunks.concat());
    let checksum = crc_fast::crc32_iscsi(&bytes);
    bytes[8..12].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

/// The first chunk of a packet whose captured bytes hold all of it.
pub(crate) fn first(packet: &[u8]) -> Chunk<'_> {
    first_of(packet, packet.len())
}

/// As [`first`], of a packet that had `wire` bytes on the wire.
pub(crate) fn first_of(packet: &[u8], wire: usize) -> Chunk<'_> {
    Chunks::new(packet, u32::try_from(wire).unwrap()).next().unwrap().unwrap()
}

#[test]
fn what_is_built_is_valid() {
    let bytes = packet(&[chunk(11, 0, &[])]);
    let (header, _) = parse(&bytes, 16).unwrap();
    assert_eq!(verify(&bytes, &header, 16).checksum, Checksum::Valid);
}
