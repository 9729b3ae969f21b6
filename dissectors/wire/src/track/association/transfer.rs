//! DATA and SACK of an association: to its senders, its messages, and what is told of its receivers.

use super::{Association, Outcome};
use crate::ledger::Ledger;
use crate::problem::{Kind, Layer, Problem};
use crate::sctp::data::Data;
use crate::sctp::sack::Sack;
use crate::track::acknowledging::{Acknowledging, Answer};
use crate::track::oddity::{kind, note};
use crate::track::path::Place;
use crate::track::window::Window;

/// One end as a receiver.
#[derive(Default)]
pub struct Receiver {
    pub acknowledging: Acknowledging,
    window: Window,
}

impl Association {
    pub(super) fn data(
        &mut self,
        data: &Data<'_>,
        offset: u32,
        at: &Place,
        ledger: &mut Ledger,
        outcome: &mut Outcome,
    ) {
        let (end, receiver) = (at.sender as usize, at.sender.other() as usize);
        let sender = &mut self.senders[end];
        let transmission = sender.data(data, at, &mut self.paths, ledger);
        outcome.transmission = Some(transmission);
        if transmission == 1 {
            let odd = self.messages[end].data(data, at, sender, ledger);
            outcome.problem = odd.map(|problem| problem.at(offset as usize));
        }
        if let Some(own) = &mut self.receivers[end] {
            own.acknowledging.own_data(at);
        }
        let receiver = self.receivers[receiver].get_or_insert_default();
        receiver.acknowledging.data(transmission == 1 && !data.immediate, at);
        if receiver.window.is_closed() && sender.has_one_out() {
            receiver.window.probed(at, ledger);
        }
    }

    /// `a_rwnd` is the window it advertises, where that is known.
    pub(super) fn sack(
        &mut self,
        sack: &Sack<'_>,
        a_rwnd: Option<u32>,
        offset: u32,
        at: &Place,
        ledger: &mut Ledger,
        outcome: &mut Outcome,
    ) {
        let receiver = at.sender as usize;
        if let Some(a_rwnd) = a_rwnd {
            let bin = self.paths[at.path as usize].ways[receiver].bin(at, ledger);
            let least = bin.a_rwnd_min_bytes.map_or(a_rwnd, |min| min.min(a_rwnd));
            bin.a_rwnd_min_bytes = Some(least);
        }
        let way = &mut self.paths[at.path as usize].ways[receiver];
        way.sacks = way.sacks.wrapping_add(1);
        let sender = &mut self.senders[at.sender.other() as usize];
        if sender.sack(sack, at, &mut self.paths, ledger) {
            let path = Some(at.path);
            note(kind::DISORDERED_GAP_BLOCKS, at.sender, path, at.moment, ledger);
            outcome.problem = Some(Problem {
                kind: Kind::Malformed,
                layer: Layer::Chunk,
                offset,
                needed: 0,
                available: 0,
                what: "gap blocks overlap or are out of order",
            });
        }
        let answer = Answer {
            has_gaps: sack.gaps().len() + sack.nr_gaps().len() > 0,
            packets: sender.acked_packets(),
            complete: sender.is_idle(),
        };
        let receiver = self.receivers[receiver].get_or_insert_default();
        receiver.acknowledging.sack(&answer, at, ledger);
        if let Some(a_rwnd) = a_rwnd {
            receiver.window.advertised(a_rwnd, at, ledger);
        }
    }
}
