//! IP headers, with what follows them up to the payload.

use etherparse::{Ipv4HeaderSlice, Ipv6HeaderSlice, ip_number};

use super::Node;
use crate::packet::trace::Piece;

/// `header` is the IP header with its extension headers.
pub(super) fn ip(header: &[u8], protocol: u8, fragment: Option<Piece>) -> Node {
    let (name, (size, mut fields)) = match header.first().map(|first| first >> 4) {
        Some(4) => ("IPv4", v4(header)),
        _ => ("IPv6", v6(header)),
    };
    let extensions = header.get(size..).unwrap_or_default();
    if !extensions.is_empty() {
        fields.push(Node::bytes("extension headers", extensions));
    }
    fields.push(Node::number("protocol", protocol).means(protocol_name(protocol)));
    if let Some(Piece { id, offset, more }) = fragment {
        let meaning = if more { "more fragments follow" } else { "the last fragment" };
        fields.push(Node::group("fragment").means(meaning).with([
            Node::number("identification", id),
            Node::number("offset", offset).means("bytes"),
        ]));
    }
    Node::group(name).with(fields)
}

/// The decoder has read the header, so that it is one; size and fields.
fn v4(header: &[u8]) -> (usize, Vec<Node>) {
    let Ok(ip) = Ipv4HeaderSlice::from_slice(header) else { return (0, Vec::new()) };
    let fields = vec![
        Node::text("source", ip.source_addr()),
        Node::text("destination", ip.destination_addr()),
        Node::number("DSCP", ip.dcp().value()),
        Node::number("ECN", ip.ecn().value()),
        Node::number("total length", ip.total_len()),
        Node::number("identification", ip.identification()),
        Node::text("do not fragment", if ip.dont_fragment() { "yes" } else { "no" }),
        Node::number("time to live", ip.ttl()),
        Node::text("header checksum", format!("0x{:04x}", ip.header_checksum())),
    ];
    (ip.slice().len(), fields)
}

fn v6(header: &[u8]) -> (usize, Vec<Node>) {
    let Ok(ip) = Ipv6HeaderSlice::from_slice(header) else { return (0, Vec::new()) };
    let fields = vec![
        Node::text("source", ip.source_addr()),
        Node::text("destination", ip.destination_addr()),
        Node::number("DSCP", ip.dscp().value()),
        Node::number("ECN", ip.ecn().value()),
        Node::text("flow label", format!("0x{:05x}", ip.flow_label().value())),
        Node::number("payload length", ip.payload_length()),
        Node::number("hop limit", ip.hop_limit()),
    ];
    (ip.slice().len(), fields)
}

pub(super) fn protocol_name(protocol: u8) -> &'static str {
    match protocol {
        p if p == ip_number::ICMP.0 => "ICMP",
        p if p == ip_number::IPV4.0 => "IPv4",
        p if p == ip_number::TCP.0 => "TCP",
        p if p == ip_number::UDP.0 => "UDP",
        p if p == ip_number::IPV6.0 => "IPv6",
        p if p == ip_number::GRE.0 => "GRE",
        p if p == ip_number::IPV6_ICMP.0 => "ICMPv6",
        p if p == ip_number::SCTP.0 => "SCTP",
        _ => "not read here",
    }
}
