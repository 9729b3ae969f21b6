//! How many rows the tables of associations may have, and how they come together.
//!
//! An open association writes into a ledger of its own, which is added to the
//! capture's when the association closes, or dropped when it is not worth
//! listing. All these ledgers share one room: a capture made to fill memory
//! fills no table beyond it, and what was not kept is counted by table.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::{
    AddressRow, AsconfRow, CommentRow, ControlRow, HeartbeatRow, IntervalRow, Ledger, PathRow,
    RetransmissionRow, RttRow, RunRow, SilenceRow, StallRow, TimeoutRow,
};

/// Most rows of a table, unless the caller says otherwise: far more than the hours of a
/// signalling link hold, and a few hundred megabytes at worst.
pub const ROWS: usize = 1 << 20;
/// Tables that DATA fills may have so many times as many: concurrent multipath transfer makes a
/// run a packet, and a busy day has a million bins.
const DATA: usize = 4;
/// An association with this many rows in a table gets no more of the table's last quarter: one
/// that fills a table does not keep the others out of it.
const FEW: usize = 256;
/// Most bytes of comments. They are the capture's own text, and it may be larger than memory.
const COMMENT_BYTES: usize = 1 << 26;

/// What all tables together have taken, and refused.
pub struct Room {
    rows: usize,
    taken: [AtomicUsize; TABLES.len()],
    refused: [AtomicU64; TABLES.len()],
}

impl Room {
    /// `rows` is the most rows of a table that DATA does not fill.
    pub fn new(rows: usize) -> Self {
        Room { rows, taken: Default::default(), refused: Default::default() }
    }

    /// Whether there may be one more row beside the association's `own`; counts it.
    fn grant<R: Bounded>(&self, own: usize) -> bool {
        let all = self.rows.saturating_mul(R::SHARE);
        let most = if own < FEW { all } else { all - all / 4 };
        let granted = self.taken[R::NUMBER].load(Relaxed) < most;
        if granted {
            self.taken[R::NUMBER].fetch_add(1, Relaxed);
        } else {
            self.refused[R::NUMBER].fetch_add(1, Relaxed);
        }
        granted
    }
}

impl Default for Room {
    fn default() -> Self {
        Room::new(ROWS)
    }
}

/// A row of a table that is bounded.
pub trait Bounded: Sized {
    /// Its table's number in the room.
    const NUMBER: usize;
    /// Its table's share, in units of the room's rows.
    const SHARE: usize;

    fn rows(ledger: &mut Ledger) -> &mut Vec<Self>;
}

macro_rules! bounded {
    ($($table:ident: $row:ident, share $share:expr;)+) => {
        #[expect(clippy::enum_variant_names, reason = "named after the rows they number")]
        enum Number { $($row),+ }

        const TABLES: &[&str] = &[$($row::TABLE),+];

        $(
            impl Bounded for $row {
                const NUMBER: usize = Number::$row as usize;
                const SHARE: usize = $share;

                fn rows(ledger: &mut Ledger) -> &mut Vec<Self> {
                    &mut ledger.$table
                }
            }
        )+

        impl Ledger {
            /// Adds the rows of an association that closed.
            pub fn absorb(&mut self, own: Ledger) {
                add(&mut self.associations, own.associations);
                $(add(&mut self.$table, own.$table);)+
            }

            /// Drops the rows of an association that closed: there is room for others again.
            pub fn drop_unlisted(&mut self, own: Ledger) {
                $(self.room.taken[$row::NUMBER].fetch_sub(own.$table.len(), Relaxed);)+
            }

            /// Puts the rows of associations in their order; within one they keep the order they
            /// were made in.
            pub fn order_by_association(&mut self) {
                order(&mut self.associations, |row| row.association);
                $(order(&mut self.$table, |row| row.association);)+
            }
        }
    };
}

bounded! {
    addresses: AddressRow, share 1;
    paths: PathRow, share 1;
    runs: RunRow, share DATA;
    retransmissions: RetransmissionRow, share DATA;
    timeouts: TimeoutRow, share 1;
    stalls: StallRow, share 1;
    heartbeats: HeartbeatRow, share 1;
    asconf: AsconfRow, share 1;
    control: ControlRow, share 1;
    intervals: IntervalRow, share DATA;
    rtt: RttRow, share 1;
    silences: SilenceRow, share 1;
}

impl Ledger {
    /// An empty ledger whose tables, and those of the ledgers beside it, share a room of `rows`.
    pub fn with_room(rows: usize) -> Ledger {
        Ledger { room: Arc::new(Room::new(rows)), ..Ledger::default() }
    }

    /// An empty ledger that takes its room from the same.
    pub fn beside(&self) -> Ledger {
        Ledger { room: Arc::clone(&self.room), ..Ledger::default() }
    }

