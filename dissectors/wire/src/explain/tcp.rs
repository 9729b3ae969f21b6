//! TCP segments and their options.

use super::Node;
use super::node::flags;
use crate::packet::Datagram;
use crate::tcp::mptcp::{Dss, reset_reason};
use crate::tcp::{ACK, CWR, ECE, FIN, Mptcp, Opt, PSH, RST, SYN, URG, parse};

const FLAGS: [(u8, &str); 8] = [
    (FIN, "FIN"),
    (SYN, "SYN"),
    (RST, "RST"),
    (PSH, "PSH"),
    (ACK, "ACK"),
    (URG, "URG"),
    (ECE, "ECE"),
    (CWR, "CWR"),
];

pub(super) fn segment(datagram: &Datagram<'_>) -> Node {
    let node = Node::group("TCP").at(datagram.offset, datagram.length);
    let segment = match parse(datagram.bytes, datagram.length) {
        Ok(segment) => segment,
        Err(problem) => return node.with([Node::problem(&problem.at(datagram.offset as usize))]),
    };
    let header = &segment.header;
    let options = segment.options.map(|read| match read {
        Ok(read) => option(&read),
        Err(problem) => Node::problem(&problem.at(datagram.offset as usize)),
    });
    node.with([
        Node::number("source port", header.source_port),
        Node::number("destination port", header.destination_port),
        Node::number("sequence number", header.sequence),
        Node::number("acknowledgement number", header.acknowledgement),
        Node::text("flags", format!("0x{:02x}", header.flags)).means(flags(header.flags, &FLAGS)),
        Node::number("window", header.window),
        Node::text("checksum", format!("0x{:04x}", header.checksum)),
        Node::number("urgent pointer", header.urgent),
        Node::group("options").with(options),
        Node::bytes("payload", segment.payload),
        Node::number("payload length", segment.payload_length).means("bytes"),
    ])
}

fn option(option: &Opt<'_>) -> Node {
    match option {
        Opt::MaximumSegmentSize(size) => Node::number("maximum segment size", *size),
        Opt::WindowScale(shift) => Node::number("window scale", *shift),
        Opt::SackPermitted => Node::group("SACK permitted"),
        Opt::Sack(sack) => {
            let blocks = sack.blocks().map(|(left, right)| format!("{left}-{right}"));
            Node::text("SACK", blocks.collect::<Vec<_>>().join(", "))
        }
        Opt::Timestamps { value, echo } => Node::group("timestamps")
            .with([Node::number("value", *value), Node::number("echo reply", *echo)]),
        Opt::Multipath(mptcp) => multipath(mptcp),
        Opt::Other { kind, value } => {
            Node::group("option").with([Node::number("kind", *kind), Node::bytes("value", value)])
        }
    }
}

fn multipath(option: &Mptcp<'_>) -> Node {
    let yes = |value: bool| if value { "yes" } else { "no" };
    let key = |name, key: u64| Node::text(name, format!("0x{key:016x}"));
    match option {
        Mptcp::Capable { version, flags, sender_key, receiver_key, data_length } => {
            let mut fields = vec![
                Node::number("version", *version),
                Node::text("flags", format!("0x{flags:02x}")),
            ];
            fields.extend(sender_key.map(|value| key("sender's key", value)));
            fields.extend(receiver_key.map(|value| key("receiver's key", value)));
            fields.extend(data_length.map(|length| Node::number("data length", length)));
            Node::group("MP_CAPABLE").with(fields)
        }
        Mptcp::Join { backup, address_id, token } => Node::group("MP_JOIN")
            .with([Node::text("backup", yes(*backup))])
            .with(address_id.map(|id| Node::number("address ID", id)))
            .with(token.map(|token| Node::text("token", format!("0x{token:08x}")))),
        Mptcp::Dss(dss) => data_sequence(dss),
        Mptcp::AddAddress { echo, address_id, address, port } => Node::group("ADD_ADDR")
            .with([
                Node::text("echo", yes(*echo)),
                Node::number("address ID", *address_id),
                Node::text("address", address),
            ])
            .with(port.map(|port| Node::number("port", port))),
        Mptcp::RemoveAddress { address_ids } => Node::group("REMOVE_ADDR")
            .with(address_ids.iter().map(|id| Node::number("address ID", *id))),
        Mptcp::Priority { backup, address_id } => Node::group("MP_PRIO")
            .with([Node::text("backup", yes(*backup))])
            .with(address_id.map(|id| Node::number("address ID", id))),
        Mptcp::Fail { data_sequence } => {
            Node::group("MP_FAIL").with([Node::number("data sequence number", *data_sequence)])
        }
        Mptcp::FastClose { receiver_key } => {
            Node::group("MP_FASTCLOSE").with([key("receiver's key", *receiver_key)])
        }
        Mptcp::Reset { flags, reason } => Node::group("MP_TCPRST").with([
            Node::text("flags", format!("0x{flags:02x}")),
            Node::number("reason", *reason).means(reset_reason(*reason)),
        ]),
        Mptcp::Other { subtype } => {
            Node::group("MPTCP option").with([Node::number("subtype", *subtype)])
        }
    }
}

fn data_sequence(dss: &Dss) -> Node {
    let node = Node::group("DSS")
        .with([Node::text("DATA_FIN", if dss.fin { "yes" } else { "no" })])
        .with(dss.data_ack.map(|ack| Node::number("data ACK", ack)));
    node.with(dss.mapping.iter().flat_map(|mapping| {
        [
            Node::number("data sequence number", mapping.data_sequence),
            Node::number("subflow sequence number", mapping.subflow_sequence),
            Node::number("data length", mapping.length),
        ]
    }))
}
