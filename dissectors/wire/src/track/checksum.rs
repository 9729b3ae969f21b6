//! Checksums by association: which packets are wrong, and which may go without.

use super::oddity::{kind, note};
use super::{End, Seen};
use crate::ledger::{AssociationRow, Ledger};
use crate::sctp::Checksum;

/// Counts a packet's verdict.
pub fn count(seen: &Seen<'_>, sender: End, path: Option<u32>, ledger: &mut Ledger) {
    let Some(row) = ledger.associations.first_mut() else { return };
    let what = match seen.verdict.checksum {
        Checksum::Valid | Checksum::Simulated => return,
        Checksum::ZeroOnWire => zero(seen, sender, row),
        Checksum::Adler32 => {
            row.adler32_checksums += 1;
            kind::ADLER32_CHECKSUM
        }
        Checksum::Bad { .. } => {
            row.bad_checksums += 1;
            kind::BAD_CHECKSUM
        }
        Checksum::NotCheckable => {
            row.truncated_packets += 1;
            kind::TRUNCATED_PACKET
        }
    };
    note(what, sender, path, seen.moment, ledger);
}

/// A packet may go without a checksum when its receiver announced that it accepts that,
/// but never with INIT or COOKIE ECHO (RFC 9653 section 5.2).
fn zero(seen: &Seen<'_>, sender: End, row: &mut AssociationRow) -> &'static str {
    row.zero_checksums += 1;
    let accepted = match sender {
        End::A => row.b_zero_checksum_method,
        End::B => row.a_zero_checksum_method,
    };
    if accepted.is_some() && !seen.sets_up {
        return kind::ZERO_CHECKSUM;
    }
    match sender {
        End::A => row.a_uncovered_zero_checksums += 1,
        End::B => row.b_uncovered_zero_checksums += 1,
    }
    kind::UNCOVERED_ZERO_CHECKSUM
}
