//! SCTP: the common header with the verdict on its checksum, and every chunk.

use super::Node;
use super::node::flags;
use super::parameter::{addresses, causes, list, parameters, requests, responses};
use crate::packet::Packet;
use crate::problem::Problem;
use crate::sctp::chunk::{
    self, FLAG_BEGINNING, FLAG_ENDING, FLAG_IMMEDIATE, FLAG_TAG_REFLECTED, FLAG_UNORDERED,
};
use crate::sctp::{Checksum, Chunk, parse, verify};

const OF_DATA: [(u8, &str); 4] = [
    (FLAG_BEGINNING, "beginning"),
    (FLAG_ENDING, "ending"),
    (FLAG_UNORDERED, "unordered"),
    (FLAG_IMMEDIATE, "acknowledge at once"),
];
const OF_ENDS: [(u8, &str); 1] = [(FLAG_TAG_REFLECTED, "verification tag reflected")];

pub(super) fn packet(packet: &Packet<'_>) -> Node {
    let node = Node::group("SCTP").at(packet.sctp_offset, packet.sctp_length);
    let base = packet.sctp_offset;
    let (header, chunks) = match parse(packet.sctp, packet.sctp_length) {
        Ok(parsed) => parsed,
        Err(problem) => return node.with([trouble(&problem, base)]),
    };
    let verdict = verify(packet.sctp, &header, packet.sctp_length).checksum;
    // As tshark and the RFC show it: the bytes in their order on the wire.
    let checksum = format!("0x{:08x}", header.checksum.swap_bytes());
    let meaning = match verdict {
        Checksum::Bad { computed } => {
            format!("bad: CRC32c is 0x{:08x}", computed.swap_bytes())
        }
        other => other.name().to_string(),
    };
    let chunks = chunks.map(|chunk| match chunk {
        Ok(chunk) => explain(&chunk, base),
        Err(problem) => trouble(&problem, base),
    });
    node.with([
        Node::number("source port", header.source_port),
        Node::number("destination port", header.destination_port),
        Node::text("verification tag", format!("0x{:08x}", header.verification_tag)),
        Node::text("checksum", checksum).means(meaning),
    ])
    .with(chunks)
}

/// Problems of chunks and parameters count from the start of the SCTP packet.
pub(super) fn trouble(problem: &Problem, base: u32) -> Node {
    Node::problem(&problem.clone().at(base as usize))
}

fn explain(chunk: &Chunk<'_>, base: u32) -> Node {
    let names: &[_] = match chunk.kind {
        chunk::DATA | chunk::I_DATA => &OF_DATA,
        chunk::ABORT | chunk::SHUTDOWN_COMPLETE => &OF_ENDS,
        _ => &[],
    };
    let bits = Node::text("flags", format!("0x{:02x}", chunk.flags));
    let head = [
        Node::number("type", chunk.kind),
        if names.is_empty() { bits } else { bits.means(flags(chunk.flags, names)) },
        Node::number("length", chunk.length),
    ];
    let node = Node::group(match chunk.name() {
        "unknown" => "unknown chunk",
        name => name,
    });
    let node = node.at(base.saturating_add(chunk.offset), chunk.length.into()).with(head);
    match fields(chunk, base) {
        Ok(fields) => node.with(fields),
        Err(problem) => node.with([trouble(&problem, base)]),
    }
}

