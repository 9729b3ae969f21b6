//! Whole records, through every layer.

use proptest::prelude::*;

use super::build::{ethernet, fragment, ipv4, ipv4_fragment, ipv6, udp};
use super::bytes::clamp;
use super::*;
use crate::problem::{Kind, Layer};
use crate::sctp::COMMON_HEADER;
use crate::sctp::build::{chunk, packet};

const ETHERNET: u16 = 1;
const RAW: u16 = 101;
const SCTP: u8 = 132;
const UDP: u8 = 17;

fn decoder() -> Decoder {
    Decoder::new(DecoderOptions::default())
}

fn with_flows() -> Decoder {
    Decoder::new(DecoderOptions { flows: true, ..DecoderOptions::default() })
}

fn decode<'a>(decoder: &'a mut Decoder, link_type: u16, record: &'a [u8]) -> Found<'a> {
    decoder.decode(link_type, 0, record, clamp(record.len()))
}

fn sctp() -> Vec<u8> {
    packet(&[chunk(0, 3, &[7; 100])])
}

#[test]
fn sctp_over_ethernet_and_ipv4() {
    let sctp = sctp();
    let mut record = ethernet(0x0800, &ipv4(SCTP, &sctp));
    record.extend([0; 6]);
    let expected = Packet {
        source: Address::v4([10, 0, 0, 1]),
        destination: Address::v4([10, 0, 0, 2]),
        ip_id: Some(7),
        hop_limit: 64,
        ecn: 2,
        udp: None,
        sctp: &sctp,
        sctp_offset: 34,
        sctp_length: 116,
        reassembled: false,
    };
    assert_eq!(decode(&mut decoder(), ETHERNET, &record), Found::Sctp(expected));
}

#[test]
fn sctp_in_udp_over_ipv6() {
    let sctp = sctp();
    let record = ipv6(UDP, &udp(9899, 40_000, &sctp));
    let mut decoder = decoder();
    let Found::Sctp(found) = decode(&mut decoder, RAW, &record) else { panic!() };
    assert_eq!((found.udp, found.sctp, found.sctp_offset), (Some((9899, 40_000)), &sctp[..], 48));
    assert_eq!(found.ip_id, None);
    let mut deaf = Decoder::new(DecoderOptions { udp_ports: vec![], flows: false });
    assert_eq!(decode(&mut deaf, RAW, &record), Found::Skip(Skip::NotSctp));
    let mut deaf = Decoder::new(DecoderOptions { udp_ports: vec![], flows: true });
    let Found::Udp(found) = decode(&mut deaf, RAW, &record) else { panic!() };
    assert_eq!((found.offset, found.length as usize), (40, found.bytes.len()));
}

#[test]
fn a_datagram_to_a_tunnels_port_may_be_none_of_the_tunnels() {
    let echo_request = [0x32, 1, 0, 4, 0, 0, 0, 0, 0, 9, 0, 0];
    let record = ipv4(UDP, &udp(2152, 2152, &echo_request));
    let mut decoder = with_flows();
    let Found::Udp(found) = decode(&mut decoder, RAW, &record) else { panic!() };
    assert_eq!(found.length, 20);
    assert_eq!(decode(&mut self::decoder(), RAW, &record), Found::Skip(Skip::NotSctp));
}

#[test]
fn what_is_not_sctp_is_skipped_by_reason() {
    let mut decoder = decoder();
    let mut skip = |link_type, record: &[u8]| match decode(&mut decoder, link_type, record) {
        Found::Skip(skip) => skip.name(),
        other => panic!("{other:?}"),
    };
    assert_eq!(skip(ETHERNET, &ethernet(0x0806, &[0; 28])), "not IP");
    assert_eq!(skip(RAW, &ipv4(6, &[0; 20])), "not SCTP");
    assert_eq!(skip(RAW, &ipv6(59, &[])), "not SCTP");
    assert_eq!(skip(RAW, &ipv4_fragment(6, 1, 0, true, &[0; 16])), "not SCTP");
    assert_eq!(skip(147, &[0; 60]), "link type not supported");
    let held = ipv4_fragment(SCTP, 1, 0, true, &[0; 16]);
    assert_eq!(skip(RAW, &held), "fragment kept for reassembly");
}

#[test]
fn flows_are_given_whole_or_put_together() {
    let mut decoder = with_flows();
    let record = ethernet(0x0800, &ipv4(6, &[7; 32]));
    let Found::Tcp(found) = decode(&mut decoder, ETHERNET, &record) else { panic!() };
    assert_eq!((found.bytes, found.offset, found.length), (&[7; 32][..], 34, 32));
    let record = ipv6(58, &[1; 8]);
    assert!(matches!(decode(&mut decoder, RAW, &record), Found::Icmp(_)));
    assert_eq!(decode(&mut decoder, RAW, &ipv4(89, &[0; 8])), Found::Skip(Skip::OtherProtocol));
    let last = ipv4_fragment(6, 1, 16, false, &[7; 16]);
    assert_eq!(decode(&mut decoder, RAW, &last), Found::Skip(Skip::FragmentHeld));
    let first = ipv4_fragment(6, 1, 0, true, &[7; 16]);
    let Found::Tcp(found) = decode(&mut decoder, RAW, &first) else { panic!() };
    assert_eq!((found.bytes, found.offset), (&[7; 32][..], 0));
}

