//! MPLS label stacks (RFC 3032). What is below the stack is not named in it:
//! it is IP where the first four bits are an IP version (RFC 4928 section 2),
//! and Ethernet where a control word and an EtherType at its place say so.

use super::super::bytes::{Span, be16, be32};
use super::super::{Inner, Skip, Stop};
use super::ether;
use crate::problem::Layer;

const ENTRY: usize = 4;
const BOTTOM_OF_STACK: u32 = 1 << 8;
/// The control word of a pseudowire (RFC 4385), and the Ethernet header behind it.
const PSEUDOWIRE: usize = 4 + 14;

/// Walks the label stack at the start of `stack`; it ends with the bytes, if not before.
pub(super) fn read(mut stack: Span<'_>) -> Result<Inner<'_>, Stop> {
    loop {
        let entry = be32::<0, ENTRY>(stack.header::<ENTRY>(Layer::Link, "MPLS label")?);
        stack = stack.after(ENTRY);
        if entry & BOTTOM_OF_STACK != 0 {
            return below(stack);
        }
    }
}

fn below(payload: Span<'_>) -> Result<Inner<'_>, Stop> {
    match payload.bytes.first().map(|first| first >> 4) {
        // What is missing is told as IP's.
        Some(4 | 6) | None => Ok(Inner::Ip(payload)),
        Some(0) if is_pseudowire(payload.bytes) => Ok(Inner::Ethernet(payload.after(4))),
        _ => Err(Stop::Skip(Skip::NotIp)),
    }
}

/// The first four bits of an Ethernet address without a control word may be 0 as
/// well, so a control word counts as one only without flags, fragments and
/// length, and with a known EtherType where it puts that.
fn is_pseudowire(bytes: &[u8]) -> bool {
    match bytes.first_chunk::<PSEUDOWIRE>() {
        Some(header @ [0, 0, ..]) => {
            matches!(be16::<16, PSEUDOWIRE>(header), ether::IPV4 | ether::IPV6 | ether::VLAN)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::outcome;
    use crate::packet::build::ethernet;

    const INNER: [u8; 4] = [0, 0x10, 0x01, 64];
    const OUTER: [u8; 4] = [0, 0x20, 0x00, 64];

    fn mpls(payload: &[u8]) -> String {
        outcome(1, &ethernet(0x8847, payload))
    }

    #[test]
    fn the_stack_ends_at_its_bottom() {
        assert_eq!(mpls(&INNER), "ip");
        assert_eq!(mpls(&[OUTER, OUTER, INNER].concat()), "ip");
        assert_eq!(outcome(1, &ethernet(0x8848, &INNER)), "ip");
        let endless = OUTER.repeat(10);
        let outcome = super::read(super::super::tests::span(&endless));
        assert!(matches!(outcome, Err(super::Stop::Problem(_))));
    }

    #[test]
    fn ethernet_needs_a_control_word() {
        let frame = |word: &[u8], ether_type| {
            let whole = [&INNER, word, &ethernet(ether_type, &[0x45; 20])].concat();
            match super::read(super::super::tests::span(&whole)) {
                Ok(super::Inner::Ethernet(inner)) => Some(inner.offset),
                _ => None,
            }
        };
        assert_eq!(frame(&[0, 0, 0, 9], 0x0800), Some(8));
        assert_eq!(frame(&[0, 0, 0, 9], 0x0806), None);
        assert_eq!(frame(&[0, 7, 0, 9], 0x0800), None);
        assert_eq!(frame(&[0x10, 0, 0, 7], 0x0800), None);
        assert_eq!(frame(&[], 0x0800), None);
    }
}
