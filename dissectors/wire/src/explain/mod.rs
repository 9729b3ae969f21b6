//! One frame, layer by layer, for people: every header, chunk, parameter and cause by its RFC's
//! name, with its values. Nothing is parsed here: the decoder says which headers it passed, and
//! the views of [`crate::sctp`], [`crate::tcp`], [`crate::udp`] and [`crate::icmp`] what is in
//! the packet.

mod find;
mod ip;
mod link;
mod node;
mod parameter;
mod sctp;
mod tcp;
mod transport;
mod tunnel;

pub use find::{Explained, explain};
pub use node::{Node, Value};

use crate::container::Record;
use crate::packet::trace::{Passed, Step};
use crate::packet::{Decoder, Found, Skip};

/// The layers of a record, outermost first. `decoder` has seen the fragments before it.
fn layers(decoder: &mut Decoder, record: &Record<'_>) -> (Vec<Node>, Vec<Step>) {
    let mut steps = Vec::new();
    let found = decoder.trace(
        record.link_type,
        record.time_ns,
        record.data,
        record.wire_length,
        &mut steps,
    );
    let mut layers = vec![frame(record)];
    if steps.is_empty() && !record.data.is_empty() {
        // The decoder has found nothing behind the link's header, or not the end of that.
        let captured = u32::try_from(record.data.len()).unwrap_or(u32::MAX);
        layers.push(link::link(record.link_type, record.data).at(0, captured));
    }
    layers.extend(steps.iter().filter_map(layer));
    layers.push(match &found {
        Found::Sctp(packet) => sctp::packet(packet),
        Found::Tcp(datagram) => tcp::segment(datagram),
        Found::Udp(datagram) => transport::udp(datagram),
        Found::Icmp(datagram) => transport::icmp(datagram),
        Found::Skip(skip) => Node::text("not read further", reason(*skip)),
        Found::Problem(problem) => Node::problem(problem),
    });
    (layers, steps)
}

fn reason(skip: Skip) -> &'static str {
    match skip {
        Skip::FragmentHeld => "a fragment: the rest of its datagram is in other frames",
        other => other.name(),
    }
}

fn frame(record: &Record<'_>) -> Node {
    let captured = u32::try_from(record.data.len()).unwrap_or(u32::MAX);
    let mut fields = vec![
        Node::number("number", record.frame),
        Node::number("time", record.time_ns).means("ns since 1970"),
        Node::number("captured", captured).means("bytes"),
        Node::number("on the wire", record.wire_length).means("bytes"),
    ];
    fields.extend(record.interface_name.map(|name| Node::text("interface", name)));
    fields.extend(record.comments.iter().map(|comment| Node::text("comment", comment)));
    Node::group("Frame").at(0, captured).with(fields)
}

/// A header that was passed; None where there are no bytes to it.
fn layer(step: &Step) -> Option<Node> {
    let length = u32::try_from(step.bytes.len()).unwrap_or(u32::MAX);
    let node = match &step.passed {
        _ if step.bytes.is_empty() => return None,
        Passed::Link(link_type) => link::link(*link_type, &step.bytes),
        Passed::Ethernet => link::ethernet(&step.bytes),
        Passed::Ip { protocol, fragment } => ip::ip(&step.bytes, *protocol, *fragment),
        Passed::Reassembled { frames } => {
            let list = frames.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            Node::group("Reassembled datagram")
                .means("offsets count from its start")
                .with([Node::text("frames", list), Node::number("payload", length).means("bytes")])
        }
        Passed::Udp => transport::udp_header(&step.bytes),
        Passed::Tunnel(kind) => tunnel::tunnel(*kind, &step.bytes),
    };
    Some(node.at(step.offset, length))
}

#[cfg(test)]
mod tests;
