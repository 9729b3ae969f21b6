//! What becomes of an association when it closes: a row, or a count.

use super::Tracker;
use super::open::Entry;
use crate::ledger::{Ledger, ROWS};

/// Associations with fewer packets give way first: INIT and its eight retransmissions (RFC 9260
/// section 16) are nine packets. They are what floods and scans consist of.
const SLIGHT_PACKETS: u64 = 10;

/// What the associations of one capture may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Associations open at a time, at least 1.
    pub open: usize,
    /// Most rows of the associations table. Slight associations get up to three quarters of them,
    /// and those of which only one end was seen sending up to half.
    pub listed: usize,
    /// Most rows of each other table; of those that DATA fills four times as many.
    pub rows: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { open: 1 << 16, listed: 1 << 17, rows: ROWS }
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
    /// Associations without rows, the table being full of others.
    pub unlisted: u64,
}

impl Tracker {
    /// The tables, with all that is still open.
    pub fn finish(mut self) -> (Ledger, Census) {
        for slot in self.open.in_order() {
            self.close(slot);
        }
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
        let Entry { association, mut ledger, .. } = entry;
        association.finish(&mut ledger);
        let all = self.limits.listed;
        let packets = association.row(&mut ledger).packets;
        let most = if ledger.paths.is_empty() || ledger.addresses.is_empty() {
            0 // their tables are full: nothing could be said of it
        } else if packets >= SLIGHT_PACKETS {
            all
        } else if answered {
            all - all / 4
        } else {
            all / 2
        };
        if self.ledger.associations.len() < most {
            self.ledger.absorb(ledger);
        } else {
            self.census.unlisted += 1;
            self.ledger.drop_unlisted(ledger);
        }
    }

    /// No row names an association that has none.
    fn drop_dangling(&mut self) {
        let Ledger { associations, icmp, .. } = &mut self.ledger;
        let numbers: Vec<u32> = associations.iter().map(|row| row.association).collect();
        let unlisted = |number: &mut u32| numbers.binary_search(number).is_err();
        for row in associations {
            row.restart_of.take_if(unlisted);
        }
        for row in icmp {
            row.association.take_if(unlisted);
        }
    }
}
