//! How one end acknowledges: how many packets a SACK covers, and how long it waits with a SACK for
//! a packet that comes alone (RFC 9260 section 6.2).

use super::path::Place;
use super::{End, Moment};
use crate::ledger::{AcknowledgementRow, Ledger, LonePacketRow};

/// Most packets listed of those that came alone.
const LISTED: u64 = 1024;

#[derive(Default)]
pub struct Acknowledging {
    row: AcknowledgementRow,
    /// The packet of DATA seen last.
    packet: Option<u64>,
    /// That packet and its path, if it is new and does not ask for a SACK at once.
    lone: Option<(Moment, u32)>,
    /// Its SACK; DATA that follow in the same packet took it along.
    answered: Option<LonePacketRow>,
}

/// What a SACK says, to the point.
pub struct Answer {
    pub has_gaps: bool,
    /// Packets of new DATA that it acknowledges.
    pub packets: u32,
    /// Nothing is outstanding after it.
    pub complete: bool,
}

impl Acknowledging {
    /// A DATA chunk for this end. `plain`: it is new, and its I bit is not set.
    pub fn data(&mut self, plain: bool, at: &Place) {
        if self.packet == Some(at.moment.frame) {
            self.lone = self.lone.filter(|_| plain);
            return;
        }
        self.packet = Some(at.moment.frame);
        self.row.data_packets += 1;
        self.lone = plain.then_some((at.moment, at.path));
    }

    /// A DATA chunk of this end itself.
    pub fn own_data(&mut self, at: &Place) {
        self.answered = self.answered.take().filter(|row| row.sack_frame != at.moment.frame);
    }

    /// A SACK of this end.
    pub fn sack(&mut self, answer: &Answer, at: &Place, ledger: &mut Ledger) {
        self.list(ledger);
        self.row.sacks += 1;
        match answer {
            Answer { has_gaps: true, .. } => self.row.sacks_with_gaps += 1,
            Answer { packets: 0, .. } => {}
            Answer { packets: 1, .. } => self.row.sacks_of_one += 1,
            Answer { packets: 2, .. } => self.row.sacks_of_two += 1,
            Answer { .. } => self.row.sacks_of_more += 1,
        }
        let Some((sent, path)) = self.lone.take_if(|_| answer.complete) else { return };
        if answer.packets == 1 && !answer.has_gaps {
            self.answered = Some(LonePacketRow {
                association: at.association,
                sender: at.sender.name(),
                path,
                time_ns: sent.time_ns,
                frame: sent.frame,
                sack_ns: at.moment.time_ns,
                sack_frame: at.moment.frame,
                delay_ns: at.moment.time_ns.saturating_sub(sent.time_ns),
            });
        }
    }

    fn list(&mut self, ledger: &mut Ledger) {
        if let Some(row) = self.answered.take() {
            self.row.lone_packets += 1;
            if self.row.lone_packets <= LISTED {
                ledger.keep(row);
            }
        }
    }

    /// Nothing more comes.
    pub fn finish(&mut self, association: u32, end: End, ledger: &mut Ledger) {
        self.list(ledger);
        if self.row.sacks > 0 {
            self.row.association = association;
            self.row.sender = end.name();
            ledger.keep(std::mem::take(&mut self.row));
        }
    }
}
