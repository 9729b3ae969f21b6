//! Addresses and ports, wherever they stand.

use super::super::build::{init, tlv};
use super::*;

const A: [u8; 4] = [10, 0, 1, 1];
const A_MAPPED: [u8; 4] = [10, 9, 1, 1];

fn sctp_of(chunk: Vec<u8>) -> Vec<u8> {
    ethernet(&ip(false, 132, &sctp(&[chunk])))
}

fn v4_parameter(address: [u8; 4]) -> Vec<u8> {
    tlv([0, 5], &address)
}

#[test]
fn there_and_back_is_the_same_frame() {
    for v6 in [false, true] {
        for packet in every_kind(v6) {
            let frame = ethernet(&packet);
            let (mapped, found) = one(MAPPING, &frame);
            assert!(mapped != frame && found.has(Note::Mapped));
            assert!(!found.has(Note::ChecksumRepaired));
            assert_eq!(one(BACK, &mapped).0, frame);
        }
    }
}

#[test]
fn keeping_bad_checksums_maps_as_well() {
    let keep = format!(r#""keep_bad_checksums": true, {MAPPING}"#);
    for v6 in [false, true] {
        for packet in every_kind(v6) {
            let frame = ethernet(&packet);
            assert_eq!(one(&keep, &frame).0, one(MAPPING, &frame).0);
        }
    }
}

#[test]
fn addresses_of_init_and_of_everything_in_asconf() {
    let v6 = |subnet| [0xfd, 0, 0, subnet, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
    let build = |v4: [u8; 4], subnet: u8, ports: [u8; 4]| {
        let asconf_parameter =
            |kind: u8| tlv([0xc0, kind], &[&[0, 0, 0, kind][..], &v4_parameter(v4)].concat());
        let cause = tlv([0, 0xa0], &asconf_parameter(2));
        let failed = tlv([0xc0, 3], &[&[0, 0, 0, 9][..], &cause].concat());
        let serial = [0, 0, 0, 3];
        let chunks = [
            init(&[v4_parameter(v4), tlv([0, 6], &v6(subnet)), v4_parameter([9; 4])]),
            tlv(
                [193, 0],
                &[
                    &serial[..],
                    &v4_parameter(v4),
                    &asconf_parameter(1),
                    &asconf_parameter(2),
                    &asconf_parameter(4),
                    &tlv([0xc0, 1], &[&serial[..], &v4_parameter([0; 4])].concat()),
                ]
                .concat(),
            ),
            tlv([128, 0], &[&serial[..], &failed].concat()),
            tlv([6, 0], &tlv([0, 11], &v4_parameter(v4))),
        ];
        chunks.map(|chunk| {
            let mut packet = sctp(&[chunk]);
            packet[..4].copy_from_slice(&ports);
            packet[8..12].fill(0);
            let checksum = crc_fast::crc32_iscsi(&packet);
            packet[8..12].copy_from_slice(&checksum.to_le_bytes());
            packet
        })
    };
    let before = build(A, 1, [0x13, 0x88, 0x17, 0x70]);
    let after = build(A_MAPPED, 9, [0x13, 0x89, 0x17, 0x71]);
    for (before, after) in before.iter().zip(&after) {
        let (frame, found) = one(MAPPING, &ethernet(&ip(false, 132, before)));
        assert_eq!(&frame[34..], &after[..]);
        assert_eq!(notes(found), [Note::Mapped]);
        let (frame, _) = one(MAPPING, &ethernet(&udp(true, [9899, 9899], before)));
        assert_eq!(&frame[62..], &after[..]);
    }
}

#[test]
fn what_cannot_be_mapped_is_told() {
    let cookie = init(&[tlv([0, 7], &[1; 40])]);
    assert!(one(MAPPING, &sctp_of(cookie)).1.has(Note::OpaqueLeft));
    assert!(one(MAPPING, &sctp_of(tlv([4, 0], &tlv([0, 1], &A)))).1.has(Note::OpaqueLeft));
    let asconf = tlv([193, 0], &[&[0, 0, 0, 1][..], &v4_parameter(A)].concat());
    let signed = ip(false, 132, &sctp(&[tlv([15, 0], &[0; 24]), asconf]));
    assert!(one(MAPPING, &ethernet(&signed)).1.has(Note::AuthBroken));
    let vxlan = udp(false, [40_000, 4789], &[8, 0, 0, 0, 0, 0, 5, 0]);
    assert!(one(MAPPING, &ethernet(&vxlan)).1.has(Note::TunnelLeft));
    assert!(one(MAPPING, &ethernet(&ip(false, 33, &[9; 20]))).1.has(Note::OtherProtocol));
    // Nothing is told where nothing was asked.
    assert!(one("", &ethernet(&signed)).1.is_empty());
}

#[test]
fn a_quote_is_of_the_packet_that_was_sent() {
    let quote = tcp(false, 0x10, &[], &[7; 20]);
    let (mapped, _) = one(MAPPING, &ethernet(&quote));
    for length in [28, 30, 40, 60] {
        let unreachable = icmp(false, 3, 1, [0; 4], &quote[..length]);
        let (frame, found) = one(MAPPING, &ethernet(&unreachable));
        assert_eq!(frame[42..], mapped[14..14 + length]);
        assert_eq!(notes(found), [Note::Mapped]);
    }
    let quote = udp(true, [5000, 6000], &[7; 20]);
    let (mapped, _) = one(MAPPING, &ethernet(&quote));
    let (frame, _) = one(MAPPING, &ethernet(&icmp(true, 1, 4, [0; 4], &quote)));
    assert_eq!(frame[62..], mapped[14..]);
    let quote = ip(false, 132, &sctp(&[data(9)]));
    let (frame, found) = one(MAPPING, &ethernet(&icmp(false, 11, 0, [0; 4], &quote[..28])));
    assert_eq!(frame[62..66], [0x13, 0x89, 0x17, 0x71]);
    assert!(found.has(Note::QuotedChecksumLeft));
}

#[test]
fn redirects_and_neighbour_discovery() {
    let (frame, _) = one(MAPPING, &ethernet(&icmp(false, 5, 1, A, &[])));
    assert_eq!(frame[38..42], A_MAPPED);
    let target = [0xfd, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7];
    for (kind, body) in [(135, target.to_vec()), (136, target.to_vec()), (137, target.repeat(2))] {
        let (frame, _) = one(MAPPING, &ethernet(&icmp(true, kind, 0, [0; 4], &body)));
        assert!(frame[62..].chunks(16).all(|address| address[3] == 9));
    }
}

#[test]
fn a_packet_in_a_packet_is_mapped_as_well() {
    let inner = tcp(true, 0x10, &[], &[7; 20]);
    let (mapped, _) = one(MAPPING, &ethernet(&inner));
    let (frame, found) = one(MAPPING, &ethernet(&ip(false, 41, &inner)));
    assert_eq!((&frame[34..], notes(found)), (&mapped[14..], vec![Note::Mapped]));
}

#[test]
fn a_source_route_hides_the_address_that_sums_know() {
    // One more address to go to: the sum is over that.
    let segment = &tcp(true, 0x10, &[], &[7; 20])[40..];
    let mut last = [0xfd, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2];
    let routing = [&[6, 2, 0, 1, 0, 0, 0, 0][..], &last, segment].concat();
    let mut packet = ip(true, 43, &routing);
    packet[39] = 3;
    let options =
        r#""mapping": {"addresses": [["fd00:1::1", "fd00:9::1"], ["fd00:1::3", "fd00:9::3"]]}"#;
    let (frame, found) = rewritten(options, captured(&ethernet(&packet)), 1500).unwrap();
    assert!(found.has(Note::ChecksumNotVerified));
    // As if the packet had arrived.
    last[3] = 1;
    let arrived = [&frame[0][14..38], &last, &frame[0][78..]].concat();
    let mut arrived = [&arrived[..6], &[6], &arrived[7..]].concat();
    arrived[4..6].copy_from_slice(&40_u16.to_be_bytes());
    assert_eq!(wrong(&ethernet(&arrived), &[]), None);
}
