//! What is told of frames; the values are held against tshark's by the Python tests.

use proptest::prelude::*;

use super::*;
use crate::packet::DecoderOptions;
use crate::packet::build::{ethernet, ipv4, ipv4_fragment, udp};
use crate::sctp::build::{chunk, packet, param};
use crate::sctp::param as params;

const ETHERNET: u16 = 1;
const RAW: u16 = 101;
const SCTP: u8 = 132;

fn record(link_type: u16, data: &[u8]) -> Record<'_> {
    Record {
        frame: 7,
        offset: 24,
        time_ns: -1,
        interface: 0,
        link_type,
        interface_name: Some("wlan0"),
        wire_length: data.len() as u32,
        data,
        comments: ["noted".to_string()].into_iter().collect(),
    }
}

fn decoder() -> Decoder {
    Decoder::new(DecoderOptions { flows: true, ..DecoderOptions::default() })
}

fn explained(link_type: u16, data: &[u8]) -> Vec<Node> {
    layers(&mut decoder(), &record(link_type, data)).0
}

/// `name: value (meaning)`, a line a node, indented.
fn text(nodes: &[Node]) -> String {
    let mut lines = Vec::new();
    for node in nodes {
        let value = match &node.value {
            Value::None => String::new(),
            Value::Number(number) => format!(": {number}"),
            Value::Text(text) => format!(": {text}"),
        };
        let meaning = node.meaning.iter().map(|meaning| format!(" ({meaning})"));
        lines.push(format!("{}{value}{}", node.name, meaning.collect::<String>()));
        let inner = text(&node.fields);
        lines.extend(inner.lines().map(|line| format!("  {line}")));
    }
    lines.join("\n")
}

fn chunk_text(kind: u8, flags: u8, value: &[u8]) -> String {
    let data = ipv4(SCTP, &packet(&[chunk(kind, flags, value)]));
    let layers = explained(RAW, &data);
    text(&layers.last().unwrap().fields[4..])
}

#[test]
fn layers_have_their_places() {
    let sctp = packet(&[chunk(11, 0, &[]), chunk(11, 0, &[])]);
    let data = ethernet(0x8100, &[&[0x60, 5, 8, 0][..], &ipv4(SCTP, &sctp)].concat());
    let layers = explained(ETHERNET, &data);
    let places: Vec<_> =
        layers.iter().map(|layer| (layer.name.as_str(), layer.extent.unwrap())).collect();
    assert_eq!(
        places,
        [("Frame", (0, 58)), ("Ethernet", (0, 18)), ("IPv4", (18, 20)), ("SCTP", (38, 20))]
    );
    let chunks: Vec<_> = layers[3].fields[4..].iter().map(|chunk| chunk.extent).collect();
    assert_eq!(chunks, [Some((50, 4)), Some((54, 4))]);
    let tags = text(&layers[1..2]);
    assert!(tags.contains("VLAN tag\n    identifier: 5\n    priority: 3\n  type: 0x0800 (IPv4)"));
    let frame = text(&layers[..1]);
    assert!(frame.contains("time: -1 (ns since 1970)"), "{frame}");
    assert!(frame.ends_with("interface: wlan0\n  comment: noted"), "{frame}");
}

#[test]
fn tunnels_are_walked() {
    let sctp = packet(&[chunk(11, 0, &[])]);
    let vxlan = [&[8, 0, 0, 0, 0, 0, 9, 0][..], &ethernet(0x0800, &ipv4(SCTP, &sctp))].concat();
    let names =
        |data: &[u8]| explained(RAW, data).into_iter().map(|layer| layer.name).collect::<Vec<_>>();
    let expected = ["Frame", "IPv4", "UDP", "VXLAN", "Ethernet", "IPv4", "SCTP"];
    assert_eq!(names(&ipv4(17, &udp(1, 4789, &vxlan))), expected);
    assert_eq!(names(&ipv4(4, &ipv4(SCTP, &sctp))), ["Frame", "IPv4", "IPv4", "SCTP"]);
    let gre = [&[0x20, 0, 8, 0, 0, 0, 0, 7][..], &ipv4(SCTP, &sctp)].concat();
    assert_eq!(names(&ipv4(47, &gre)), ["Frame", "IPv4", "GRE", "IPv4", "SCTP"]);
    let gtp_length = (ipv4(SCTP, &sctp).len() as u16).to_be_bytes();
    let gtp = [&[0x30, 255][..], &gtp_length, &[0, 0, 0, 5], &ipv4(SCTP, &sctp)].concat();
    let names_of_gtp = names(&ipv4(17, &udp(1, 2152, &gtp)));
    assert_eq!(names_of_gtp, ["Frame", "IPv4", "UDP", "GTP-U", "IPv4", "SCTP"]);
    assert_eq!(names(&ipv4(17, &udp(1, 9899, &sctp))), ["Frame", "IPv4", "UDP", "SCTP"]);
}

