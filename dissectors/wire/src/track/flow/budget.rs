//! What the flows of one capture may cost, and what was left out to keep it.

/// Most rows of the flows table.
pub const FLOW_ROWS: usize = 1 << 17;
/// Once half the table is full, flows with fewer packets get no row.
pub const SMALL_FLOW_PACKETS: u64 = 8;
/// Most rows of the icmp table.
pub const ICMP_ROWS: usize = 1 << 16;
/// Most rows of the interval table, those of open flows included.
const INTERVAL_ROWS: usize = 1 << 20;
/// Most rows of the retransmission table, likewise.
const RETRANSMISSION_ROWS: usize = 1 << 18;
/// Outstanding segments remembered in all flows together ...
const SEGMENTS: usize = 1 << 20;
/// ... and in one direction of a flow; the oldest is forgotten beyond it.
const SEGMENTS_OF_ONE: usize = 1 << 14;
/// What a direction may still have when all flows together have too many.
const SEGMENTS_IN_NEED: usize = 64;

/// Counts of a whole capture. They are complete, while the tables are bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Flows seen.
    pub flows: u64,
    /// Flows forgotten to make room for others before the capture ended: a later packet of
    /// theirs began a new one.
    pub evicted: u64,
    /// Flows that got no row because the table was full of others.
    pub unlisted: u64,
    /// Packets that no interval row counts, the table being full.
    pub unlisted_intervals: u64,
    /// Retransmissions without a row, the table being full.
    pub unlisted_retransmissions: u64,
    /// ICMP errors without a row, the table being full.
    pub unlisted_icmp: u64,
}

#[derive(Default)]
pub struct Budget {
    pub census: Census,
    intervals: usize,
    retransmissions: usize,
    segments: usize,
}

impl Budget {
    /// Whether there may be one more interval row; counts it.
    pub fn interval(&mut self) -> bool {
        let granted = self.intervals < INTERVAL_ROWS;
        if granted {
            self.intervals += 1;
        } else {
            self.census.unlisted_intervals += 1;
        }
        granted
    }

    /// Whether there may be one more retransmission row; counts it.
    pub fn retransmission(&mut self) -> bool {
        let granted = self.retransmissions < RETRANSMISSION_ROWS;
        if granted {
            self.retransmissions += 1;
        } else {
            self.census.unlisted_retransmissions += 1;
        }
        granted
    }

    /// Segments that one direction may remember now.
    pub fn segments(&self) -> usize {
        if self.segments < SEGMENTS { SEGMENTS_OF_ONE } else { SEGMENTS_IN_NEED }
    }

    /// A direction that remembered `before` segments remembers `after`.
    pub fn remembered(&mut self, before: usize, after: usize) {
        self.segments = self.segments.saturating_sub(before).saturating_add(after);
    }

    /// A flow's rows were not kept after all.
    pub fn give_back(&mut self, intervals: usize, retransmissions: usize) {
        self.intervals = self.intervals.saturating_sub(intervals);
        self.retransmissions = self.retransmissions.saturating_sub(retransmissions);
    }
}
