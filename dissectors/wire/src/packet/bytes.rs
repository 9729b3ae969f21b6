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

/// The rest of a packet from some header on.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a> {
    /// As far as captured.
    pub bytes: &'a [u8],
    /// Of `bytes` in what is being read.
    pub offset: usize,
    /// On the wire.
    pub length: usize,
}

impl<'a> Span<'a> {
    pub fn extent(&self) -> Extent {
        Extent { captured: self.bytes.len(), wire: self.length }
    }

    /// What follows a header of `size` bytes.
    pub fn after(self, size: usize) -> Self {
        Span {
            bytes: self.bytes.get(size..).unwrap_or_default(),
            offset: self.offset.saturating_add(size),
            length: self.length.saturating_sub(size),
        }
    }

    /// The first `length` bytes, without what pads or follows them.
    pub fn first(self, length: usize) -> Self {
        let bytes = self.bytes.get(..length).unwrap_or(self.bytes);
        Span { bytes, length: self.length.min(length), ..self }
    }

    /// The header of `N` bytes at the start.
    pub fn header<const N: usize>(
        &self,
        layer: Layer,
        what: &'static str,
    ) -> Result<&'a [u8; N], Problem> {
        self.bytes.first_chunk().ok_or_else(|| self.extent().short(layer, self.offset, N, what))
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

/// A value at `offset` that this version does not know; `what` is what it does know.
pub(crate) fn unknown(layer: Layer, offset: usize, what: &'static str) -> Problem {
    Problem { kind: Kind::Unknown, layer, offset: clamp(offset), needed: 0, available: 0, what }
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

    #[test]
    fn a_span_keeps_its_place() {
        let span = Span { bytes: &[1, 2, 3, 4], offset: 10, length: 6 };
        let rest = span.after(3);
        assert_eq!((rest.bytes, rest.offset, rest.length), (&[4][..], 13, 3));
        let first = rest.first(2);
        assert_eq!((first.bytes, first.length), (&[4][..], 2));
        assert_eq!(span.after(2).first(1).bytes, [3]);
        assert_eq!(span.after(9).length, 0);
        assert_eq!(span.header::<2>(Layer::Link, "two bytes"), Ok(&[1, 2]));
        let short = span.header::<5>(Layer::Link, "five bytes").unwrap_err();
        assert_eq!((short.kind, short.offset, short.available), (Kind::Truncated, 10, 4));
    }
}
