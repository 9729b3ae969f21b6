//! Rows for the chunks that steer an association, with what they say in words.

use hashbrown::HashSet;

use super::End;
use super::path::Place;
use crate::ledger::{AssociationRow, ControlRow, Ledger};
use crate::problem::Problem;
use crate::sctp::setup::Init;
use crate::sctp::{Chunk, cause, chunk, param};

/// What INIT and INIT ACK say about the end that sends them.
pub fn record_init(init: &Init<'_>, kind: u8, at: &Place, row: &mut AssociationRow) {
    if kind == chunk::INIT {
        row.init_ns.get_or_insert(at.moment.time_ns);
    }
    let extensions = extensions(init);
    let zero_checksum_method =
        init.params.clone().flatten().find_map(|parameter| parameter.error_detection_method());
    match at.sender {
        End::A => {
            row.a_outbound_streams = Some(init.outbound_streams);
            row.a_inbound_streams = Some(init.inbound_streams);
            row.a_initial_rwnd_bytes = Some(init.a_rwnd);
            row.a_initial_tsn = Some(init.initial_tsn);
            row.a_extensions = extensions;
            row.a_zero_checksum_method = zero_checksum_method;
        }
        End::B => {
            row.b_outbound_streams = Some(init.outbound_streams);
            row.b_inbound_streams = Some(init.inbound_streams);
            row.b_initial_rwnd_bytes = Some(init.a_rwnd);
            row.b_initial_tsn = Some(init.initial_tsn);
            row.b_extensions = extensions;
            row.b_zero_checksum_method = zero_checksum_method;
        }
    }
}

/// Announced extensions, each once: chunk types of Supported Extensions (RFC 5061 section
/// 4.2.7), and parameters that are an announcement by themselves.
fn extensions(init: &Init<'_>) -> String {
    let mut names: Vec<&'static str> = Vec::new();
    for parameter in init.params.clone().flatten() {
        match parameter.kind {
            param::SUPPORTED_EXTENSIONS => {
                names.extend(parameter.value.iter().map(|&kind| chunk::name(kind)));
            }
            param::ECN_CAPABLE
            | param::ZERO_CHECKSUM_ACCEPTABLE
            | param::FORWARD_TSN_SUPPORTED
            | param::RANDOM
            | param::CHUNK_LIST
            | param::REQUESTED_HMAC_ALGORITHM
            | param::ADAPTATION_LAYER_INDICATION => names.push(param::name(parameter.kind)),
            _ => {}
        }
    }
    let mut seen = HashSet::new();
    names.retain(|name| seen.insert(*name));
    names.join(", ")
}

/// One row for a control chunk; chunks that only carry bytes along have none.
/// `is_simulated` says that INIT and INIT ACK have no fields.
pub fn record(
    chunk: &Chunk<'_>,
    at: &Place,
    is_simulated: bool,
    ledger: &mut Ledger,
) -> Result<(), Problem> {
    let mut codes = Vec::new();
    let mut problem = None;
    let detail = match chunk.kind {
        chunk::INIT | chunk::INIT_ACK if is_simulated => String::new(),
        chunk::INIT | chunk::INIT_ACK => {
            let init = chunk.init()?;
            problem = init.params.clone().find_map(Result::err);
            format!(
                "tag {:#010x}, {} out and {} in streams, window {} bytes, first TSN {}",
                init.tag,
                init.outbound_streams,
                init.inbound_streams,
                init.a_rwnd,
                init.initial_tsn
            )
        }
        chunk::ABORT | chunk::ERROR => {
            let mut words = Vec::new();
            for found in chunk.causes() {
                match found {
                    Ok(found) => {
                        codes.push(found.code.to_string());
                        words.push(cause::name(found.code));
                    }
                    Err(found) => problem = Some(found),
                }
            }
            words.join("; ")
        }
        chunk::RE_CONFIG => {
            let mut words = Vec::new();
            for found in chunk.re_config() {
                match found {
                    Ok(found) => {
                        codes.push(found.kind.to_string());
                        words.push(param::name(found.kind));
                    }
                    Err(found) => problem = Some(found),
                }
            }
            words.join("; ")
        }
        chunk::SHUTDOWN => format!("cumulative TSN {}", chunk.shutdown()?),
        chunk::ECNE | chunk::CWR => format!("lowest TSN {}", chunk.ecn_tsn()?),
        chunk::FORWARD_TSN | chunk::I_FORWARD_TSN => {
            format!("new cumulative TSN {}", chunk.forward_tsn()?.new_cumulative_tsn)
        }
        chunk::COOKIE_ECHO | chunk::COOKIE_ACK | chunk::SHUTDOWN_ACK | chunk::SHUTDOWN_COMPLETE => {
            String::new()
        }
        chunk::AUTH => return chunk.auth().map(drop),
        _ => return Ok(()),
    };
    ledger.keep(ControlRow {
        association: at.association,
        sender: at.sender.name(),
        path: at.path,
        time_ns: at.moment.time_ns,
        frame: at.moment.frame,
        chunk: chunk::name(chunk.kind),
        codes: codes.join(","),
        detail,
    });
    problem.map_or(Ok(()), Err)
}
