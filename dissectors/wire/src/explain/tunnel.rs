//! Tunnel headers, and what stands before the network layer of the packet inside.

use etherparse::ip_number;

use super::Node;
use super::link::typed;
use crate::packet::bytes::{be16, be32};
use crate::packet::{GENEVE_PORT, GTP_PORT, VXLAN_PORT};

/// `kind` is the IP protocol or the UDP port that the tunnel goes by.
pub(super) fn tunnel(kind: u16, header: &[u8]) -> Node {
    match kind {
        GTP_PORT => gtp(header),
        VXLAN_PORT => vxlan(header),
        GENEVE_PORT => geneve(header),
        kind if kind == u16::from(ip_number::GRE.0) => gre(header),
        // IP in IP has no header of its own.
        _ => Node::group("tunnel").with([Node::bytes("header", header)]),
    }
}

/// RFC 2784 and RFC 2890.
fn gre(header: &[u8]) -> Node {
    const OPTIONS: [(u16, &str); 3] =
        [(0x8000, "checksum and reserved"), (0x2000, "key"), (0x1000, "sequence number")];
    let node = Node::group("GRE");
    let Some((fields, mut rest)) = header.split_first_chunk::<4>() else { return node };
    let flags = be16::<0, 4>(fields);
    let mut nodes = vec![Node::text("flags and version", format!("0x{flags:04x}"))];
    for (bit, name) in OPTIONS {
        if flags & bit != 0
            && let Some((value, after)) = rest.split_first_chunk::<4>()
        {
            nodes.push(Node::number(name, be32::<0, 4>(value)));
            rest = after;
        }
    }
    node.with(nodes).with(typed(be16::<2, 4>(fields), rest))
}

/// RFC 7348 section 5. An Ethernet frame follows.
fn vxlan(header: &[u8]) -> Node {
    let node = Node::group("VXLAN");
    let Some(fields) = header.first_chunk::<8>() else { return node };
    node.with([Node::number("network identifier", be32::<4, 8>(fields) >> 8)])
}

/// RFC 8926 section 3.4.
fn geneve(header: &[u8]) -> Node {
    let node = Node::group("Geneve");
    let Some((fields, rest)) = header.split_first_chunk::<8>() else { return node };
    let [first, ..] = *fields;
    let options = 4 * usize::from(first & 0x3f);
    let (options, rest) = rest.split_at_checked(options).unwrap_or((rest, &[]));
    node.with([
        Node::number("network identifier", be32::<4, 8>(fields) >> 8),
        Node::bytes("options", options),
    ])
    .with(typed(be16::<2, 8>(fields), rest))
}

/// 3GPP TS 29.281 section 5.
fn gtp(header: &[u8]) -> Node {
    let node = Node::group("GTP-U");
    let Some((fields, rest)) = header.split_first_chunk::<8>() else { return node };
    let [flags, message, ..] = *fields;
    let node = node.with([
        Node::text("flags", format!("0x{flags:02x}")),
        Node::number("message type", message),
        Node::number("length", be16::<2, 8>(fields)),
        Node::text("tunnel endpoint", format!("0x{:08x}", be32::<4, 8>(fields))),
    ]);
    if rest.is_empty() { node } else { node.with([Node::bytes("optional fields", rest)]) }
}