#[test]
fn a_flow_in_a_tunnel_counts_and_not_the_tunnel() {
    let mut inner = ipv4(6, &[7; 32]);
    inner[12..20].copy_from_slice(&[172, 16, 0, 1, 172, 16, 0, 2]);
    for record in tunnelled(&inner) {
        let mut decoder = with_flows();
        let Found::Tcp(found) = decode(&mut decoder, RAW, &record) else { panic!() };
        assert_eq!(found.source, Address::v4([172, 16, 0, 1]));
        assert_eq!((found.bytes, found.offset as usize), (&[7; 32][..], record.len() - 32));
    }
}

#[test]
fn a_cut_packet_is_given_as_far_as_it_goes() {
    let record = ipv4(SCTP, &sctp());
    let mut decoder = decoder();
    let Found::Sctp(cut) = decoder.decode(RAW, 0, &record[..60], 136) else { panic!() };
    assert_eq!((cut.sctp.len(), cut.sctp_length), (40, 116));
    let mut kind = |record: &[u8], wire| match decoder.decode(RAW, 0, record, wire) {
        Found::Problem(problem) => (problem.kind, problem.layer, problem.offset),
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(&record[..31], 136), (Kind::Truncated, Layer::Sctp, 20));
    assert_eq!(kind(&ipv4(SCTP, &[0; 11]), 31), (Kind::Malformed, Layer::Sctp, 20));
    assert_eq!(kind(&record[..60], 60), (Kind::Malformed, Layer::Ip, 0));
}

#[test]
fn fragments_of_both_families_come_together_backwards() {
    let sctp = sctp();
    let inner = udp(9899, 9899, &sctp);
    let mut decoder = decoder();
    let v4 = |offset: usize, end: usize| {
        ipv4_fragment(UDP, 3, offset as u16, end < inner.len(), &inner[offset..end])
    };
    let v6 = |offset: usize, end: usize| {
        let piece = &inner[offset..end];
        ipv6(44, &fragment(UDP, 3, offset as u16, end < inner.len(), piece))
    };
    let ranges = [(104, inner.len()), (48, 104), (0, 48)];
    for records in
        [ranges.map(|(start, end)| v4(start, end)), ranges.map(|(start, end)| v6(start, end))]
    {
        let [last, middle, first] = &records;
        assert_eq!(decode(&mut decoder, RAW, last), Found::Skip(Skip::FragmentHeld));
        assert_eq!(decode(&mut decoder, RAW, middle), Found::Skip(Skip::FragmentHeld));
        let Found::Sctp(whole) = decode(&mut decoder, RAW, first) else { panic!() };
        assert_eq!((whole.sctp, whole.sctp_offset, whole.sctp_length), (&sctp[..], 0, 116));
        assert_eq!((whole.udp, whole.reassembled), (Some((9899, 9899)), true));
    }
    assert_eq!(decoder.dropped_fragments(), 0);
}

#[test]
fn options_behind_a_fragment_header_are_walked_once_whole() {
    let sctp = sctp();
    let inner = [&[SCTP, 0, 1, 4, 0, 0, 0, 0], &sctp[..]].concat();
    let mut decoder = decoder();
    let first = ipv6(44, &fragment(60, 3, 0, true, &inner[..16]));
    let last = ipv6(44, &fragment(60, 3, 16, false, &inner[16..]));
    assert_eq!(decode(&mut decoder, RAW, &first), Found::Skip(Skip::FragmentHeld));
    let Found::Sctp(whole) = decode(&mut decoder, RAW, &last) else { panic!() };
    assert_eq!(whole.sctp, sctp);
}

#[test]
fn a_fragment_inside_a_fragment_is_malformed() {
    let inner = fragment(SCTP, 4, 8, true, &[0; 8]);
    let options = [&[44, 0, 1, 4, 0, 0, 0, 0], &inner[..]].concat();
    let mut decoder = decoder();
    let first = ipv6(44, &fragment(60, 3, 0, true, &options[..16]));
    let last = ipv6(44, &fragment(60, 3, 16, false, &options[16..]));
    assert_eq!(decode(&mut decoder, RAW, &first), Found::Skip(Skip::FragmentHeld));
    let Found::Problem(nested) = decode(&mut decoder, RAW, &last) else { panic!() };
    assert_eq!((nested.kind, nested.layer, nested.offset), (Kind::Malformed, Layer::Ip, 16));
}

