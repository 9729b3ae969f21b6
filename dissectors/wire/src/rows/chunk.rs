//! One row of the streamed chunk table.

use super::list;
use crate::address::Address;
use crate::ledger::ChunkRow;
use crate::sctp::{Checksum, Chunk, chunk};
use crate::track::Seen;
use crate::track::standing::{Kind, Standing};

/// Everything the chunk says; fields that cannot be read stay absent (the pass reports why).
pub fn chunk_row(
    seen: &Seen<'_>,
    standing: &Standing,
    chunk: &Chunk<'_>,
    index: usize,
    transmission: Option<u32>,
) -> ChunkRow {
    let mut row = ChunkRow {
        frame: seen.moment.frame,
        time_ns: seen.moment.time_ns,
        interface: seen.interface.map(str::to_string),
        source: seen.source,
        destination: seen.destination,
        source_port: seen.header.source_port,
        destination_port: seen.header.destination_port,
        verification_tag: seen.header.verification_tag,
        checksum: match seen.verdict.checksum {
            Checksum::Valid => "valid",
            Checksum::ZeroOnWire => "zero",
            Checksum::Adler32 => "adler32",
            Checksum::Bad { .. } => "bad",
            Checksum::NotCheckable => "unchecked",
            Checksum::Simulated => "none",
        },
        association: standing.association,
        sender: standing.sender.map(|end| end.name()),
        path: standing.path,
        index: u16::try_from(index).unwrap_or(u16::MAX),
        offset: chunk.offset,
        chunk_type: chunk.kind,
        chunk_name: chunk::name(chunk.kind),
        flags: chunk.flags,
        length: chunk.length,
        truncated: chunk.truncated,
        transmission,
        duplicate_frame: standing.kind == Kind::Copy,
        ..Default::default()
    };
    fill(&mut row, chunk);
    if seen.is_simulated() {
        forget_what_no_trace_says(&mut row);
    }
    row
}

/// Tags, windows and streams asked for.
fn forget_what_no_trace_says(row: &mut ChunkRow) {
    row.a_rwnd = None;
    row.initiate_tag = None;
    row.initial_tsn = None;
    (row.outbound_streams, row.inbound_streams) = (None, None);
}

fn fill(row: &mut ChunkRow, chunk: &Chunk<'_>) {
    match chunk.kind {
        chunk::DATA | chunk::I_DATA => {
            if let Ok(data) = chunk.data() {
                row.tsn = Some(data.tsn);
                row.stream = Some(data.stream);
                row.sequence = Some(data.sequence);
                row.ppid = data.ppid;
                row.fragment_sequence = data.interleaved.then_some(data.fragment);
                row.user_bytes = Some(data.user_length);
            }
        }
        chunk::SACK | chunk::NR_SACK => {
            if let Ok(sack) = chunk.sack() {
                row.cumulative_tsn = Some(sack.cumulative_tsn);
                row.a_rwnd = Some(sack.a_rwnd);
                let blocks = sack.gaps().chain(sack.nr_gaps());
                row.gaps = list(blocks.map(|(start, end)| format!("{start}-{end}")), ",");
                row.duplicates = list(sack.duplicates().map(|tsn| tsn.to_string()), ",");
            }
        }
        chunk::INIT | chunk::INIT_ACK => {
            if let Ok(init) = chunk.init() {
                row.initiate_tag = Some(init.tag);
                row.a_rwnd = Some(init.a_rwnd);
                row.outbound_streams = Some(init.outbound_streams);
                row.inbound_streams = Some(init.inbound_streams);
                row.initial_tsn = Some(init.initial_tsn);
                let parameters = || init.params.clone().flatten();
                row.parameters = list(parameters().map(|p| p.kind.to_string()), ",");
                row.addresses = addresses(parameters().filter_map(|p| p.address()));
            }
        }
        chunk::ASCONF => {
            if let Ok(asconf) = chunk.asconf() {
                row.serial = Some(asconf.serial);
                let requests = || asconf.requests.clone().flatten();
                row.parameters = list(requests().map(|r| r.kind.to_string()), ",");
                let asked = requests().filter_map(|r| r.address);
                row.addresses = addresses(asconf.address.into_iter().chain(asked));
            }
        }
        chunk::ASCONF_ACK => {
            if let Ok(ack) = chunk.asconf_ack() {
                row.serial = Some(ack.serial);
                let responses = || ack.responses.clone().flatten();
                row.parameters = list(responses().map(|r| r.kind.to_string()), ",");
                row.causes =
                    list(responses().filter_map(|r| r.cause).map(|code| code.to_string()), ",");
            }
        }
        chunk::ABORT | chunk::ERROR => {
            row.causes = list(chunk.causes().flatten().map(|cause| cause.code.to_string()), ",");
        }
        chunk::SHUTDOWN => row.cumulative_tsn = chunk.shutdown().ok(),
        chunk::ECNE | chunk::CWR => row.tsn = chunk.ecn_tsn().ok(),
        chunk::FORWARD_TSN | chunk::I_FORWARD_TSN => {
            row.cumulative_tsn = chunk.forward_tsn().ok().map(|f| f.new_cumulative_tsn);
        }
        chunk::RE_CONFIG => {
            let parameters = chunk.re_config().flatten();
            row.parameters = list(parameters.map(|p| p.kind.to_string()), ",");
        }
        _ => {}
    }
}

fn addresses(found: impl Iterator<Item = Address>) -> Option<String> {
    list(found.map(|address| address.to_string()), ";")
}