fn fields(chunk: &Chunk<'_>, base: u32) -> Result<Vec<Node>, Problem> {
    // Of the chunk's value, in the record.
    let value = base.saturating_add(chunk.offset).saturating_add(4);
    Ok(match chunk.kind {
        chunk::DATA | chunk::I_DATA => data(chunk)?,
        chunk::SACK | chunk::NR_SACK => sack(chunk)?,
        chunk::INIT | chunk::INIT_ACK => {
            let init = chunk.init()?;
            let mut nodes = vec![
                Node::text("initiate tag", format!("0x{:08x}", init.tag)),
                Node::number("a_rwnd", init.a_rwnd).means("bytes"),
                Node::number("outbound streams", init.outbound_streams),
                Node::number("inbound streams", init.inbound_streams),
                Node::number("initial TSN", init.initial_tsn),
            ];
            nodes.extend(parameters(init.params, value, base));
            nodes
        }
        chunk::HEARTBEAT | chunk::HEARTBEAT_ACK => {
            vec![Node::bytes("Heartbeat Info", chunk.heartbeat_info()?)]
        }
        chunk::COOKIE_ECHO => vec![Node::bytes("cookie", chunk.cookie())],
        chunk::SHUTDOWN => vec![Node::number("cumulative TSN ack", chunk.shutdown()?)],
        chunk::ECNE | chunk::CWR => vec![Node::number("lowest TSN", chunk.ecn_tsn()?)],
        chunk::ABORT | chunk::ERROR => causes(chunk.causes(), base),
        chunk::AUTH => {
            let auth = chunk.auth()?;
            vec![
                Node::number("shared key identifier", auth.key_id),
                Node::number("HMAC identifier", auth.hmac_id),
                Node::bytes("HMAC", auth.hmac),
            ]
        }
        chunk::ASCONF => {
            let asconf = chunk.asconf()?;
            let mut nodes = vec![Node::number("serial number", asconf.serial)];
            nodes.extend(addresses(asconf.address));
            nodes.extend(requests(asconf.requests, base));
            nodes
        }
        chunk::ASCONF_ACK => {
            let ack = chunk.asconf_ack()?;
            let mut nodes = vec![Node::number("serial number", ack.serial)];
            nodes.extend(responses(ack.responses, base));
            nodes
        }
        chunk::RE_CONFIG => parameters(chunk.re_config(), value, base),
        chunk::FORWARD_TSN | chunk::I_FORWARD_TSN => forward(chunk)?,
        _ => vec![Node::bytes("value", chunk.value)],
    })
}

fn data(chunk: &Chunk<'_>) -> Result<Vec<Node>, Problem> {
    let data = chunk.data()?;
    let sequence = if data.interleaved { "message identifier" } else { "stream sequence number" };
    let mut nodes = vec![
        Node::number("TSN", data.tsn),
        Node::number("stream", data.stream),
        Node::number(sequence, data.sequence),
    ];
    if data.interleaved && !data.beginning {
        nodes.push(Node::number("fragment sequence number", data.fragment));
    }
    nodes.extend(data.ppid.map(|ppid| Node::number("payload protocol", ppid)));
    nodes.push(Node::number("user data length", data.user_length).means("bytes"));
    nodes.push(Node::bytes("user data", data.user));
    Ok(nodes)
}

fn sack(chunk: &Chunk<'_>) -> Result<Vec<Node>, Problem> {
    let sack = chunk.sack()?;
    let tsn = |offset: u16| sack.cumulative_tsn.wrapping_add(offset.into());
    let block = |name: &'static str| {
        move |(start, end)| {
            Node::text(name, format!("{start}-{end}")).means(format!(
                "TSN {} to {}",
                tsn(start),
                tsn(end)
            ))
        }
    };
    let mut nodes = vec![
        Node::number("cumulative TSN ack", sack.cumulative_tsn),
        Node::number("a_rwnd", sack.a_rwnd).means("bytes"),
    ];
    nodes.extend(sack.gaps().map(block("gap ack block")));
    nodes.extend(sack.nr_gaps().map(block("non-renegable gap ack block")));
    let duplicates = list(sack.duplicates());
    if sack.duplicates().len() > 0 {
        nodes.push(Node::text("duplicate TSNs", duplicates));
    }
    Ok(nodes)
}

fn forward(chunk: &Chunk<'_>) -> Result<Vec<Node>, Problem> {
    let forward = chunk.forward_tsn()?;
    let mut nodes = vec![Node::number("new cumulative TSN", forward.new_cumulative_tsn)];
    nodes.extend(forward.skipped().map(|skipped| {
        let node = Node::group("skipped").with([
            Node::number("stream", skipped.stream),
            Node::number("sequence", skipped.sequence),
        ]);
        if skipped.unordered { node.means("unordered") } else { node }
    }));
    Ok(nodes)
}