#[test]
fn fragments_say_so_and_come_together() {
    let whole = packet(&[chunk(11, 0, &[])]);
    let pieces = [
        ipv4_fragment(SCTP, 3, 0, true, &whole[..8]),
        ipv4_fragment(SCTP, 3, 8, false, &whole[8..]),
    ];
    let mut decoder = decoder();
    let first = layers(&mut decoder, &record(RAW, &pieces[0])).0;
    assert!(text(&first).contains("fragment (more fragments follow)\n    identification: 3"));
    assert!(text(&first).ends_with("a fragment: the rest of its datagram is in other frames"));
    let last = layers(&mut decoder, &record(RAW, &pieces[1])).0;
    let told = text(&last);
    assert!(told.contains("fragment (the last fragment)"), "{told}");
    assert!(told.contains("Reassembled datagram (offsets count from its start)"), "{told}");
    assert_eq!(last.last().unwrap().name, "SCTP");
    assert_eq!(last.last().unwrap().extent, Some((0, 16)));
}

#[test]
fn a_bad_checksum_is_told_with_the_right_one() {
    let mut sctp = packet(&[chunk(11, 0, &[])]);
    let right = u32::from_be_bytes(sctp[8..12].try_into().unwrap());
    sctp[8] ^= 0xff;
    let told = text(&explained(RAW, &ipv4(SCTP, &sctp)));
    assert!(told.contains(&format!("(bad: CRC32c is 0x{right:08x})")), "{told}");
}

#[test]
fn chunks_by_name_with_their_values() {
    let sack = [0, 0, 0, 9, 0, 0, 4, 0, 0, 1, 0, 1, 0, 2, 0, 3, 0, 0, 0, 7];
    let told = chunk_text(3, 0, &sack);
    for line in [
        "SACK",
        "cumulative TSN ack: 9",
        "a_rwnd: 1024 (bytes)",
        "gap ack block: 2-3 (TSN 11 to 12)",
        "duplicate TSNs: 7",
    ] {
        assert!(told.contains(line), "{told}");
    }
    let told = chunk_text(6, 1, &param(12, b"bye"));
    assert!(told.contains("flags: 0x01 (verification tag reflected)"), "{told}");
    assert!(told.contains("User-Initiated Abort\n    code: 12\n    length: 7\n    reason: bye"));
    let told = chunk_text(77, 0, &[1, 2]);
    assert!(told.contains("unknown chunk") && told.contains("value: 0102 (2 bytes)"), "{told}");
    let told = chunk_text(3, 0, &[0; 4]);
    assert!(told.contains("problem: malformed chunk at byte 36"), "{told}");
}

#[test]
fn parameters_by_name_with_their_values() {
    let value = [
        &[1, 2, 3, 4, 0, 1, 0, 0, 0, 10, 0, 20, 0, 0, 0, 5][..],
        &param(params::IPV4_ADDRESS, &[10, 0, 0, 1]),
        &param(params::SUPPORTED_EXTENSIONS, &[0xc1, 0x80]),
        &param(params::SUPPORTED_ADDRESS_TYPES, &[0, 5, 0, 6]),
        &param(0x7777, &[1]),
    ]
    .concat();
    let told = chunk_text(1, 0, &value);
    for line in [
        "initiate tag: 0x01020304",
        "initial TSN: 5",
        "IPv4 Address\n    type: 0x0005\n    length: 8\n    address: 10.0.0.1",
        "chunk types: ASCONF, ASCONF-ACK",
        "address types: IPv4 Address, IPv6 Address",
        "unknown parameter\n    type: 0x7777",
    ] {
        assert!(told.contains(line), "{line}\n{told}");
    }
    let add = [&[0, 0, 0, 3][..], &param(params::IPV4_ADDRESS, &[10, 0, 0, 9])].concat();
    let asconf = [
        &[0, 0, 0, 8][..],
        &param(params::IPV4_ADDRESS, &[10, 0, 0, 1]),
        &param(params::ADD_IP_ADDRESS, &add),
    ]
    .concat();
    let told = chunk_text(193, 0, &asconf);
    let request = "Add IP Address\n    type: 0xc001\n    correlation ID: 3\n    address: 10.0.0.9";
    assert!(told.contains("serial number: 8\n  address: 10.0.0.1"), "{told}");
    assert!(told.contains(request), "{told}");
}

proptest! {
    #[test]
    fn no_bytes_panic(
        link_type in prop::sample::select(vec![0_u16, 1, 9, 50, 101, 104, 105, 113, 127, 276]),
        data in prop::collection::vec(any::<u8>(), 0..200),
    ) {
        explained(link_type, &data);
    }

    #[test]
    fn no_payload_panics(
        protocol in prop::sample::select(vec![1_u8, 4, 6, 17, 41, 47, 58, 132]),
        port in prop::sample::select(vec![2152_u16, 4789, 6081, 9899, 53]),
        payload in prop::collection::vec(any::<u8>(), 0..120),
        kept in any::<prop::sample::Index>(),
    ) {
        let inner = if protocol == 17 { udp(1, port, &payload) } else { payload };
        let whole = ipv4(protocol, &inner);
        explained(RAW, &whole);
        explained(RAW, &whole[..kept.index(whole.len()) + 1]);
    }

    #[test]
    fn no_chunk_panics(kind in any::<u8>(), value in prop::collection::vec(any::<u8>(), 0..80)) {
        chunk_text(kind, 0, &value);
    }
}
