//! A stretch of one user message: consecutive fragments, without their bytes.

use crate::ledger::MessageRow;
use crate::sctp::data::Data;
use crate::sctp::ppid;
use crate::track::Moment;
use crate::track::path::Place;

/// Between two fragments with one Stream Sequence Number there are never as many
/// TSNs as there are such numbers: they would be of different messages.
const SEQUENCE_NUMBERS: u32 = 1 << 16;

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Complete,
    Abandoned,
    Partial,
    Open,
}

impl Outcome {
    pub fn name(self) -> &'static str {
        match self {
            Outcome::Complete => "complete",
            Outcome::Abandoned => "abandoned",
            Outcome::Partial => "partial",
            Outcome::Open => "open",
        }
    }
}

/// The numbers that put fragments in order: TSNs for all of a sender's DATA, the
/// Fragment Sequence Numbers of one message for I-DATA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Line {
    Data,
    Interleaved { stream: u16, unordered: bool, message: u32 },
}

impl Line {
    pub fn of(data: &Data<'_>) -> Self {
        if data.interleaved {
            let (stream, unordered, message) = (data.stream, data.unordered, data.sequence);
            Line::Interleaved { stream, unordered, message }
        } else {
            Line::Data
        }
    }
}

/// How two neighbours on a line go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seam {
    /// They are of one message.
    Joined,
    /// One message ends, the next one begins.
    Between,
    /// The left one ends its message, the right one does not begin another.
    GoesOn,
    /// The right one begins a message, the left one has not ended its own.
    CutShort,
    /// Neither begins nor ends a message, and they are not of the same one.
    Unlike,
}

#[derive(Clone, Debug)]
pub struct Part {
    pub stream: u16,
    pub sequence: u32,
    pub unordered: bool,
    pub interleaved: bool,
    pub ppid: Option<u32>,
    /// TSN of the first and the last fragment.
    pub first_tsn: u32,
    pub last_tsn: u32,
    /// Of the first fragment on its line, and how many numbers the stretch covers.
    pub position: u32,
    pub span: u32,
    pub fragments: u32,
    pub user_bytes: u64,
    pub first: Moment,
    pub last: Moment,
    paths: Paths,
    pub beginning: bool,
    pub ending: bool,
    /// Something is missing that cannot come any more.
    pub broken: bool,
}

impl Part {
    pub fn of(data: &Data<'_>, at: &Place) -> Self {
        Part {
            stream: data.stream,
            sequence: data.sequence,
            unordered: data.unordered,
            interleaved: data.interleaved,
            ppid: data.ppid,
            first_tsn: data.tsn,
            last_tsn: data.tsn,
            position: if data.interleaved { data.fragment } else { data.tsn },
            span: 1,
            fragments: 1,
            user_bytes: u64::from(data.user_length),
            first: at.moment,
            last: at.moment,
            paths: Paths { first: at.path, others: Vec::new() },
            beginning: data.beginning,
            ending: data.ending,
            broken: false,
        }
    }

    pub fn is_whole(&self) -> bool {
        self.beginning && self.ending && !self.broken && self.fragments == self.span
    }

    /// The position after the last fragment.
    pub fn next(&self) -> u32 {
        self.position.wrapping_add(self.span)
    }

    /// How this part and the one right after it on their line go together
    /// (RFC 9260 sections 3.3.1 and 6.9).
    pub fn seam(&self, right: &Part) -> Seam {
        match (self.ending, right.beginning) {
            (true, true) => Seam::Between,
            (true, false) => Seam::GoesOn,
            (false, true) => Seam::CutShort,
            (false, false) if self.is_alike(right) => Seam::Joined,
            (false, false) => Seam::Unlike,
        }
    }

    /// On a line of I-DATA there is nothing that could differ. The number of unordered
    /// DATA means nothing (RFC 9260 section 6.6).
    fn is_alike(&self, other: &Part) -> bool {
        self.stream == other.stream
            && self.unordered == other.unordered
            && (self.unordered || self.sequence == other.sequence)
    }

    /// Whether a part further on, beyond a gap, is certainly of the same message.
    pub fn continues_in(&self, further: &Part) -> bool {
        let gap = further.position.wrapping_sub(self.next());
        let named = self.interleaved || (!self.unordered && gap < SEQUENCE_NUMBERS);
        !self.ending && !further.beginning && named && self.is_alike(further)
    }

    /// Appends a later part of the same message. Returns whether the two name one protocol.
    pub fn append(&mut self, right: Part) -> bool {
        let agree = match (self.ppid, right.ppid) {
            (Some(left), Some(right)) => left == right,
            _ => true,
        };
        // The first fragment's counts; it is what a receiver hands to its user.
        self.ppid = self.ppid.or(right.ppid);
        self.span = right.next().wrapping_sub(self.position);
        self.last_tsn = right.last_tsn;
        self.fragments = self.fragments.saturating_add(right.fragments);
        self.user_bytes = self.user_bytes.saturating_add(right.user_bytes);
        if right.first.time_ns < self.first.time_ns {
            self.first = right.first;
        }
        if right.last.time_ns >= self.last.time_ns {
            self.last = right.last;
        }
        right.paths.each(|path| self.paths.add(path));
        self.ending = right.ending;
        self.broken |= right.broken;
        agree
    }

    pub fn row(&self, association: u32, sender: &'static str, outcome: Outcome) -> MessageRow {
        MessageRow {
            association,
            sender,
            stream: self.stream,
            ordered: !self.unordered,
            sequence: self.sequence,
            interleaved: self.interleaved,
            ppid: self.ppid,
            ppid_name: self.ppid.map_or("not seen", ppid::name),
            fragments: self.fragments,
            user_bytes: self.user_bytes,
            first_tsn: self.first_tsn,
            last_tsn: self.last_tsn,
            first_ns: self.first.time_ns,
            first_frame: self.first.frame,
            last_ns: self.last.time_ns,
            last_frame: self.last.frame,
            paths: self.paths.list(),
            outcome: outcome.name(),
        }
    }
}

/// Path numbers, each once; nearly always one, which takes no allocation.
#[derive(Clone, Debug)]
struct Paths {
    first: u32,
    others: Vec<u32>,
}

impl Paths {
    fn add(&mut self, path: u32) {
        if path != self.first && !self.others.contains(&path) {
            self.others.push(path);
        }
    }

    fn each(&self, mut act: impl FnMut(u32)) {
        std::iter::once(&self.first).chain(&self.others).for_each(|path| act(*path));
    }

    fn list(&self) -> String {
        let mut all = self.others.clone();
        all.push(self.first);
        all.sort_unstable();
        all.iter().map(u32::to_string).collect::<Vec<_>>().join(",")
    }
}
