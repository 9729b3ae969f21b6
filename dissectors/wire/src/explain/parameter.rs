//! Chunk parameters and error causes.

use super::Node;
use super::sctp::trouble;
use crate::address::Address;
use crate::packet::bytes::be32;
use crate::sctp::asconf::{Requests, Responses};
use crate::sctp::reconfig::{Reconfig, result_name};
use crate::sctp::{Cause, Causes, Param, Params, cause, chunk, param};

/// The parameters of a value that begins at `value` in the record; `base` is the packet's start.
pub(super) fn parameters(params: Params<'_>, value: u32, base: u32) -> Vec<Node> {
    params
        .map(|param| match param {
            Ok(param) => parameter(&param, value),
            Err(problem) => trouble(&problem, base),
        })
        .collect()
}

fn parameter(param: &Param<'_>, value: u32) -> Node {
    Node::group(named(param.name(), "unknown parameter"))
        .at(value.saturating_add(param.offset), param.length.into())
        .with([kind(param.kind), Node::number("length", param.length)])
        .with(contents(param))
}

fn named(name: &'static str, unknown: &'static str) -> &'static str {
    if name == "unknown" { unknown } else { name }
}

fn kind(kind: u16) -> Node {
    Node::text("type", format!("0x{kind:04x}"))
}

fn contents(param: &Param<'_>) -> Vec<Node> {
    if let Some(address) = param.address() {
        return addresses(Some(address)).collect();
    }
    if let Some(reconfig) = param.reconfig() {
        return reconfiguration(&reconfig);
    }
    let value = param.value;
    let number = value.first_chunk::<4>().filter(|_| value.len() == 4).map(be32::<0, 4>);
    match (param.kind, number) {
        (param::COOKIE_PRESERVATIVE, Some(ms)) => vec![Node::number("increment", ms).means("ms")],
        (param::ADAPTATION_LAYER_INDICATION, Some(code)) => vec![Node::number("code point", code)],
        (param::ZERO_CHECKSUM_ACCEPTABLE, Some(method)) => {
            vec![Node::number("error detection method", method)]
        }
        (param::SUPPORTED_EXTENSIONS | param::CHUNK_LIST, _) => {
            vec![Node::text("chunk types", list(value.iter().map(|kind| chunk::name(*kind))))]
        }
        (param::SUPPORTED_ADDRESS_TYPES, _) => {
            vec![Node::text("address types", list(words(value).map(param::name)))]
        }
        (param::REQUESTED_HMAC_ALGORITHM, _) => {
            vec![Node::text("HMAC identifiers", list(words(value)))]
        }
        _ if value.is_empty() => Vec::new(),
        _ => vec![Node::bytes("value", value)],
    }
}

fn words(value: &[u8]) -> impl Iterator<Item = u16> {
    value.as_chunks::<2>().0.iter().map(|word| u16::from_be_bytes(*word))
}

fn reconfiguration(reconfig: &Reconfig<'_>) -> Vec<Node> {
    let request = |number: u32| Node::number("request sequence number", number);
    match reconfig {
        Reconfig::OutgoingReset { request: number, response, last_tsn, streams } => vec![
            request(*number),
            Node::number("response sequence number", *response),
            Node::number("last assigned TSN", *last_tsn),
            Node::text("streams", every(list(streams.iter()))),
        ],
        Reconfig::IncomingReset { request: number, streams } => {
            vec![request(*number), Node::text("streams", every(list(streams.iter())))]
        }
        Reconfig::SsnTsnReset { request: number } => vec![request(*number)],
        Reconfig::AddOutgoing { request: number, new_streams }
        | Reconfig::AddIncoming { request: number, new_streams } => {
            vec![request(*number), Node::number("new streams", *new_streams)]
        }
        Reconfig::Response { request: number, result, next_tsns } => {
            let mut nodes =
                vec![request(*number), Node::number("result", *result).means(result_name(*result))];
            if let Some((sender, receiver)) = next_tsns {
                nodes.push(Node::number("sender's next TSN", *sender));
                nodes.push(Node::number("receiver's next TSN", *receiver));
            }
            nodes
        }
    }
}

/// An empty list of streams stands for all of them (RFC 6525 section 4).
fn every(streams: String) -> String {
    if streams.is_empty() { "all".to_string() } else { streams }
}

pub(super) fn requests(requests: Requests<'_>, base: u32) -> Vec<Node> {
    requests
        .map(|request| match request {
            Ok(request) => Node::group(named(param::name(request.kind), "unknown parameter"))
                .with([kind(request.kind), Node::number("correlation ID", request.correlation)])
                .with(addresses(request.address)),
            Err(problem) => trouble(&problem, base),
        })
        .collect()
}

pub(super) fn responses(responses: Responses<'_>, base: u32) -> Vec<Node> {
    responses
        .map(|response| match response {
            Ok(response) => Node::group(named(param::name(response.kind), "unknown parameter"))
                .with([kind(response.kind), Node::number("correlation ID", response.correlation)])
                .with(causes(response.causes, base)),
            Err(problem) => trouble(&problem, base),
        })
        .collect()
}

pub(super) fn causes(causes: Causes<'_>, base: u32) -> Vec<Node> {
    causes
        .map(|cause| match cause {
            Ok(cause) => explain_cause(&cause, base),
            Err(problem) => trouble(&problem, base),
        })
        .collect()
}

fn explain_cause(cause: &Cause<'_>, base: u32) -> Node {
    let node = Node::group(named(cause.name(), "unknown cause"))
        .with([Node::number("code", cause.code), Node::number("length", cause.length)]);
    let value = cause.value;
    let params = parameters(cause.params(), base.saturating_add(cause.base()), base);
    if !params.is_empty() {
        return node.with(params);
    }
    let told = match (cause.code, value) {
        (cause::INVALID_STREAM_IDENTIFIER, &[a, b, ..]) => {
            Node::number("stream", u16::from_be_bytes([a, b]))
        }
        (cause::STALE_COOKIE, &[a, b, c, d]) => {
            Node::number("staleness", u32::from_be_bytes([a, b, c, d])).means("us")
        }
        (cause::NO_USER_DATA, &[a, b, c, d]) => {
            Node::number("TSN", u32::from_be_bytes([a, b, c, d]))
        }
        (cause::MISSING_MANDATORY_PARAMETER, [_, _, _, _, kinds @ ..]) => {
            Node::text("missing", list(words(kinds).map(param::name)))
        }
        (cause::USER_INITIATED_ABORT | cause::PROTOCOL_VIOLATION, text)
            if !text.is_empty() && text.iter().all(|byte| (b' '..=b'~').contains(byte)) =>
        {
            Node::text("reason", String::from_utf8_lossy(text))
        }
        (_, []) => return node,
        _ => Node::bytes("value", value),
    };
    node.with([told])
}

pub(super) fn addresses(address: Option<Address>) -> impl Iterator<Item = Node> {
    address.into_iter().map(|address| Node::text("address", address))
}

pub(super) fn list<T: ToString>(words: impl Iterator<Item = T>) -> String {
    words.map(|word| word.to_string()).collect::<Vec<_>>().join(", ")
}
