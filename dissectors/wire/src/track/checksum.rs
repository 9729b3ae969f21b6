//! Checksums by association: which packets are wrong, and which may go without.

use super::{End, Seen};
use crate::ledger::AssociationRow;
use crate::sctp::Checksum;

/// Counts a packet's verdict.
pub fn count(seen: &Seen<'_>, sender: End, row: &mut AssociationRow) {
    match seen.verdict.checksum {
        Checksum::Valid | Checksum::Simulated => {}
        Checksum::ZeroOnWire => zero(seen, sender, row),
        Checksum::Adler32 => row.adler32_checksums += 1,
        Checksum::Bad { .. } => row.bad_checksums += 1,
        Checksum::NotCheckable => row.truncated_packets += 1,
    }
}

/// A packet may go without a checksum when its receiver announced that it accepts that,
/// but never with INIT or COOKIE ECHO (RFC 9653 section 5.2).
fn zero(seen: &Seen<'_>, sender: End, row: &mut AssociationRow) {
    row.zero_checksums += 1;
    let accepted = match sender {
        End::A => row.b_zero_checksum_method,
        End::B => row.a_zero_checksum_method,
    };
    if accepted.is_some() && !seen.sets_up {
        return;
    }
    match sender {
        End::A => row.a_uncovered_zero_checksums += 1,
        End::B => row.b_uncovered_zero_checksums += 1,
    }
}
