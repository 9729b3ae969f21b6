//! User messages out of the chunks of one sender: fragments of DATA have
//! consecutive TSNs (RFC 9260 section 6.9), those of I-DATA a number of their own
//! in their message (RFC 8260 section 2.1). No user data is kept, only what the
//! fragments say of themselves.
//!
//! "Complete" means that all of a message was seen. Whether it arrived is what
//! SACKs say.

mod part;
mod tally;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::End;
use super::path::Place;
use super::sender::Sender;
use crate::ledger::{AssociationRow, Ledger};
use crate::problem::{Kind, Layer, Problem};
use crate::sctp::data::Data;
use crate::sctp::forward::ForwardTsn;
use crate::sctp::tsn::Tsn;
use part::{Line, Outcome, Part, Seam};
use tally::Tally;

/// Most stretches of incomplete messages remembered per sender; beyond it the
/// older half is settled as it is.
const INCOMPLETE: usize = 1 << 12;

type Key = (Line, u32);

pub struct Messages {
    association: u32,
    end: End,
    /// Stretches of incomplete messages, by the number of their first fragment. They never overlap.
    parts: BTreeMap<Key, Part>,
    /// Last TSN of the DATA message completed last.
    ended: Option<u32>,
    tally: Tally,
}

impl Messages {
    pub fn new(association: u32, end: End) -> Self {
        Messages { association, end, parts: BTreeMap::new(), ended: None, tally: Tally::default() }
    }

    /// A chunk not seen before. Returns what is wrong with it as a fragment.
    pub fn data(
        &mut self,
        data: &Data<'_>,
        at: &Place,
        sender: &Sender,
        ledger: &mut Ledger,
    ) -> Option<Problem> {
        let part = Part::of(data, at);
        if self.parts.is_empty() && part.is_whole() {
            self.settle(&part, Outcome::Complete, ledger);
            return None;
        }
        self.fragment(Line::of(data), part, sender, ledger)
    }

    /// FORWARD-TSN gives up what it passes (RFC 3758 section 3.2), I-FORWARD-TSN
    /// the messages it lists and those before them (RFC 8260 section 2.3.1).
    pub fn forward(&mut self, forward: &ForwardTsn<'_>, sender: &Sender, ledger: &mut Ledger) {
        if self.parts.is_empty() {
            return;
        }
        let mut passed = Vec::new();
        if forward.interleaved {
            for skipped in forward.skipped() {
                let line = |message| Line::Interleaved {
                    stream: skipped.stream,
                    unordered: skipped.unordered,
                    message,
                };
                for (first, last) in up_to(skipped.sequence) {
                    self.take((line(first), 0)..=(line(last), u32::MAX), &mut passed);
                }
            }
        } else {
            for (first, last) in up_to(forward.new_cumulative_tsn) {
                self.take((Line::Data, first)..=(Line::Data, last), &mut passed);
            }
        }
        self.close(passed, Some(Outcome::Abandoned), sender, ledger);
    }

    /// Nothing more comes.
    pub fn finish(&mut self, sender: &Sender, ledger: &mut Ledger) {
        let rest = std::mem::take(&mut self.parts).into_iter();
        self.close(rest.map(|((line, _), part)| (line, part)).collect(), None, sender, ledger);
    }

    /// Joins a fragment to its neighbours, and settles the message if that makes it whole.
    fn fragment(
        &mut self,
        line: Line,
        mut part: Part,
        sender: &Sender,
        ledger: &mut Ledger,
    ) -> Option<Problem> {
        let mut odd = None;
        if let Some(key) = self.key_before(line, part.position)
            && let Some(left) = self.parts.get_mut(&key)
        {
            let distance = part.position.wrapping_sub(left.position);
            if distance < left.span {
                // Which of the two is right is not known: the one before stands.
                part.broken = true;
                self.settle(&part, Outcome::Partial, ledger);
                return Some(malformed("two fragments of a user message have one number"));
            }
            if distance == left.span {
                let seam = meet(left, &mut part);
                odd = self.oddity(seam, ledger);
                if seam == Seam::Joined
                    && let Some(left) = self.parts.remove(&key)
                {
                    let right = std::mem::replace(&mut part, left);
                    odd = odd.or(append(&mut part, right));
                }
            }
        }
        if odd.is_none() && self.follows_a_whole_message(line, &part) {
            part.broken = true;
            odd = self.oddity(Seam::GoesOn, ledger);
        }
        let key = (line, part.next());
        if let Some(right) = self.parts.get_mut(&key) {
            let seam = meet(&mut part, right);
            odd = odd.or(self.oddity(seam, ledger));
            if seam == Seam::Joined
                && let Some(right) = self.parts.remove(&key)
            {
                odd = odd.or(append(&mut part, right));
            }
        }
        if part.is_whole() {
            self.settle(&part, Outcome::Complete, ledger);
        } else if part.ending && !part.beginning && is_hopeless(&part, sender) {
            self.settle(&part, Outcome::Partial, ledger);
        } else {
            let newest = Tsn(part.last_tsn);
            self.parts.insert((line, part.position), part);
            odd = odd.or(self.make_room(newest, sender, ledger));
        }
        odd
    }

    /// The stretch on a line at or before a position. The numbers wrap, and so does the search.
    fn key_before(&self, line: Line, position: u32) -> Option<Key> {
        let last = |end| self.parts.range((line, 0)..=(line, end)).next_back();
        last(position).or_else(|| last(u32::MAX)).map(|(key, _)| *key)
    }

    /// A message that was whole is not kept; its end is, to see that nothing follows in it.
    fn follows_a_whole_message(&self, line: Line, part: &Part) -> bool {
        line == Line::Data && !part.beginning && self.ended == Some(part.first_tsn.wrapping_sub(1))
    }

