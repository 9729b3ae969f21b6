//! Head-of-line blocking: how long ordered messages that had arrived waited for an earlier one of
//! their stream (RFC 9260 section 6.6), and how long they would have waited in a single stream.
//!
//! Chunks pass here in the order of TSN, each with its arrival. Messages of one stream go out in
//! the order of their Stream Sequence Numbers, or of their Message Identifiers (RFC 8260 section
//! 2.1), and so in that of their TSNs: a message is delivered at the latest arrival in its stream
//! up to its own end. Chunks need not pass while they arrive in order: what was latest then is
//! sooner than all that comes.

use hashbrown::HashMap;

use super::Sent;
use crate::ledger::{BlockingRow, Ledger};
use crate::track::{End, Moment};

/// How the arrival of a chunk is told.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SeenBy {
    /// By the SACK that covers it first: what the sender knows.
    Sack,
    /// By the DATA themselves: what the receiver knows, in a capture taken there.
    Data,
}

#[derive(Clone, Copy)]
struct Arrival {
    moment: Moment,
    tsn: u64,
}

/// One stream, as far as it has passed.
#[derive(Default)]
struct Line {
    latest: Option<Arrival>,
    /// Latest of the message at hand.
    own: Option<Arrival>,
    ppid: Option<u32>,
}

#[derive(Default)]
struct View {
    lines: HashMap<u16, Line>,
    /// Latest of all streams.
    latest: Option<Arrival>,
}

type Key = (SeenBy, u16, Option<u32>);

#[derive(Default)]
pub struct Blocking {
    sack: View,
    data: View,
    rows: HashMap<Key, usize>,
}

/// Memory of one entry of a hash table, its share of empty ones included.
const fn entry_bytes<K, V>() -> usize {
    2 * size_of::<(K, V)>()
}

impl Blocking {
    /// The next chunk in the order of TSN, acknowledged.
    pub fn pass(
        &mut self,
        sent: &Sent,
        acked: Moment,
        (association, end): (u32, End),
        ledger: &mut Ledger,
    ) {
        for (seen_by, moment) in [(SeenBy::Sack, acked), (SeenBy::Data, sent.first)] {
            let view = self.view(seen_by);
            let arrival = Arrival { moment, tsn: sent.tsn };
            let single = later(view.latest, arrival);
            view.latest = Some(single);
            if sent.unordered {
                continue;
            }
            let Some(line) = view.line(sent.stream, ledger) else { continue };
            if sent.beginning {
                (line.own, line.ppid) = (None, sent.ppid);
            }
            let own = later(line.own, arrival);
            let latest = later(line.latest, arrival);
            (line.own, line.latest) = (Some(own), Some(latest));
            if sent.ending && between(own, single) > 0 {
                let key = (seen_by, sent.stream, line.ppid);
                let waits = Waits { own, latest, single };
                self.count(key, &waits, (association, end), ledger);
            }
        }
    }

    /// FORWARD-TSN ends the wait for what it gives up in a stream (RFC 3758 section 3.6).
    pub fn given_up(&mut self, stream: u16, tsn: u64, moment: Moment, ledger: &mut Ledger) {
        let arrival = Arrival { moment, tsn };
        self.data.latest = Some(later(self.data.latest, arrival));
        if let Some(line) = self.data.line(stream, ledger) {
            line.latest = Some(later(line.latest, arrival));
        }
    }

    fn view(&mut self, seen_by: SeenBy) -> &mut View {
        match seen_by {
            SeenBy::Sack => &mut self.sack,
            SeenBy::Data => &mut self.data,
        }
    }

    fn count(
        &mut self,
        key: Key,
        waits: &Waits,
        (association, end): (u32, End),
        ledger: &mut Ledger,
    ) {
        let (seen_by, stream, ppid) = key;
        let index = match self.rows.get(&key) {
            Some(&index) => index,
            None => {
                let row = BlockingRow {
                    association,
                    sender: end.name(),
                    stream,
                    ppid,
                    seen_by: seen_by.name(),
                    ..Default::default()
                };
                let Some(index) = ledger.keep_with(row, entry_bytes::<Key, usize>()) else {
                    return;
                };
                self.rows.insert(key, index);
                index
            }
        };
        waits.add_to(&mut ledger.blocking[index]);
    }
}

impl View {
    /// None when there is no room for another.
    fn line(&mut self, stream: u16, ledger: &mut Ledger) -> Option<&mut Line> {
        if !self.lines.contains_key(&stream) {
            if !ledger.remember(entry_bytes::<u16, Line>()) {
                ledger.refuse::<BlockingRow>();
                return None;
            }
            self.lines.insert(stream, Line::default());
        }
        self.lines.get_mut(&stream)
    }
}

impl SeenBy {
    fn name(self) -> &'static str {
        match self {
            SeenBy::Sack => "sack",
            SeenBy::Data => "data",
        }
    }
}

/// When a message had arrived, and when it could be delivered.
struct Waits {
    own: Arrival,
    latest: Arrival,
    single: Arrival,
}

impl Waits {
    fn add_to(&self, row: &mut BlockingRow) {
        let single_ns = between(self.own, self.single);
        row.single_waited += 1;
        row.single_wait_sum_ns = row.single_wait_sum_ns.saturating_add(single_ns);
        row.single_wait_max_ns = row.single_wait_max_ns.max(single_ns);
        let wait_ns = between(self.own, self.latest);
        if wait_ns == 0 {
            return;
        }
        row.waited += 1;
        row.wait_sum_ns = row.wait_sum_ns.saturating_add(wait_ns);
        if wait_ns > row.wait_max_ns {
            row.wait_max_ns = wait_ns;
            row.longest_start_ns = Some(self.own.moment.time_ns);
            row.longest_start_frame = Some(self.own.moment.frame);
            row.longest_end_ns = Some(self.latest.moment.time_ns);
            row.longest_end_frame = Some(self.latest.moment.frame);
            row.longest_tsn = Some(self.latest.tsn as u32);
        }
    }
}

fn later(known: Option<Arrival>, next: Arrival) -> Arrival {
    known.filter(|known| known.moment.time_ns >= next.moment.time_ns).unwrap_or(next)
}

fn between(from: Arrival, to: Arrival) -> u64 {
    u64::try_from(to.moment.time_ns.saturating_sub(from.moment.time_ns)).unwrap_or(0)
}
