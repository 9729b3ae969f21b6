//! Questions and their answers: HEARTBEAT with HEARTBEAT ACK, ASCONF with ASCONF-ACK.

use std::collections::VecDeque;
use std::hash::{BuildHasher, RandomState};

use super::End;
use super::path::{Path, Place};
use crate::address::Address;
use crate::ledger::{AsconfRow, HeartbeatRow, Ledger};
use crate::problem::Problem;
use crate::sctp::asconf::{Asconf, AsconfAck};
use crate::sctp::{cause, param};

/// Questions remembered per end; the oldest is forgotten (its row stays as it is).
const PENDING: usize = 256;

/// HEARTBEATs waiting for their ACK, matched by the Heartbeat Info that the
/// receiver must return unchanged (RFC 9260 section 8.3).
#[derive(Default)]
pub struct Heartbeats {
    hasher: RandomState,
    pending: [VecDeque<(u64, usize)>; 2],
}

impl Heartbeats {
    pub fn sent(&mut self, info: &[u8], at: &Place, ledger: &mut Ledger) {
        let key = self.hasher.hash_one(info);
        let pending = &mut self.pending[at.sender as usize];
        let row = ledger.keep(HeartbeatRow {
            association: at.association,
            sender: at.sender.name(),
            path: at.path,
            time_ns: at.moment.time_ns,
            frame: at.moment.frame,
            ..Default::default()
        });
        let Some(row) = row else { return };
        if pending.len() >= PENDING {
            pending.pop_front();
        }
        pending.push_back((key, row));
    }

    pub fn answered(&mut self, info: &[u8], at: &Place, paths: &mut [Path], ledger: &mut Ledger) {
        let key = self.hasher.hash_one(info);
        let asker = at.sender.other();
        let pending = &mut self.pending[asker as usize];
        // The newest first: a sender that repeats its info means the latest one.
        let Some(index) = pending.iter().rposition(|&(sent, _)| sent == key) else { return };
        let Some((_, row)) = pending.remove(index) else { return };
        let row = &mut ledger.heartbeats[row];
        row.ack_ns = Some(at.moment.time_ns);
        row.ack_frame = Some(at.moment.frame);
        row.ack_path = Some(at.path);
        let rtt_ns = at.moment.time_ns.saturating_sub(row.time_ns);
        row.rtt_ns = Some(rtt_ns);
        let path = row.path;
        let way = &mut paths[path as usize].ways[asker as usize];
        way.consecutive_timeouts = 0;
        if let Ok(rtt_ns) = u64::try_from(rtt_ns) {
            way.heartbeat_rtt.sample(rtt_ns, ledger);
            way.rto_sample(rtt_ns, &Place { path, sender: asker, ..*at }, ledger);
        }
    }
}

/// An ASCONF and the rows of its requests.
struct Question {
    serial: u32,
    rows: Vec<usize>,
    answered: bool,
}

/// ASCONFs by serial number. Answered ones are remembered too: when the
/// ASCONF-ACK is lost behind the tap, both come again.
#[derive(Default)]
pub struct Reconfigurations {
    questions: [VecDeque<Question>; 2],
}

impl Reconfigurations {
    /// Each request parameter becomes a row; a repeated ASCONF counts on the rows it has.
    pub fn asked(
        &mut self,
        asconf: &Asconf<'_>,
        source: Address,
        at: &Place,
        ledger: &mut Ledger,
    ) -> Result<(), Problem> {
        let questions = &mut self.questions[at.sender as usize];
        if let Some(known) = questions.iter().find(|question| question.serial == asconf.serial) {
            for &row in &known.rows {
                ledger.asconf[row].transmissions += 1;
            }
            return Ok(());
        }
        let mut rows = Vec::new();
        let mut problem = None;
        for request in asconf.requests.clone() {
            let request = match request {
                Ok(request) => request,
                Err(found) => {
                    problem = Some(found);
                    break;
                }
            };
            // Only in a deletion is the wildcard more than "the source of this packet".
            let names_source = |address: &Address| {
                address.is_wildcard() && request.kind != param::DELETE_IP_ADDRESS
            };
            rows.extend(ledger.keep(AsconfRow {
                association: at.association,
                sender: at.sender.name(),
                path: at.path,
                serial: asconf.serial,
                request: request_name(request.kind),
                address: request.address.map(|a| if names_source(&a) { source } else { a }),
                correlation: request.correlation,
                time_ns: at.moment.time_ns,
                frame: at.moment.frame,
                transmissions: 1,
                outcome: "pending",
                ..Default::default()
            }));
        }
        if questions.len() >= PENDING {
            questions.pop_front();
        }
        questions.push_back(Question { serial: asconf.serial, rows, answered: false });
        problem.map_or(Ok(()), Err)
    }

    /// Settles the rows of an ASCONF. What the ACK does not mention has succeeded,
    /// unless a request before it failed (RFC 5061 section 5.1, A7 and A8). Returns the rows.
    pub fn answered(&mut self, ack: &AsconfAck<'_>, at: &Place, ledger: &mut Ledger) -> Vec<usize> {
        let questions = &mut self.questions[at.sender.other() as usize];
        let open = questions.iter_mut().find(|question| question.serial == ack.serial);
        let Some(question) = open.filter(|question| !question.answered) else { return Vec::new() };
        question.answered = true;
        let mut unmentioned = "success";
        for &row in &question.rows {
            let row = &mut ledger.asconf[row];
            row.ack_ns = Some(at.moment.time_ns);
            row.ack_frame = Some(at.moment.frame);
            let response =
                ack.responses.clone().flatten().find(|r| r.correlation == row.correlation);
            row.outcome = match response {
                Some(response) if response.kind == param::ERROR_CAUSE_INDICATION => {
                    row.cause = response.cause;
                    row.cause_name = response.cause.map(cause::name);
                    unmentioned = "error";
                    "error"
                }
                Some(_) => "success",
                None => unmentioned,
            };
        }
        question.rows.clone()
    }
}

fn request_name(kind: u16) -> String {
    match kind {
        param::ADD_IP_ADDRESS => "add".to_string(),
        param::DELETE_IP_ADDRESS => "delete".to_string(),
        param::SET_PRIMARY_ADDRESS => "set-primary".to_string(),
        _ => format!("{kind:#06x}"),
    }
}

impl End {
    pub const BOTH: [End; 2] = [End::A, End::B];
}
