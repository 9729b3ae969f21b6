//! Messages added up by stream and payload protocol.

use hashbrown::HashMap;

use super::part::{Outcome, Part};
use crate::ledger::{Ledger, StreamRow};
use crate::sctp::ppid;
use crate::track::End;

/// Most rows of one sender: as many as there are streams.
const ROWS: usize = 1 << 16;
/// Most payload protocols told apart in one stream. A user that puts a time or a
/// counter there must not push out the other streams.
const PROTOCOLS: u8 = 64;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Protocol {
    Named(u32),
    /// I-DATA names it in the first fragment only.
    NotSeen,
    /// Of those beyond the limit.
    Other,
}

impl Protocol {
    fn name(self) -> &'static str {
        match self {
            Protocol::Named(ppid) => ppid::name(ppid),
            Protocol::NotSeen => "not seen",
            Protocol::Other => "other",
        }
    }
}

/// A stream (None for all those beyond the limit) and a protocol in it.
type Key = (Option<u16>, Protocol);

#[derive(Default)]
pub struct Tally {
    /// None for those that there was no room for.
    rows: HashMap<Key, Option<usize>>,
    /// Protocols of each stream.
    protocols: HashMap<u16, u8>,
    /// The row used last: most messages follow one of their own kind.
    last: Option<(Key, usize)>,
}

impl Tally {
    pub fn add(
        &mut self,
        part: &Part,
        outcome: Outcome,
        association: u32,
        sender: End,
        ledger: &mut Ledger,
    ) {
        let key = (Some(part.stream), part.ppid.map_or(Protocol::NotSeen, Protocol::Named));
        let index = match self.last {
            Some((last, index)) if last == key => index,
            _ => {
                let Some(index) = self.row_of(key, part, association, sender, ledger) else {
                    return;
                };
                index
            }
        };
        self.last = Some((key, index));
        let row = &mut ledger.streams[index];
        row.messages += 1;
        row.ordered += u64::from(!part.unordered);
        row.fragmented += u64::from(!(part.beginning && part.ending) || part.fragments > 1);
        match outcome {
            Outcome::Complete => {
                row.complete += 1;
                let largest = row.largest_message_bytes.unwrap_or(0).max(part.user_bytes);
                row.largest_message_bytes = Some(largest);
            }
            Outcome::Abandoned => row.abandoned += 1,
            Outcome::Partial => row.partial += 1,
            Outcome::Open => row.open += 1,
        }
        row.chunks += u64::from(part.fragments);
        row.user_bytes = row.user_bytes.saturating_add(part.user_bytes);
        if part.first.time_ns < row.first_ns {
            (row.first_ns, row.first_frame) = (part.first.time_ns, part.first.frame);
        }
        if part.last.time_ns >= row.last_ns {
            (row.last_ns, row.last_frame) = (part.last.time_ns, part.last.frame);
        }
    }

    /// The row for a key, made when it is new and within the limits; none where there is no room.
    fn row_of(
        &mut self,
        wanted: Key,
        part: &Part,
        association: u32,
        sender: End,
        ledger: &mut Ledger,
    ) -> Option<usize> {
        if let Some(&index) = self.rows.get(&wanted) {
            return index;
        }
        let key = self.within_limits(wanted);
        if let Some(&index) = self.rows.get(&key) {
            return index;
        }
        let (stream, protocol) = key;
        let index = ledger.keep(StreamRow {
            association,
            sender: sender.name(),
            stream,
            ppid: match protocol {
                Protocol::Named(ppid) => Some(ppid),
                Protocol::NotSeen | Protocol::Other => None,
            },
            ppid_name: protocol.name(),
            first_ns: part.first.time_ns,
            first_frame: part.first.frame,
            last_ns: part.last.time_ns,
            last_frame: part.last.frame,
            ..Default::default()
        });
        self.rows.insert(key, index);
        index
    }

    /// The key under which something new is counted.
    fn within_limits(&mut self, wanted: Key) -> Key {
        let (Some(stream), _) = wanted else { return wanted };
        if self.rows.len() >= ROWS {
            return (None, Protocol::Other);
        }
        let protocols = self.protocols.entry(stream).or_insert(0);
        if *protocols >= PROTOCOLS {
            return (Some(stream), Protocol::Other);
        }
        *protocols += 1;
        wanted
    }
}