    fn oddity(&self, seam: Seam, ledger: &Ledger) -> Option<Problem> {
        let what = match seam {
            Seam::Joined | Seam::Between => return None,
            Seam::GoesOn => "a user message goes on after its last fragment",
            Seam::Unlike => "fragments of a user message differ in stream or sequence number",
            Seam::CutShort => {
                // A sender may give up a message whose last fragments have no TSN yet;
                // its FORWARD-TSN comes later (RFC 3758 section 3.5).
                let row = ledger.associations.first();
                if row.is_some_and(may_give_up) {
                    return None;
                }
                "a user message begins before the one before it has ended"
            }
        };
        Some(malformed(what))
    }

    fn take(&mut self, keys: RangeInclusive<Key>, taken: &mut Vec<(Line, Part)>) {
        let keys: Vec<Key> = self.parts.range(keys).map(|(key, _)| *key).collect();
        taken.extend(keys.iter().filter_map(|key| Some((key.0, self.parts.remove(key)?))));
    }

    /// Settles the older half of what is incomplete when there is too much of it.
    fn make_room(&mut self, newest: Tsn, sender: &Sender, ledger: &mut Ledger) -> Option<Problem> {
        if self.parts.len() <= INCOMPLETE {
            return None;
        }
        let ages =
            self.parts.iter().map(|(key, part)| (Tsn(part.first_tsn).distance(newest), *key));
        let mut ages: Vec<(i32, Key)> = ages.collect();
        ages.sort_unstable_by(|one, other| other.cmp(one));
        let mut oldest = Vec::new();
        for (_, key) in ages.into_iter().take(INCOMPLETE / 2) {
            self.take(key..=key, &mut oldest);
        }
        self.close(oldest, None, sender, ledger);
        Some(Problem {
            kind: Kind::Unknown,
            layer: Layer::Association,
            ..malformed("more incomplete user messages than are remembered")
        })
    }

    /// Settles stretches that get no more fragments; those with a gap between them
    /// that are certainly of one message, as one.
    fn close(
        &mut self,
        mut parts: Vec<(Line, Part)>,
        outcome: Option<Outcome>,
        sender: &Sender,
        ledger: &mut Ledger,
    ) {
        let Some(reference) = parts.first().map(|(_, part)| Tsn(part.first_tsn)) else { return };
        let place = |part: &Part| reference.distance(Tsn(part.first_tsn));
        parts.sort_by_key(|(line, part)| (*line, place(part)));
        let mut joined: Vec<(Line, Part)> = Vec::new();
        for (line, part) in parts {
            match joined.last_mut() {
                Some((before, left)) if *before == line && left.continues_in(&part) => {
                    left.broken |= sender.is_past(part.first_tsn.wrapping_sub(1));
                    left.append(part);
                }
                _ => joined.push((line, part)),
            }
        }
        joined.sort_by_key(|(_, part)| place(part));
        for (_, part) in &joined {
            let hopeless = is_hopeless(part, sender);
            let by_itself = if hopeless { Outcome::Partial } else { Outcome::Open };
            self.settle(part, outcome.unwrap_or(by_itself), ledger);
        }
    }

    fn settle(&mut self, part: &Part, outcome: Outcome, ledger: &mut Ledger) {
        if outcome == Outcome::Complete && !part.interleaved {
            self.ended = Some(part.last_tsn);
        }
        self.tally.add(part, outcome, self.association, self.end, ledger);
        if let Some(rows) = &mut ledger.messages {
            rows.push(part.row(self.association, self.end.name(), outcome));
        }
    }
}

/// How two neighbours go together; what contradicts the other can no longer become whole.
fn meet(left: &mut Part, right: &mut Part) -> Seam {
    let seam = left.seam(right);
    if matches!(seam, Seam::GoesOn | Seam::CutShort | Seam::Unlike) {
        left.broken |= !left.ending;
        right.broken |= !right.beginning;
    }
    seam
}

fn append(left: &mut Part, right: Part) -> Option<Problem> {
    let agree = left.append(right);
    (!agree).then(|| malformed("fragments of a user message name different payload protocols"))
}

/// Whether what is missing of a message can no longer come: it was acknowledged, or
/// sent before the capture began.
fn is_hopeless(part: &Part, sender: &Sender) -> bool {
    let no_head = !part.beginning && sender.is_past(part.first_tsn.wrapping_sub(1));
    // The next fragment of I-DATA may come after any number of other TSNs.
    let no_tail =
        !part.ending && !part.interleaved && sender.is_past(part.last_tsn.wrapping_add(1));
    part.broken || no_head || no_tail
}

/// Both ends take FORWARD-TSN, or it is not known whether they do.
fn may_give_up(row: &AssociationRow) -> bool {
    let takes_it = |extensions: &str| {
        extensions.split(", ").any(|name| matches!(name, "FORWARD-TSN" | "Forward-TSN-Supported"))
    };
    takes_it(&row.a_extensions) && takes_it(&row.b_extensions)
}

fn malformed(what: &'static str) -> Problem {
    Problem { kind: Kind::Malformed, layer: Layer::Chunk, offset: 0, needed: 0, available: 0, what }
}

/// The numbers at or before `last` in the order of RFC 1982, as pairs of first and last.
fn up_to(last: u32) -> impl Iterator<Item = (u32, u32)> {
    let first = last.wrapping_sub(i32::MAX.unsigned_abs());
    let pieces = if first <= last {
        [Some((first, last)), None]
    } else {
        [Some((first, u32::MAX)), Some((0, last))]
    };
    pieces.into_iter().flatten()
}
