//! Link headers. The fields of Ethernet and of Linux cooked captures are told; of other links,
//! whose headers the decoder has walked, the bytes.

use super::Node;
use super::node::mac;
use crate::packet::bytes::{be16, be32};

const ETHERNET: u16 = 1;
const LINUX_SLL: u16 = 113;
const LINUX_SLL2: u16 = 276;
/// Links without a header have no bytes, and so no node.
const OTHERS: [(u16, &str); 11] = [
    (0, "BSD loopback"),
    (9, "PPP"),
    (50, "PPP in HDLC-like framing"),
    (104, "Cisco HDLC"),
    (105, "IEEE 802.11"),
    (108, "OpenBSD loopback"),
    (119, "Prism and IEEE 802.11"),
    (127, "Radiotap and IEEE 802.11"),
    (163, "AVS and IEEE 802.11"),
    (204, "PPP with direction"),
    (12, "raw IP"),
];

const VLANS: [u16; 3] = [0x8100, 0x88a8, 0x9100];
const MPLS: [u16; 2] = [0x8847, 0x8848];
const BOTTOM_OF_STACK: u32 = 1 << 8;

pub(super) fn link(link_type: u16, header: &[u8]) -> Node {
    match link_type {
        ETHERNET => ethernet(header),
        LINUX_SLL => cooked(header),
        LINUX_SLL2 => cooked_2(header),
        other => {
            let name = OTHERS.iter().find(|(known, _)| *known == other);
            let name = name.map_or("link header", |(_, name)| *name);
            Node::group(name)
                .with([Node::number("link type", other), Node::bytes("header", header)])
        }
    }
}

pub(super) fn ethernet(header: &[u8]) -> Node {
    let node = Node::group("Ethernet");
    let Some((fields, rest)) = header.split_first_chunk::<14>() else { return node };
    let (destination, source) = (fields.get(..6), fields.get(6..12));
    node.with([
        Node::text("destination", mac(destination.unwrap_or_default())),
        Node::text("source", mac(source.unwrap_or_default())),
    ])
    .with(typed(be16::<12, 14>(fields), rest))
}

/// Linux cooked capture (LINKTYPE_LINUX_SLL).
fn cooked(header: &[u8]) -> Node {
    let node = Node::group("Linux cooked");
    let Some((fields, rest)) = header.split_first_chunk::<16>() else { return node };
    node.with([
        direction(be16::<0, 16>(fields)),
        Node::number("hardware type", be16::<2, 16>(fields)),
        address(be16::<4, 16>(fields).into(), fields.get(6..14)),
    ])
    .with(typed(be16::<14, 16>(fields), rest))
}

/// Its second version (LINKTYPE_LINUX_SLL2), which has the interface.
fn cooked_2(header: &[u8]) -> Node {
    let node = Node::group("Linux cooked, version 2");
    let Some((fields, rest)) = header.split_first_chunk::<20>() else { return node };
    let [.., kind, length, _, _, _, _, _, _, _, _] = *fields;
    node.with([
        direction(kind.into()),
        Node::number("interface index", be32::<4, 20>(fields)),
        Node::number("hardware type", be16::<8, 20>(fields)),
        address(length.into(), fields.get(12..20)),
    ])
    .with(typed(be16::<0, 20>(fields), rest))
}

fn direction(kind: u16) -> Node {
    let meaning = match kind {
        0 => "to this host",
        1 => "broadcast",
        2 => "multicast",
        3 => "to another host",
        4 => "from this host",
        _ => "unknown",
    };
    Node::number("packet type", kind).means(meaning)
}

fn address(length: usize, field: Option<&[u8]>) -> Node {
    let field = field.unwrap_or_default();
    Node::text("source", mac(field.get(..length).unwrap_or(field)))
}

/// An EtherType, and the tags and labels it may lead to.
pub(super) fn typed(mut ether_type: u16, mut rest: &[u8]) -> Vec<Node> {
    let mut nodes = vec![named(ether_type)];
    while let Some((tag, after)) = rest.split_first_chunk::<4>() {
        if VLANS.contains(&ether_type) {
            let control = be16::<0, 4>(tag);
            nodes.push(Node::group("VLAN tag").with([
                Node::number("identifier", control & 0xfff),
                Node::number("priority", control >> 13),
            ]));
            ether_type = be16::<2, 4>(tag);
            nodes.push(named(ether_type));
        } else if MPLS.contains(&ether_type) {
            let entry = be32::<0, 4>(tag);
            nodes.push(Node::group("MPLS label").with([
                Node::number("label", entry >> 12),
                Node::number("traffic class", entry >> 9 & 7),
                Node::number("time to live", entry & 0xff),
            ]));
            if entry & BOTTOM_OF_STACK != 0 {
                rest = after;
                break;
            }
        } else {
            break;
        }
        rest = after;
    }
    if !rest.is_empty() {
        nodes.push(Node::bytes("what follows", rest));
    }
    nodes
}

fn named(ether_type: u16) -> Node {
    let name = match ether_type {
        ..=1500 => "a length: LLC follows",
        0x0800 => "IPv4",
        0x86dd => "IPv6",
        0x8100 => "802.1Q",
        0x88a8 => "802.1ad",
        0x9100 => "QinQ before 802.1ad",
        0x88e7 => "802.1ah",
        0x8847 | 0x8848 => "MPLS",
        0x8864 => "PPPoE session",
        0x6558 => "bridged Ethernet",
        _ => "not read here",
    };
    Node::text("type", format!("0x{ether_type:04x}")).means(name)
}
