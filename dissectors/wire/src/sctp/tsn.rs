//! Transmission Sequence Numbers: 32 bits that wrap, compared as RFC 1982 serial
//! numbers (RFC 9260 section 1.6).

/// A TSN as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Tsn(pub u32);

impl Tsn {
    /// Steps from `self` forward to `other`; negative when `other` comes first.
    /// Half the circle apart, where RFC 1982 defines no order, it is `i32::MIN`.
    pub fn distance(self, other: Tsn) -> i32 {
        // The reinterpretation is the point: RFC 1982's order is the sign.
        other.0.wrapping_sub(self.0) as i32
    }

    /// Whether `self` comes before `other`; false both ways half the circle apart.
    pub fn before(self, other: Tsn) -> bool {
        self.distance(other) > 0
    }
}

/// Gives wire TSNs their place on a line that does not wrap. Its only state is
/// the highest TSN seen, and a TSN lies within 2^31 of that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unwrap {
    highest: u64,
}

impl Unwrap {
    /// Puts `first` at 2^32 + `first`, so that TSNs before it have a place too.
    pub fn new(first: u32) -> Self {
        Unwrap { highest: (1 << 32) + u64::from(first) }
    }

    pub fn highest(&self) -> u64 {
        self.highest
    }

    /// The place of `wire`, which becomes the reference when it is the highest.
    pub fn extend(&mut self, wire: u32) -> u64 {
        let place = self.near(wire);
        self.highest = self.highest.max(place);
        place
    }

    /// The place of `wire` without moving the reference.
    pub fn near(&self, wire: u32) -> u64 {
        // The low 32 bits are the wire TSN.
        let reference = Tsn(self.highest as u32);
        self.highest.saturating_add_signed(i64::from(reference.distance(Tsn(wire))))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn order_survives_the_wrap() {
        assert!(Tsn(1).before(Tsn(2)));
        assert!(!Tsn(2).before(Tsn(2)));
        assert!(Tsn(u32::MAX).before(Tsn(0)));
        assert_eq!(Tsn(u32::MAX).distance(Tsn(4)), 5);
        assert_eq!(Tsn(4).distance(Tsn(u32::MAX)), -5);
        assert!(!Tsn(0).before(Tsn(1 << 31)) && !Tsn(1 << 31).before(Tsn(0)));
    }

    #[test]
    fn the_line_does_not_wrap() {
        let mut line = Unwrap::new(u32::MAX);
        let first = line.highest();
        assert_eq!(first, (1 << 32) + u64::from(u32::MAX));
        assert_eq!(line.near(1), first + 2);
        assert_eq!(line.highest(), first);
        assert_eq!(line.extend(1), first + 2);
        assert_eq!(line.extend(u32::MAX - 1), first - 1);
        assert_eq!(line.highest(), first + 2);
    }

    #[test]
    fn tsns_before_the_first_have_a_place() {
        let line = Unwrap::new(0);
        assert_eq!(line.near(u32::MAX), (1 << 32) - 1);
        assert_eq!(line.near(1 << 31), 1 << 31);
    }

    proptest! {
        #[test]
        fn places_follow_the_truth(
            first in any::<u32>(),
            steps in prop::collection::vec(-1000_i64..2000, 1..200),
        ) {
            let mut line = Unwrap::new(first);
            let start = line.highest();
            // A sender that goes forwards, sometimes back by less than it has come.
            let mut truth = start;
            for step in steps {
                truth = truth.saturating_add_signed(step * 500_000).max(start);
                prop_assume!(line.highest().abs_diff(truth) < 1 << 31);
                prop_assert_eq!(line.extend(truth as u32), truth);
                prop_assert_eq!(line.near(truth as u32), truth);
            }
        }

        #[test]
        fn before_is_asymmetric(a in any::<u32>(), b in any::<u32>()) {
            prop_assert!(!(Tsn(a).before(Tsn(b)) && Tsn(b).before(Tsn(a))));
        }
    }
}
