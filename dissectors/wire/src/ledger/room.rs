//! How much the tables of associations may hold, and how they come together.
//!
//! An open association writes into a ledger of its own, which is added to the
//! capture's when the association closes, or dropped when it is not worth
//! listing. All these ledgers share one room in memory: a capture made to fill
//! it fills no more than the room, and the rows that were not kept are counted
//! by table.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

use super::{
    AcknowledgementRow, AddressRow, AsconfRow, AuthenticationRow, BlockingRow, CommentRow,
    ControlRow, HeartbeatRow, IntervalRow, Ledger, LonePacketRow, OddityRow, PathRow,
    RetransmissionRow, RttRow, RunRow, SilenceRow, StallRow, StreamRow, TimeoutRow, ZeroWindowRow,
};

/// Most bytes of rows and of what associations remember, unless the caller says otherwise. Far
/// more than honest captures need: a day of bins on two paths, or a run for every packet of a
/// concurrent multipath transfer of gigabytes.
pub const ROOM_BYTES: usize = 1 << 30;
/// An association that has taken so much gets none of the last quarter: one that fills the room
/// does not keep the others out of it.
const FEW_BYTES: usize = 1 << 16;
/// Most bytes of comments. They are the capture's own text, and it may be larger than memory.
const COMMENT_BYTES: usize = 1 << 26;

/// What all ledgers of a pass have taken together, and what they were refused.
pub struct Room {
    bytes: usize,
    taken: AtomicUsize,
    /// Rows, by number of their table.
    refused: [AtomicU64; TABLES.len()],
}

impl Room {
    fn new(bytes: usize) -> Self {
        Room { bytes, taken: AtomicUsize::new(0), refused: Default::default() }
    }

    /// Takes so many bytes, if there are, for one who has `own` already.
    fn take(&self, bytes: usize, own: usize) -> bool {
        let most = if own < FEW_BYTES { self.bytes } else { self.bytes - self.bytes / 4 };
        let granted = self.taken.load(Relaxed).saturating_add(bytes) <= most;
        if granted {
            self.taken.fetch_add(bytes, Relaxed);
        }
        granted
    }

    fn give_back(&self, bytes: usize) {
        self.taken.fetch_sub(bytes, Relaxed);
    }
}

impl Default for Room {
    fn default() -> Self {
        Room::new(ROOM_BYTES)
    }
}

/// A row of a table that is bounded.
pub trait Bounded: Sized {
    /// Its table's number in the room.
    const NUMBER: usize;

    fn rows(ledger: &mut Ledger) -> &mut Vec<Self>;

    /// Bytes of its text.
    fn text_bytes(&self) -> usize {
        0
    }
}