/// Every way into a tunnel that a packet of ours can take, around IPv4.
fn tunnelled(inner: &[u8]) -> Vec<Vec<u8>> {
    let bridged = ethernet(0x0800, inner);
    let length = u16::try_from(inner.len()).unwrap().to_be_bytes();
    let gtp = [0x30, 255, length[0], length[1], 0, 0, 0, 7];
    vec![
        ipv4(4, inner),
        ipv6(4, inner),
        ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, 7], inner].concat()),
        ipv4(47, &[&[0, 0, 0x65, 0x58], &bridged[..]].concat()),
        ipv4(47, &[&[0, 0, 0x88, 0x47, 0, 0, 1, 64], inner].concat()),
        ipv4(UDP, &udp(40_000, 4789, &[&[8, 0, 0, 0, 0, 0, 7, 0], &bridged[..]].concat())),
        ipv4(UDP, &udp(40_000, 6081, &[&[0, 0, 8, 0, 0, 0, 7, 0], inner].concat())),
        ipv6(UDP, &udp(2152, 2152, &[&gtp, inner].concat())),
    ]
}

#[test]
fn the_innermost_packet_is_the_packet() {
    let sctp = sctp();
    let mut inner = ipv4(SCTP, &sctp);
    inner[12..20].copy_from_slice(&[172, 16, 0, 1, 172, 16, 0, 2]);
    for outer in tunnelled(&inner) {
        for record in [vec![outer.clone()], tunnelled(&outer)].concat() {
            let mut decoder = decoder();
            let Found::Sctp(found) = decode(&mut decoder, RAW, &record) else { panic!() };
            assert_eq!(found.source, Address::v4([172, 16, 0, 1]));
            assert_eq!((found.sctp, found.udp), (&sctp[..], None));
            assert_eq!(found.sctp_offset as usize, record.len() - sctp.len());
        }
    }
}

#[test]
fn sctp_in_udp_in_a_tunnel() {
    let inner = ipv4(UDP, &udp(9899, 9899, &sctp()));
    for record in tunnelled(&inner) {
        let mut decoder = decoder();
        let Found::Sctp(found) = decode(&mut decoder, RAW, &record) else { panic!() };
        assert_eq!(found.udp, Some((9899, 9899)));
    }
    // The user's word on a port counts more than IANA's.
    let mut decoder = Decoder::new(DecoderOptions { udp_ports: vec![4789], flows: false });
    let record = ipv4(UDP, &udp(5, 4789, &sctp()));
    assert!(matches!(decode(&mut decoder, RAW, &record), Found::Sctp(_)));
}

#[test]
fn tunnels_end_at_a_fixed_depth() {
    let nested = |times| (0..times).fold(ipv4(SCTP, &sctp()), |inner, _| ipv4(4, &inner));
    let mut decoder = decoder();
    assert!(matches!(decode(&mut decoder, RAW, &nested(8)), Found::Sctp(_)));
    let too_deep = Found::Skip(Skip::TunnelsTooDeep);
    assert_eq!(decode(&mut decoder, RAW, &nested(9)), too_deep);
    let frames = (0..9).fold(ethernet(0x0800, &ipv4(SCTP, &sctp())), |inner, _| {
        ethernet(0x88e7, &[&[0; 4], &inner[..]].concat())
    });
    assert_eq!(decode(&mut decoder, ETHERNET, &frames), too_deep);
}

#[test]
fn a_problem_in_a_tunnel_says_where() {
    let record = ipv4(4, &ipv4(SCTP, &[0; 11]));
    let Found::Problem(short) = decode(&mut decoder(), RAW, &record) else { panic!() };
    assert_eq!((short.kind, short.layer, short.offset), (Kind::Malformed, Layer::Sctp, 40));
    let Found::Problem(cut) = decoder().decode(RAW, 0, &record[..30], 51) else { panic!() };
    assert_eq!((cut.kind, cut.layer, cut.offset), (Kind::Truncated, Layer::Ip, 20));
    let pptp = ipv4(47, &[0x30, 1, 0x88, 0x0b, 0, 0, 0, 0]);
    let Found::Problem(version) = decode(&mut decoder(), RAW, &pptp) else { panic!() };
    assert_eq!((version.kind, version.layer, version.offset), (Kind::Unknown, Layer::Tunnel, 20));
}

/// A packet in `pieces` fragments of one datagram, through `wrap` each.
fn in_pieces(whole: &[u8], protocol: u8, wrap: impl Fn(&[u8]) -> Vec<u8>) -> Vec<Vec<u8>> {
    whole
        .chunks(48)
        .enumerate()
        .map(|(n, piece)| {
            let more = n * 48 + piece.len() < whole.len();
            wrap(&ipv4_fragment(protocol, 9, (n * 48) as u16, more, piece))
        })
        .collect()
}

