//! Frames that the capture holds twice: taps on several interfaces, the `any`
//! device, mirrored ports, merged files. They are the capture's copies, not the
//! sender's, and must not count as retransmissions.
//!
//! A copy has the same transport bytes (their CRC32c, length, addresses) as an
//! earlier frame, shortly after it. A sender's own retransmission can have the
//! same bytes too, so nearness decides: a copy comes within a millisecond, or,
//! when the IPv4 identification (fresh for every packet sent) is the same and
//! not zero, within a second.

use super::Seen;
use super::flow::Sight;
use crate::address::Address;

const SLOT_BITS: u32 = 14;
const WINDOW_NS: i64 = 1_000_000;
const WINDOW_SAME_ID_NS: i64 = 1_000_000_000;

#[derive(Clone, Copy, Default)]
struct Slot {
    fingerprint: u64,
    time_ns: i64,
}

/// A direct-mapped memory of recent packets: constant time, constant space.
/// A newer packet may push an older one out, which can only miss a copy.
pub struct Duplicates {
    /// Part of each slot's fingerprint: few enough bytes to stay in the processor's nearest cache,
    /// so that a packet which repeats nothing waits for nothing.
    tags: Vec<u16>,
    slots: Vec<Slot>,
}

impl Default for Duplicates {
    fn default() -> Self {
        Duplicates { tags: vec![0; 1 << SLOT_BITS], slots: vec![Slot::default(); 1 << SLOT_BITS] }
    }
}

impl Duplicates {
    /// Whether this packet repeats a recent one; remembers it otherwise.
    pub fn is_copy(&mut self, seen: &Seen<'_>) -> bool {
        let ends = (seen.source, seen.destination);
        let (crc32c, time_ns) = (seen.verdict.crc32c, seen.moment.time_ns);
        self.is_repeated(ends, seen.length, crc32c, seen.ip_id, time_ns)
    }

    /// As [`Duplicates::is_copy`], for TCP and UDP.
    pub fn is_copy_of(&mut self, sight: &Sight<'_>) -> bool {
        let datagram = sight.datagram;
        let ends = (datagram.source, datagram.destination);
        let (crc32c, time_ns) = (sight.crc32c, sight.moment.time_ns);
        self.is_repeated(ends, datagram.length, crc32c, datagram.ip_id, time_ns)
    }

    fn is_repeated(
        &mut self,
        ends: (Address, Address),
        length: u32,
        crc32c: u32,
        ip_id: Option<u16>,
        time_ns: i64,
    ) -> bool {
        // A packet without an identification has the fingerprint of one with 0, and is treated so.
        let ip_id = ip_id.unwrap_or(0);
        let fingerprint = fingerprint(ends, length, crc32c, ip_id);
        // The product's high bits depend on every bit that went in, its low bits on few.
        let index = (fingerprint >> (u64::BITS - SLOT_BITS)) as usize;
        let tag = (fingerprint >> (u64::BITS - SLOT_BITS - u16::BITS)) as u16;
        let (Some(known), Some(slot)) = (self.tags.get_mut(index), self.slots.get_mut(index))
        else {
            return false;
        };
        if *known == tag && slot.fingerprint == fingerprint {
            let age_ns = time_ns.saturating_sub(slot.time_ns).saturating_abs();
            let window_ns = if ip_id == 0 { WINDOW_NS } else { WINDOW_SAME_ID_NS };
            if age_ns <= window_ns {
                return true;
            }
        }
        *known = tag;
        *slot = Slot { fingerprint, time_ns };
        false
    }
}

fn fingerprint(ends: (Address, Address), length: u32, crc32c: u32, ip_id: u16) -> u64 {
    let mixed = ends.0.bits() ^ ends.1.bits().rotate_left(17);
    let folded = (mixed >> 64) as u64 ^ mixed as u64 ^ u64::from(ip_id) << 48;
    let content = u64::from(crc32c) << 32 | u64::from(length);
    // Multiplying by a large odd number spreads neighbouring addresses over the slots.
    // An empty slot has fingerprint 0, a packet never.
    (folded.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ content).wrapping_mul(0xff51_afd7_ed55_8ccd) | 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const A: Address = Address::UNSPECIFIED;

    /// One sight of a packet of 100 bytes.
    fn sees(duplicates: &mut Duplicates, ip_id: Option<u16>, crc32c: u32, time_ns: i64) -> bool {
        duplicates.is_repeated((A, Address::v4([10, 0, 0, 2])), 100, crc32c, ip_id, time_ns)
    }

    /// Whether a second sight of a packet, `age_ns` after the first, is a copy.
    fn is_copy(then: Option<u16>, now: Option<u16>, age_ns: i64) -> bool {
        let mut duplicates = Duplicates::default();
        assert!(!sees(&mut duplicates, then, 1, 5_000_000_000));
        sees(&mut duplicates, now, 1, 5_000_000_000 + age_ns)
    }

    #[test]
    fn nearness_decides() {
        for id in [None, Some(0), Some(7)] {
            assert!(is_copy(id, id, 0) && is_copy(id, id, WINDOW_NS), "{id:?}");
            // Captures of several interfaces go back in time.
            assert!(is_copy(id, id, -WINDOW_NS), "{id:?}");
            assert!(!is_copy(id, id, WINDOW_SAME_ID_NS + 1), "{id:?}");
        }
        assert!(!is_copy(None, None, WINDOW_NS + 1) && !is_copy(Some(0), Some(0), WINDOW_NS + 1));
    }

    #[test]
    fn the_identification_decides_where_there_is_one() {
        assert!(is_copy(Some(7), Some(7), WINDOW_SAME_ID_NS));
        assert!(!is_copy(Some(7), Some(8), 0) && !is_copy(Some(0), Some(8), 0));
    }

    #[test]
    fn content_length_and_addresses_make_the_packet() {
        let mut duplicates = Duplicates::default();
        let (a, b) = (A, Address::v4([10, 0, 0, 2]));
        let mut sees = |ends, length, crc32c| duplicates.is_repeated(ends, length, crc32c, None, 0);
        assert!(!sees((a, b), 100, 1));
        assert!(!sees((a, b), 100, 2));
        assert!(!sees((a, b), 104, 1));
        assert!(!sees((b, a), 100, 1));
        assert!(sees((a, b), 100, 1));
    }

    proptest! {
        /// A burst on one path, with packets of one length, lies in slots of its own.
        #[test]
        fn a_burst_is_remembered(checksums in prop::collection::hash_set(any::<u32>(), 64)) {
            let mut duplicates = Duplicates::default();
            let first = checksums.iter().filter(|c| sees(&mut duplicates, None, **c, 0)).count();
            prop_assert_eq!(first, 0);
            let again = checksums.iter().filter(|c| sees(&mut duplicates, None, **c, 0)).count();
            // By chance 64 packets collide 64 * 63 / 2 / 16384 times, and a collision costs both.
            prop_assert!(again >= 56, "{again} of 64");
        }
    }
}