    /// Adds a row while there is room; gives its number in this ledger.
    pub fn keep<R: Bounded>(&mut self, row: R) -> Option<usize> {
        let own = R::rows(self).len();
        if !self.room.grant::<R>(own) {
            return None;
        }
        let rows = R::rows(self);
        if own == 0 {
            // Most associations of a flood have one row in a table; a vector begins with four.
            rows.reserve_exact(1);
        }
        rows.push(row);
        Some(own)
    }

    pub fn keep_comment(&mut self, row: CommentRow) {
        let bytes = self.comment_bytes.saturating_add(row.text.len());
        if bytes > COMMENT_BYTES || self.comments.len() >= ROWS {
            self.unlisted_comments += 1;
        } else {
            self.comment_bytes = bytes;
            self.comments.push(row);
        }
    }

    /// Rows that were not kept because their table was full, by table.
    pub fn unlisted(&self) -> BTreeMap<&'static str, u64> {
        let refused = self.room.refused.iter().map(|count| count.load(Relaxed));
        let comments = (CommentRow::TABLE, self.unlisted_comments);
        let tables = TABLES.iter().copied().zip(refused).chain([comments]);
        tables.filter(|(_, count)| *count > 0).collect()
    }
}

fn add<R>(rows: &mut Vec<R>, mut own: Vec<R>) {
    if rows.is_empty() {
        *rows = own;
    } else {
        rows.append(&mut own);
    }
}

fn order<R>(rows: &mut [R], association: impl Fn(&R) -> u32) {
    if !rows.is_sorted_by_key(&association) {
        rows.sort_by_key(association);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::AssociationRow;

    fn stall(association: u32, tsn_before: u32) -> StallRow {
        StallRow { association, tsn_before, ..Default::default() }
    }

    fn all() -> Ledger {
        Ledger::with_room(1000)
    }

    #[test]
    fn a_table_that_is_full_refuses_and_counts() {
        let all = all();
        let mut ledgers: Vec<_> = (0..10).map(|_| all.beside()).collect();
        for ledger in &mut ledgers {
            for n in 0..200 {
                ledger.keep(stall(0, n));
            }
        }
        assert_eq!(ledgers.iter().map(|ledger| ledger.stalls.len()).sum::<usize>(), 1000);
        assert_eq!(all.unlisted(), BTreeMap::from([("stalls", 1000)]));
    }

    #[test]
    fn one_association_does_not_keep_the_others_out() {
        let all = all();
        let (mut hog, mut other) = (all.beside(), all.beside());
        let kept = (0..2000).filter_map(|n| hog.keep(stall(0, n))).count();
        assert_eq!((kept, hog.stalls.len()), (750, 750));
        assert_eq!((other.keep(stall(1, 0)), other.keep(stall(1, 1))), (Some(0), Some(1)));
        assert_eq!(all.unlisted()["stalls"], 1250);
        // The other tables are none of its business.
        assert_eq!(hog.keep(SilenceRow::default()), Some(0));
    }

    #[test]
    fn what_data_fills_has_four_times_the_room() {
        let mut own = all().beside();
        assert_eq!((0..9000).filter_map(|_| own.keep(RunRow::default())).count(), 3000);
    }

    #[test]
    fn dropped_rows_make_room() {
        let mut all = all();
        for n in 0..10 {
            let mut own = all.beside();
            assert_eq!((0..750).filter_map(|n| own.keep(stall(0, n))).count(), 750, "{n}");
            all.drop_unlisted(own);
        }
        assert!(all.stalls.is_empty() && all.unlisted().is_empty());
    }

    #[test]
    fn rows_come_in_the_order_of_their_associations() {
        let mut all = all();
        for association in [2, 0, 1] {
            let mut own = all.beside();
            own.associations.push(AssociationRow { association, ..Default::default() });
            for n in 0..3 {
                own.keep(stall(association, n));
            }
            all.absorb(own);
        }
        all.order_by_association();
        assert_eq!(
            all.associations.iter().map(|row| row.association).collect::<Vec<_>>(),
            [0, 1, 2]
        );
        let rows: Vec<_> = all.stalls.iter().map(|row| (row.association, row.tsn_before)).collect();
        let expected: Vec<_> = (0..3).flat_map(|one| (0..3).map(move |n| (one, n))).collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn comments_are_kept_up_to_their_bytes() {
        let mut all = all();
        let text = "x".repeat(COMMENT_BYTES / 2);
        for _ in 0..3 {
            all.keep_comment(CommentRow { text: text.clone(), ..Default::default() });
        }
        assert_eq!((all.comments.len(), all.unlisted()["comments"]), (2, 1));
    }
}
