//! The one way to an Internet checksum that is right, or as wrong as it was.

use std::ops::Range;

use pathscope_wire::checksum::{PseudoHeader, fold, sum};

use super::change::{Change, complement};
use super::job::Job;
use super::outcome::Note;

/// A checksum field, and what it is over.
pub(super) struct Settling {
    /// Of the field in the packet.
    pub at: usize,
    /// What is summed, the field within.
    pub over: Range<usize>,
    pub pseudo: Option<PseudoHeader>,
    /// What was written into anything that is summed.
    pub change: Change,
    /// Whether all that is summed is here.
    pub whole: bool,
    pub zero: Zero,
}

/// What a field of zero means.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Zero {
    Sum,
    /// No checksum was made, and none is needed (RFC 768).
    Absent,
    /// As [`Zero::Absent`], but only tunnels may (RFC 6935): it is made.
    Missing,
}

impl Settling {
    pub fn settle(self, packet: &mut [u8], job: &mut Job) {
        let field = packet.get(self.at..self.over.end).and_then(|rest| rest.first_chunk::<2>());
        let Some(field) = field else { return job.note(Note::TransportMalformed) };
        let field = u16::from_be_bytes(*field);
        let absent = field == 0 && self.zero != Zero::Sum;
        if absent && (self.zero == Zero::Absent || job.keep_bad) {
            return;
        }
        let mut settled = if absent { 0 } else { self.spelled(self.change.applied(field)) };
        write(packet, self.at, settled);
        if !self.whole {
            job.note(Note::ChecksumNotVerified);
        } else if !job.keep_bad {
            let bytes = packet.get(self.over.clone()).unwrap_or_default();
            let pseudo = self.pseudo.map_or(0, |pseudo| pseudo.sum(bytes.len()));
            let all = pseudo.saturating_add(sum(bytes));
            // The field is part of the sum, which is all ones when it is right.
            if fold(all) != 0xffff || settled == 0 && absent {
                // As a number and not in ones' complement, where nothing but zeros is two numbers.
                settled = self.spelled(complement(all.saturating_sub(u64::from(settled))));
                write(packet, self.at, settled);
                job.note(Note::ChecksumRepaired);
            }
        }
    }

    /// UDP writes the sum of zero as all ones, for zero means none.
    fn spelled(&self, field: u16) -> u16 {
        if field == 0 && self.zero != Zero::Sum { 0xffff } else { field }
    }
}

fn write(packet: &mut [u8], at: usize, field: u16) {
    if let Some(place) = packet.get_mut(at..).and_then(|rest| rest.first_chunk_mut()) {
        *place = field.to_be_bytes();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settled(bytes: [u8; 6], zero: Zero, keep_bad: bool, whole: bool) -> ([u8; 6], Job) {
        let mut job = Job::new(keep_bad);
        let mut packet = bytes;
        let (change, pseudo) = (Change::default(), None);
        Settling { at: 2, over: 0..6, pseudo, change, whole, zero }.settle(&mut packet, &mut job);
        (packet, job)
    }

    #[test]
    fn right_stays_and_wrong_is_repaired() {
        let right = [1, 2, 0xfb, 0xf9, 3, 4];
        let wrong = [1, 2, 9, 9, 3, 4];
        let (packet, job) = settled(right, Zero::Sum, false, true);
        assert!(packet == right && job.notes.is_empty());
        let (packet, job) = settled(wrong, Zero::Sum, false, true);
        assert!(packet == right && job.notes.has(Note::ChecksumRepaired));
        let (packet, job) = settled(wrong, Zero::Sum, true, true);
        assert!(packet == wrong && job.notes.is_empty());
        let (packet, job) = settled(wrong, Zero::Sum, false, false);
        assert!(packet == wrong && job.notes.has(Note::ChecksumNotVerified));
    }

    #[test]
    fn of_nothing_but_zeros_the_sum_is_all_ones() {
        let (packet, job) = settled([0; 6], Zero::Sum, false, true);
        assert_eq!(packet, [0, 0, 0xff, 0xff, 0, 0]);
        assert!(job.notes.has(Note::ChecksumRepaired));
        let (again, job) = settled(packet, Zero::Sum, false, true);
        assert!(again == packet && job.notes.is_empty());
    }

    #[test]
    fn zero_means_none_in_udp() {
        let none = [1, 2, 0, 0, 3, 4];
        assert_eq!(settled(none, Zero::Absent, false, true).0, none);
        assert_eq!(settled(none, Zero::Missing, true, true).0, none);
        assert_eq!(settled(none, Zero::Missing, false, true).0, [1, 2, 0xfb, 0xf9, 3, 4]);
        // A sum of zero is spelled in ones, and where none was made the field is not left at zero.
        let wrong = [0xff, 0xf0, 9, 9, 0, 0x0f];
        assert_eq!(settled(wrong, Zero::Absent, false, true).0, [0xff, 0xf0, 255, 255, 0, 0x0f]);
        assert_eq!(settled(wrong, Zero::Sum, false, true).0, [0xff, 0xf0, 0, 0, 0, 0x0f]);
        let full = [0xff, 0xf0, 0, 0, 0, 0x0f];
        assert_eq!(settled(full, Zero::Missing, false, true).0, [0xff, 0xf0, 255, 255, 0, 0x0f]);
    }
}
