//! What becomes of an association when it closes: a row, or a count.

use super::Tracker;
use super::open::Entry;
use crate::ledger::{AssociationRow, Ledger, ROOM_BYTES};

/// Associations with fewer packets may be slight: INIT and its eight retransmissions (RFC 9260
/// section 16) are nine packets.
const SLIGHT_PACKETS: u64 = 10;

/// What the associations of one capture may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Associations open at a time, at least 1.
    pub open: usize,
    /// Most associations listed.
    pub listed: usize,
    /// Of them, most slight ones: of a few packets, and either only one end was seen sending or
    /// INIT was never followed by COOKIE ACK. Floods and scans consist of them.
    pub slight: usize,
    /// Most bytes of their rows, and of what they remember beyond a few paths and chunks.
    pub room_bytes: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { open: 1 << 16, listed: 1 << 16, slight: 1 << 12, room_bytes: ROOM_BYTES }
    }
}

/// Counts of a whole capture. They are complete, while the tables are bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Associations seen.
    pub seen: u64,
    /// Associations forgotten to make room for others before the capture ended: a later packet of
    /// theirs began a new one.
    pub evicted: u64,
    /// Associations without rows, others having been listed before them.
    pub unlisted: u64,
}

impl Tracker {
    /// Nothing more comes: closes the associations that are still open.
    pub fn close_all(&mut self) {
        for slot in self.open.in_order() {
            self.close(slot);
        }
    }

    /// The tables, with all that is still open.
    pub fn finish(mut self) -> (Ledger, Census) {
        self.close_all();
        self.ledger.order_by_association();
        self.drop_dangling();
        (self.ledger, self.census)
    }

    /// Closes an association to make room for another.
    pub(super) fn evict(&mut self, slot: usize) {
        if let Some(Entry { association, ledger, .. }) = self.open.get_mut(slot) {
            let row = association.row(ledger);
            if row.end == "open" {
                row.end = "idle";
            }
        }
        self.census.evicted += 1;
        self.close(slot);
    }

    /// Forgets an association, and lists it if it is worth its row.
    pub(super) fn close(&mut self, slot: usize) {
        let Some(entry) = self.open.remove(slot) else { return };
        for key in &entry.association.keys {
            if self.routes.get(key).is_some_and(|route| route.slot == slot) {
                self.routes.remove(key);
            }
        }
        for ends in entry.association.proven() {
            if let Some(ways) = self.proven.get_mut(&ends) {
                *ways -= 1;
                if *ways == 0 {
                    self.proven.remove(&ends);
                }
            }
        }
        self.list(entry);
    }

    fn list(&mut self, entry: Entry) {
        let answered = entry.was_answered();
        let Entry { mut association, mut ledger, .. } = entry;
        association.finish(&mut ledger);
        self.ledger.take_messages(&mut ledger);
        let slight = is_slight(association.row(&mut ledger), answered);
        let full = self.ledger.associations.len() >= self.limits.listed
            || (slight && self.slight >= self.limits.slight);
        // Where there was no room for a path, and so for its addresses, there is nothing to be said.
        if full || ledger.paths.is_empty() {
            self.census.unlisted += 1;
            self.ledger.drop_unlisted(ledger);
        } else {
            self.slight += usize::from(slight);
            self.ledger.absorb(ledger);
        }
    }

    /// No row names an association that has none.
    fn drop_dangling(&mut self) {
        let associations = &mut self.ledger.associations;
        let numbers: Vec<u32> = associations.iter().map(|row| row.association).collect();
        let unlisted = |number: &mut u32| numbers.binary_search(number).is_err();
        for row in associations {
            row.restart_of.take_if(unlisted);
        }
        for row in &mut self.ledger.of_flows_mut().icmp {
            row.association.take_if(unlisted);
        }
    }
}

fn is_slight(row: &AssociationRow, answered: bool) -> bool {
    let was_set_up = row.init_ns.is_none() || row.established_ns.is_some();
    row.packets < SLIGHT_PACKETS && !(answered && was_set_up)
}
