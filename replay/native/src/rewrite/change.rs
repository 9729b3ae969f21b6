//! Writing into a packet under an Internet checksum (RFC 1624): what was written is kept as the
//! difference that it makes to the sum, so that the checksum can follow without its other bytes.

use pathscope_wire::checksum::fold;

/// Ones' complement difference of new bytes to old ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Change(u64);

impl Change {
    /// Replaces the bytes at `at`, which counts from an even place of everything that is summed.
    /// False when they are not all there: then nothing is written.
    pub fn write(&mut self, bytes: &mut [u8], at: usize, new: &[u8]) -> bool {
        let end = at.saturating_add(new.len());
        let Some(old) = bytes.get_mut(at..end) else { return false };
        for (place, (old, new)) in (at..).zip(old.iter_mut().zip(new)) {
            // A word's first byte is its high one; 0xffff - x is -x.
            let shift = if place % 2 == 0 { 8 } else { 0 };
            let difference = (u64::from(*new) << shift) + (0xffff - (u64::from(*old) << shift));
            self.0 = self.0.saturating_add(difference);
            *old = *new;
        }
        true
    }

    pub fn and(self, other: Change) -> Change {
        Change(self.0.saturating_add(other.0))
    }

    pub fn is_none(self) -> bool {
        self.0 == 0
    }

    /// The checksum field after the change: what was wrong about it stays (equation 3).
    pub fn applied(self, field: u16) -> u16 {
        if self.is_none() {
            return field;
        }
        complement(u64::from(!field).saturating_add(self.0))
    }
}

/// The checksum field that goes with a sum.
pub(super) fn complement(sum: u64) -> u16 {
    // Folded into 16 bits: nothing is cut off.
    !(fold(sum) as u16)
}

#[cfg(test)]
mod tests {
    use pathscope_wire::checksum::sum;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_the_rfc() {
        // RFC 1624 section 4: 0xDD2F becomes 0x0000 when 0x5555 becomes 0x3285.
        let mut change = Change::default();
        let mut bytes = [0x55, 0x55];
        assert!(change.write(&mut bytes, 0, &[0x32, 0x85]));
        assert_eq!((bytes, change.applied(0xdd2f)), ([0x32, 0x85], 0));
        assert!(!change.write(&mut bytes, 1, &[1, 2]));
        assert_eq!(bytes, [0x32, 0x85]);
        assert_eq!(Change::default().applied(0xffff), 0xffff);
    }

    proptest! {
        #[test]
        fn as_if_summed_again(
            mut bytes in prop::collection::vec(any::<u8>(), 1..60),
            new in prop::collection::vec(any::<u8>(), 1..20),
            at in any::<prop::sample::Index>(),
        ) {
            // Not all zeros, of which the sum has two forms.
            bytes.insert(0, 1);
            bytes.insert(0, 0);
            let at = 2 + at.index(bytes.len() - 2);
            let before = complement(sum(&bytes));
            let mut change = Change::default();
            let new = &new[..new.len().min(bytes.len() - at)];
            prop_assert!(change.write(&mut bytes, at, new));
            prop_assert_eq!(change.applied(before), complement(sum(&bytes)));
        }
    }
}