/// The last record's outcome; those before it must be kept.
fn last<'a>(decoder: &'a mut Decoder, records: &'a [Vec<u8>]) -> Found<'a> {
    let (last, before) = records.split_last().unwrap();
    for record in before {
        assert_eq!(decode(decoder, RAW, record), Found::Skip(Skip::FragmentHeld));
    }
    decode(decoder, RAW, last)
}

#[test]
fn fragments_inside_and_outside_of_tunnels() {
    let sctp = sctp();
    let inside = in_pieces(&sctp, SCTP, |piece| ipv4(4, piece));
    let outside = in_pieces(&ipv4(SCTP, &sctp), 4, <[u8]>::to_vec);
    // Fragments of an inner packet, each again in fragments.
    let both: Vec<_> = in_pieces(&sctp, SCTP, <[u8]>::to_vec);
    for records in [&inside, &outside] {
        let mut decoder = decoder();
        let Found::Sctp(found) = last(&mut decoder, records) else { panic!() };
        assert_eq!((found.sctp, found.sctp_offset, found.reassembled), (&sctp[..], 0, true));
    }
    let mut decoder = decoder();
    for (n, inner) in both.iter().enumerate() {
        let outer = in_pieces(inner, 4, <[u8]>::to_vec);
        match last(&mut decoder, &outer) {
            Found::Sctp(found) if n + 1 == both.len() => assert_eq!(found.sctp, sctp),
            found => assert_eq!(found, Found::Skip(Skip::FragmentHeld)),
        }
    }
}

#[test]
fn fragments_of_different_tunnels_do_not_mix() {
    let sctp = sctp();
    let gre =
        |key: u8| move |piece: &[u8]| ipv4(47, &[&[0x20, 0, 8, 0, 0, 0, 0, key], piece].concat());
    let [one, two] = [1, 2].map(|key| in_pieces(&sctp, SCTP, gre(key)));
    let plain = in_pieces(&sctp, SCTP, <[u8]>::to_vec);
    let mixed = [&one[..1], &two[1..2], &plain[2..]].concat();
    let mut decoder = decoder();
    assert_eq!(last(&mut decoder, &mixed), Found::Skip(Skip::FragmentHeld));
    assert!(matches!(last(&mut decoder, &one[1..]), Found::Sctp(_)));
}

proptest! {
    #[test]
    fn any_record_is_one_of_the_three(
        link_type in prop::sample::select(vec![
            0_u16, 1, 9, 12, 50, 101, 104, 105, 108, 113, 119, 127, 163, 229, 276, 999,
        ]),
        records in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..120), 1..5),
        wire in 0_u32..200,
    ) {
        let mut decoder = with_flows();
        for record in &records {
            check(decoder.decode(link_type, 0, record, wire), record);
        }
    }

    #[test]
    fn any_damage_to_a_good_record_is_survived(
        which in 0_usize..21,
        damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        kept in any::<prop::sample::Index>(),
    ) {
        let sctp = sctp();
        let mut record = match which {
            0 => ethernet(0x0800, &ipv4(SCTP, &sctp)),
            1 => ethernet(0x86dd, &ipv6(SCTP, &sctp)),
            2 => ethernet(0x0800, &ipv4(UDP, &udp(9899, 9899, &sctp))),
            3 => {
                let options = [SCTP, 0, 1, 4, 0, 0, 0, 0];
                ethernet(0x86dd, &ipv6(0, &[&options, &sctp[..]].concat()))
            }
            4 => ethernet(0x86dd, &ipv6(44, &fragment(SCTP, 1, 0, false, &sctp))),
            5..13 => ethernet(0x0800, &tunnelled(&ipv4(SCTP, &sctp))[which - 5]),
            _ => {
                let twice = tunnelled(&tunnelled(&ipv4(SCTP, &sctp))[which - 13]);
                ethernet(0x0800, &twice[which - 13])
            }
        };
        let wire = clamp(record.len());
        for (at, byte) in damage {
            let at = at.index(record.len());
            record[at] = byte;
        }
        record.truncate(kept.index(record.len()) + 1);
        check(decoder().decode(ETHERNET, 0, &record, wire), &record);
        check(with_flows().decode(ETHERNET, 0, &record, wire), &record);
    }
}

fn check(found: Found<'_>, record: &[u8]) {
    if let Found::Sctp(packet) = found {
        assert!(packet.sctp.len() >= COMMON_HEADER);
        assert!(packet.sctp_length as usize >= packet.sctp.len());
        if !packet.reassembled {
            let at = packet.sctp_offset as usize;
            assert_eq!(&record[at..at + packet.sctp.len()], packet.sctp);
        }
    }
}
