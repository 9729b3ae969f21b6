//! Timestamps of pcapng: units whose size and origin each interface chooses
//! (`if_tsresol`, `if_tsoffset`: draft-ietf-opsawg-pcapng, section 4.2).

/// Without `if_tsresol` a unit is a microsecond.
pub(super) const DEFAULT_RESOLUTION: u8 = 6;

const NANOSECONDS: u128 = 1_000_000_000;

/// Turns units into nanoseconds: `units * multiplier / divisor + offset_ns`.
pub(super) struct Clock {
    resolution: u8,
    multiplier: u64,
    divisor: u128,
    offset_ns: i128,
}

impl Clock {
    /// `resolution` is `if_tsresol`: the negative power of 10, or of 2 with the highest bit set.
    /// `offset_s` is `if_tsoffset`.
    pub fn new(resolution: u8, offset_s: i64) -> Self {
        let exponent = u32::from(resolution & 0x7f);
        let (multiplier, divisor) = if resolution & 0x80 != 0 {
            (NANOSECONDS, 1 << exponent)
        } else if exponent <= 9 {
            (10_u128.pow(9 - exponent), 1)
        } else {
            // No 64-bit number of units that small makes a nanosecond, whatever the divisor.
            (1, 10_u128.checked_pow(exponent - 9).unwrap_or(u128::MAX))
        };
        Clock {
            resolution,
            // At most 10^9 in all three cases.
            multiplier: multiplier as u64,
            divisor,
            offset_ns: i128::from(offset_s) * NANOSECONDS as i128,
        }
    }

    /// Nanoseconds since 1970, rounded down, if 64 bits hold them.
    #[inline]
    pub fn time_ns(&self, units: u64) -> Option<i64> {
        if self.divisor == 1 && self.offset_ns == 0 {
            return i64::try_from(units.checked_mul(self.multiplier)?).ok();
        }
        let ns = u128::from(units) * u128::from(self.multiplier) / self.divisor;
        i64::try_from(i128::try_from(ns).ok()? + self.offset_ns).ok()
    }

    /// "10^-6 s".
    pub fn unit(&self) -> String {
        let base = if self.resolution & 0x80 != 0 { 2 } else { 10 };
        format!("{base}^-{} s", self.resolution & 0x7f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_ten_and_of_two() {
        assert_eq!(Clock::new(6, 0).time_ns(1_500_000), Some(1_500_000_000));
        assert_eq!(Clock::new(9, 0).time_ns(7), Some(7));
        assert_eq!(Clock::new(0, 0).time_ns(7), Some(7_000_000_000));
        assert_eq!(Clock::new(12, 0).time_ns(7_999), Some(7));
        assert_eq!(Clock::new(0x8a, 0).time_ns(1536), Some(1_500_000_000));
        assert_eq!(Clock::new(0x7f, 0).time_ns(u64::MAX), Some(0));
        assert_eq!(Clock::new(0xff, 0).time_ns(u64::MAX), Some(0));
        assert_eq!(Clock::new(0x8a, 0).unit(), "2^-10 s");
        assert_eq!(Clock::new(9, 0).unit(), "10^-9 s");
    }

    #[test]
    fn offsets_are_seconds_of_either_sign() {
        assert_eq!(Clock::new(3, 100).time_ns(1), Some(100_001_000_000));
        assert_eq!(Clock::new(3, -1).time_ns(1), Some(-999_000_000));
    }

    #[test]
    fn times_beyond_64_bits_are_none() {
        assert_eq!(Clock::new(0, 0).time_ns(9_223_372_037), None);
        assert_eq!(Clock::new(6, i64::MAX).time_ns(0), None);
        assert_eq!(Clock::new(0x80, i64::MIN).time_ns(u64::MAX), None);
    }
}
