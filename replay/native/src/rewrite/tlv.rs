//! SCTP's type-length-values where they stand: chunks, parameters, causes, and the addresses
//! in them (RFC 9260 sections 3.2, 3.3.2.1, 3.3.10; RFC 5061 section 4.2).
//!
//! `pathscope_wire` reads them as views; here they are written to, so what is kept is places.

use std::ops::Range;

use pathscope_wire::sctp::param::{
    ADD_IP_ADDRESS, DELETE_IP_ADDRESS, ERROR_CAUSE_INDICATION, IPV4_ADDRESS, IPV6_ADDRESS,
    SET_PRIMARY_ADDRESS, UNRECOGNIZED_PARAMETER,
};

use super::Rewriter;
use super::change::Change;

const HEADER: usize = 4;
/// The ID that a request's parameter and its answer begin with.
const CORRELATION: usize = 4;
/// Causes that hold the parameters at fault: unresolvable address, restart with new addresses
/// (RFC 9260 sections 3.3.10.5 and 3.3.10.11), and those of RFC 5061 section 4.3.
const CAUSES_WITH_PARAMETERS: [u16; 7] = [5, 8, 11, 0x00a0, 0x00a1, 0x00a2, 0x00a4];
/// Parameters in causes in parameters: no more of them have a meaning.
const MOST_DEPTH: u8 = 4;

/// One element that is all there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tlv {
    /// The two bytes before the length.
    pub kind: u16,
    pub value: Range<usize>,
    /// Where the next one begins: after the padding.
    pub next: usize,
}

impl Tlv {
    /// The element at `at`; none at the end, and where its length lies.
    pub fn read(bytes: &[u8], at: usize, end: usize) -> Option<Tlv> {
        let &[a, b, c, d] = bytes.get(at..end)?.first_chunk::<HEADER>()?;
        let length = usize::from(u16::from_be_bytes([c, d]));
        if length < HEADER || length > end - at {
            return None;
        }
        let (value, next) = (at + HEADER..at + length, at + length.next_multiple_of(4));
        Some(Tlv { kind: u16::from_be_bytes([a, b]), value, next })
    }
}

/// The elements in `over`.
pub(super) fn tlvs(bytes: &[u8], over: Range<usize>) -> impl Iterator<Item = Tlv> + '_ {
    let mut at = over.start;
    std::iter::from_fn(move || {
        let one = Tlv::read(bytes, at, over.end)?;
        at = one.next;
        Some(one)
    })
}

impl Rewriter {
    /// Maps the addresses in the parameters in `over`; says whether that changed any.
    pub(super) fn parameters(
        &self,
        packet: &mut [u8],
        over: Range<usize>,
        change: &mut Change,
    ) -> bool {
        self.elements(packet, over, change, MOST_DEPTH)
    }

    /// As [`Rewriter::parameters`], for error causes.
    pub(super) fn causes(
        &self,
        packet: &mut [u8],
        over: Range<usize>,
        change: &mut Change,
    ) -> bool {
        self.causes_within(packet, over, change, MOST_DEPTH)
    }

    fn elements(
        &self,
        packet: &mut [u8],
        over: Range<usize>,
        change: &mut Change,
        depth: u8,
    ) -> bool {
        let Some(deeper) = depth.checked_sub(1) else { return false };
        let (mut at, mut changed) = (over.start, false);
        while let Some(one) = Tlv::read(packet, at, over.end) {
            at = one.next;
            let Range { start, end } = one.value;
            changed |= match (one.kind, end - start) {
                (IPV4_ADDRESS, 4) => self.rules.write_address::<4>(packet, start, change),
                (IPV6_ADDRESS, 16) => self.rules.write_address::<16>(packet, start, change),
                (ADD_IP_ADDRESS | DELETE_IP_ADDRESS | SET_PRIMARY_ADDRESS, _) => {
                    self.elements(packet, start + CORRELATION..end, change, deeper)
                }
                (UNRECOGNIZED_PARAMETER, _) => self.elements(packet, start..end, change, deeper),
                (ERROR_CAUSE_INDICATION, _) => {
                    self.causes_within(packet, start + CORRELATION..end, change, deeper)
                }
                _ => false,
            };
        }
        changed
    }

    fn causes_within(
        &self,
        packet: &mut [u8],
        over: Range<usize>,
        change: &mut Change,
        depth: u8,
    ) -> bool {
        let Some(deeper) = depth.checked_sub(1) else { return false };
        let (mut at, mut changed) = (over.start, false);
        while let Some(cause) = Tlv::read(packet, at, over.end) {
            at = cause.next;
            if CAUSES_WITH_PARAMETERS.contains(&cause.kind) {
                changed |= self.elements(packet, cause.value, change, deeper);
            }
        }
        changed
    }
}

#[cfg(test)]
mod tests {
    use super::super::build::tlv;
    use super::*;

    #[test]
    fn elements_follow_each_other() {
        let bytes = [&[9; 2][..], &tlv([0, 5], &[1; 5]), &tlv([0xc0, 1], &[])].concat();
        let found: Vec<_> = tlvs(&bytes, 2..bytes.len()).collect();
        assert_eq!(found.iter().map(|one| one.kind).collect::<Vec<_>>(), [5, 0xc001]);
        assert_eq!((found[0].value.clone(), found[0].next), (6..11, 14));
        // The padding of the last may be missing (RFC 9260 section 3.2).
        assert_eq!(Tlv::read(&bytes, 2, 11).map(|one| one.next), Some(14));
    }

    #[test]
    fn lengths_that_lie_end_the_walk() {
        for bytes in [&[0, 5, 0, 3, 0, 0][..], &[0, 5, 0, 9, 1, 2, 3, 4], &[0, 5, 0], &[]] {
            assert_eq!(Tlv::read(bytes, 0, bytes.len()), None);
        }
        assert_eq!(Tlv::read(&[0, 5, 0, 4], 8, 4), None);
    }
}
