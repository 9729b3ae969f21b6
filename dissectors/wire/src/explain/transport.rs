//! UDP and ICMP.

use super::Node;
use super::ip::protocol_name;
use crate::packet::Datagram;
use crate::packet::bytes::be16;
use crate::{icmp as wire_icmp, udp as wire_udp};

pub(super) fn udp(datagram: &Datagram<'_>) -> Node {
    let node = Node::group("UDP").at(datagram.offset, datagram.length);
    match wire_udp::parse(datagram.bytes, datagram.length) {
        Ok(udp) => node.with(header(datagram.bytes)).with([
            Node::bytes("payload", udp.payload),
            Node::number("payload length", udp.payload_length).means("bytes"),
        ]),
        Err(problem) => node.with([Node::problem(&problem.at(datagram.offset as usize))]),
    }
}

/// UDP around SCTP or a tunnel.
pub(super) fn udp_header(bytes: &[u8]) -> Node {
    Node::group("UDP").with(header(bytes))
}

fn header(bytes: &[u8]) -> Vec<Node> {
    let Some(fields) = bytes.first_chunk::<8>() else { return Vec::new() };
    vec![
        Node::number("source port", be16::<0, 8>(fields)),
        Node::number("destination port", be16::<2, 8>(fields)),
        Node::number("length", be16::<4, 8>(fields)),
        Node::text("checksum", format!("0x{:04x}", be16::<6, 8>(fields))),
    ]
}

pub(super) fn icmp(datagram: &Datagram<'_>) -> Node {
    let v6 = !datagram.source.is_v4();
    let node = Node::group(if v6 { "ICMPv6" } else { "ICMP" }).at(datagram.offset, datagram.length);
    let message = match wire_icmp::parse(v6, datagram.bytes, datagram.length) {
        Ok(message) => message,
        Err(problem) => return node.with([Node::problem(&problem.at(datagram.offset as usize))]),
    };
    let mut fields = vec![Node::number("type", message.kind), Node::number("code", message.code)];
    if message.is_error() {
        fields.push(Node::text("error", message.name()));
        fields.extend(message.mtu().map(|mtu| Node::number("MTU", mtu).means("bytes")));
        fields.push(match message.quoted() {
            Ok(quoted) => {
                let mut inner = vec![
                    Node::text("source", quoted.source),
                    Node::text("destination", quoted.destination),
                    Node::number("protocol", quoted.protocol).means(protocol_name(quoted.protocol)),
                ];
                if let Some((source, destination)) = quoted.ports {
                    inner.push(Node::number("source port", source));
                    inner.push(Node::number("destination port", destination));
                }
                let tag = quoted.verification_tag;
                inner.extend(tag.map(|tag| Node::text("verification tag", format!("0x{tag:08x}"))));
                Node::group("quoted packet").with(inner)
            }
            Err(problem) => Node::problem(&problem.at(datagram.offset as usize)),
        });
    }
    node.with(fields)
}
