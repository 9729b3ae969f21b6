//! Fields out of byte arrays, and the one way to say that bytes are missing.

use crate::problem::{Kind, Layer, Problem};

/// The big-endian field at `AT`. The array's size is part of its type, so a
/// field that does not fit is a compile error, never a panic.
pub(crate) fn be16<const AT: usize, const N: usize>(bytes: &[u8; N]) -> u16 {
    const { assert!(AT + 2 <= N) };
    u16::from_be_bytes([bytes[AT], bytes[AT + 1]])
}

/// As [`be16`], for 32 bits.
pub(crate) fn be32<const AT: usize, const N: usize>(bytes: &[u8; N]) -> u32 {
    const { assert!(AT + 4 <= N) };
    u32::from_be_bytes([bytes[AT], bytes[AT + 1], bytes[AT + 2], bytes[AT + 3]])
}

pub(crate) fn clamp(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Bytes of one layer: what the capture kept, and how many there were on the wire.
#[derive(Clone, Copy)]
pub(crate) struct Extent {
    pub captured: usize,
    pub wire: usize,
}

impl Extent {
    /// The problem of `needed` bytes at `offset` that are not all there:
    /// truncated when the wire had them, malformed when it had not.
    pub fn short(self, layer: Layer, offset: usize, needed: usize, what: &'static str) -> Problem {
        let (kind, available) = if self.wire < needed {
            (Kind::Malformed, self.wire)
        } else {
            (Kind::Truncated, self.captured)
        };
        Problem {
            kind,
            layer,
            offset: clamp(offset),
            needed: clamp(needed),
            available: clamp(available),
            what,
        }
    }
}

/// Bytes that contradict themselves: `needed` is what the field claims or must be.
pub(crate) fn malformed(
    layer: Layer,
    offset: usize,
    needed: usize,
    available: usize,
    what: &'static str,
) -> Problem {
    Problem {
        kind: Kind::Malformed,
        layer,
        offset: clamp(offset),
        needed: clamp(needed),
        available: clamp(available),
        what,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_big_endian() {
        let bytes = [1, 2, 3, 4, 5];
        assert_eq!(be16::<3, 5>(&bytes), 0x0405);
        assert_eq!(be32::<1, 5>(&bytes), 0x0203_0405);
    }

    #[test]
    fn short_blames_the_capture_only_when_the_wire_had_the_bytes() {
        let cut = Extent { captured: 3, wire: 40 }.short(Layer::Ip, 14, 20, "IPv4 header");
        assert_eq!((cut.kind, cut.offset, cut.needed, cut.available), (Kind::Truncated, 14, 20, 3));
        let lie = Extent { captured: 3, wire: 10 }.short(Layer::Ip, 14, 20, "IPv4 header");
        assert_eq!((lie.kind, lie.available), (Kind::Malformed, 10));
    }
}