macro_rules! bounded {
    ($($table:ident: $row:ident $(, text $text:expr)?;)+) => {
        #[expect(clippy::enum_variant_names, reason = "named after the rows they number")]
        enum Number { $($row),+ }

        const TABLES: &[&str] = &[$($row::TABLE),+];

        $(
            impl Bounded for $row {
                const NUMBER: usize = Number::$row as usize;

                fn rows(ledger: &mut Ledger) -> &mut Vec<Self> {
                    &mut ledger.$table
                }

                $(fn text_bytes(&self) -> usize {
                    let of: fn(&Self) -> usize = $text;
                    of(self)
                })?
            }
        )+

        impl Ledger {
            /// Adds the rows of an association that closed. What it remembered is gone.
            pub fn absorb(&mut self, own: Ledger) {
                self.room.give_back(own.state_bytes);
                add(&mut self.associations, own.associations);
                $(add(&mut self.$table, own.$table);)+
            }

            /// What the rows of associations take of the room.
            #[cfg(test)]
            pub fn row_bytes_of_all(&self) -> usize {
                0 $(+ self.$table.iter().map(bytes_of).sum::<usize>())+
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
    addresses: AddressRow;
    paths: PathRow, text |row| row.interface.as_ref().map_or(0, String::len);
    runs: RunRow;
    retransmissions: RetransmissionRow;
    timeouts: TimeoutRow;
    stalls: StallRow;
    heartbeats: HeartbeatRow;
    asconf: AsconfRow, text |row| row.request.len();
    control: ControlRow, text |row| row.codes.len() + row.detail.len();
    authentication: AuthenticationRow;
    streams: StreamRow;
    intervals: IntervalRow;
    rtt: RttRow;
    silences: SilenceRow;
    blocking: BlockingRow;
    zero_windows: ZeroWindowRow;
    acknowledgements: AcknowledgementRow;
    lone_packets: LonePacketRow;
    oddities: OddityRow;
}

impl Ledger {
    /// An empty ledger; it and those beside it share a room of so many bytes.
    pub fn with_room(bytes: usize) -> Ledger {
        Ledger { room: Arc::new(Room::new(bytes)), ..Ledger::default() }
    }

    /// An empty ledger that takes its room from the same.
    pub fn beside(&self) -> Ledger {
        let messages = self.messages.is_some().then(Vec::new);
        Ledger { room: Arc::clone(&self.room), messages, ..Ledger::default() }
    }

    /// Takes over the rows of messages, which nobody waits for an association's end with.
    pub fn take_messages(&mut self, own: &mut Ledger) {
        if let (Some(all), Some(rows)) = (&mut self.messages, &mut own.messages) {
            all.append(rows);
        }
    }

    /// Adds a row while there is room; gives its number in this ledger.
    pub fn keep<R: Bounded>(&mut self, row: R) -> Option<usize> {
        self.keep_with(row, 0)
    }

    /// As [`Ledger::keep`], with so many bytes of what the association remembers of it.
    pub fn keep_with<R: Bounded>(&mut self, row: R, state_bytes: usize) -> Option<usize> {
        let bytes = bytes_of(&row);
        if !self.room.take(bytes.saturating_add(state_bytes), self.bytes()) {
            self.refuse::<R>();
            return None;
        }
        self.row_bytes += bytes;
        self.state_bytes += state_bytes;
        let rows = R::rows(self);
        push(rows, row);
        Some(rows.len() - 1)
    }

    /// Counts a row that there is no room for.
    pub fn refuse<R: Bounded>(&self) {
        self.room.refused[R::NUMBER].fetch_add(1, Relaxed);
    }

    /// Whether there is room for so many bytes of what an association remembers; takes them.
    pub fn remember(&mut self, bytes: usize) -> bool {
        let granted = self.room.take(bytes, self.bytes());
        if granted {
            self.state_bytes += bytes;
        }
        granted
    }

    /// Drops the rows of an association that closed: there is room for others again.
    pub fn drop_unlisted(&self, own: Ledger) {
        self.room.give_back(own.bytes());
    }

    fn bytes(&self) -> usize {
        self.row_bytes + self.state_bytes
    }

    #[cfg(test)]
    pub fn room_taken(&self) -> usize {
        self.room.taken.load(Relaxed)
    }

    pub fn keep_comment(&mut self, row: CommentRow) {
        let name_bytes = row.interface.as_ref().map_or(0, String::len);
        let bytes = size_of::<CommentRow>() + row.text.len() + name_bytes;
        if self.comment_bytes.saturating_add(bytes) > COMMENT_BYTES {
            self.unlisted_comments += 1;
        } else {
            self.comment_bytes += bytes;
            self.comments.push(row);
        }
    }

    /// Rows that were not kept because there was no room for them, by table.
    pub fn unlisted(&self) -> BTreeMap<&'static str, u64> {
        let refused = self.room.refused.iter().map(|count| count.load(Relaxed));
        let comments = (CommentRow::TABLE, self.unlisted_comments);
        let tables = TABLES.iter().copied().zip(refused).chain([comments]);
        tables.filter(|(_, count)| *count > 0).collect()
    }
}

/// Adds to a vector that mostly holds one: an association of a flood has one path, one bin, one
/// of everything, and a vector begins with room for four.
pub(crate) fn push<T>(to: &mut Vec<T>, one: T) {
    if to.is_empty() {
        to.reserve_exact(1);
    }
    to.push(one);
}

fn bytes_of<R: Bounded>(row: &R) -> usize {
    size_of::<R>().saturating_add(row.text_bytes())
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

    const STALL: usize = size_of::<StallRow>();

    fn stall(association: u32, tsn_before: u32) -> StallRow {
        StallRow { association, tsn_before, ..Default::default() }
    }

    /// Room for 10,000 stalls.
    fn all() -> Ledger {
        Ledger::with_room(10_000 * STALL)
    }

    #[test]
    fn a_room_that_is_full_refuses_and_counts() {
        let all = all();
        let mut ledgers: Vec<_> = (0..20).map(|_| all.beside()).collect();
        for ledger in &mut ledgers {
            for n in 0..600 {
                ledger.keep(stall(0, n));
            }
        }
        assert_eq!(ledgers.iter().map(|ledger| ledger.stalls.len()).sum::<usize>(), 10_000);
        assert_eq!(all.unlisted(), BTreeMap::from([("stalls", 2000)]));
    }

    #[test]
    fn one_association_does_not_keep_the_others_out() {
        let all = all();
        let (mut hog, mut other) = (all.beside(), all.beside());
        let kept = (0..9000).filter_map(|n| hog.keep(stall(0, n))).count();
        assert_eq!((kept, hog.stalls.len()), (7500, 7500));
        assert_eq!((other.keep(stall(1, 0)), other.keep(stall(1, 1))), (Some(0), Some(1)));
        assert_eq!(all.unlisted(), BTreeMap::from([("stalls", 1500)]));
        assert!(!hog.remember(1) && other.remember(1));
    }

    #[test]
    fn text_takes_room() {
        let mut own = all().beside();
        let detail = "x".repeat(1000);
        let row = ControlRow { detail, ..Default::default() };
        let each = size_of::<ControlRow>() + 1000;
        let kept = (0..2000).filter_map(|_| own.keep(row.clone())).count();
        assert_eq!(kept, 7500 * STALL / each);
    }

    #[test]
    fn what_closes_makes_room() {
        let mut all = all();
        for n in 0..10 {
            let mut own = all.beside();
            assert_eq!((0..7500).filter_map(|n| own.keep(stall(0, n))).count(), 7500, "{n}");
            all.drop_unlisted(own);
        }
        for n in 0..10 {
            let mut own = all.beside();
            own.keep(stall(0, n));
            assert!(own.remember(7000 * STALL), "{n}");
            all.absorb(own);
        }
        assert_eq!((all.stalls.len(), all.unlisted().len()), (10, 0));
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
        let text = "x".repeat(COMMENT_BYTES / 3);
        for _ in 0..3 {
            all.keep_comment(CommentRow { text: text.clone(), ..Default::default() });
        }
        assert_eq!((all.comments.len(), all.unlisted()["comments"]), (2, 1));
    }
}
