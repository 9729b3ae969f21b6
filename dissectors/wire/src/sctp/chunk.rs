//! Chunks (RFC 9260 section 3.2): types, flags, and the walk over a packet.

use super::tlv::{HEADER, Tlvs};
use super::{COMMON_HEADER, Params};
use crate::packet::bytes::{Extent, clamp};
use crate::problem::{Kind, Layer, Problem};

pub const DATA: u8 = 0;
pub const INIT: u8 = 1;
pub const INIT_ACK: u8 = 2;
pub const SACK: u8 = 3;
pub const HEARTBEAT: u8 = 4;
pub const HEARTBEAT_ACK: u8 = 5;
pub const ABORT: u8 = 6;
pub const SHUTDOWN: u8 = 7;
pub const SHUTDOWN_ACK: u8 = 8;
pub const ERROR: u8 = 9;
pub const COOKIE_ECHO: u8 = 10;
pub const COOKIE_ACK: u8 = 11;
pub const ECNE: u8 = 12;
pub const CWR: u8 = 13;
pub const SHUTDOWN_COMPLETE: u8 = 14;
/// RFC 4895.
pub const AUTH: u8 = 15;
/// draft-natarajan-tsvwg-sctp-nrsack.
pub const NR_SACK: u8 = 16;
/// RFC 8260.
pub const I_DATA: u8 = 64;
/// RFC 5061.
pub const ASCONF_ACK: u8 = 128;
/// draft-stewart-sctp-pktdrprep.
pub const PKTDROP: u8 = 129;
/// RFC 6525.
pub const RE_CONFIG: u8 = 130;
/// RFC 4820.
pub const PAD: u8 = 132;
/// RFC 3758.
pub const FORWARD_TSN: u8 = 192;
/// RFC 5061.
pub const ASCONF: u8 = 193;
/// RFC 8260.
pub const I_FORWARD_TSN: u8 = 194;

/// Flags of DATA and I-DATA: the last, the first fragment of a user message,
/// no order, and "acknowledge at once" (RFC 9260 section 3.3.1).
pub const FLAG_ENDING: u8 = 0x01;
pub const FLAG_BEGINNING: u8 = 0x02;
pub const FLAG_UNORDERED: u8 = 0x04;
pub const FLAG_IMMEDIATE: u8 = 0x08;
/// Flag of ABORT and SHUTDOWN COMPLETE: the verification tag is reflected, not
/// the receiver's (RFC 9260 section 8.5.1).
pub const FLAG_TAG_REFLECTED: u8 = 0x01;

/// The RFC's spelling of a chunk type; "unknown" if no RFC read here has it.
pub fn name(kind: u8) -> &'static str {
    match kind {
        DATA => "DATA",
        INIT => "INIT",
        INIT_ACK => "INIT ACK",
        SACK => "SACK",
        HEARTBEAT => "HEARTBEAT",
        HEARTBEAT_ACK => "HEARTBEAT ACK",
        ABORT => "ABORT",
        SHUTDOWN => "SHUTDOWN",
        SHUTDOWN_ACK => "SHUTDOWN ACK",
        ERROR => "ERROR",
        COOKIE_ECHO => "COOKIE ECHO",
        COOKIE_ACK => "COOKIE ACK",
        ECNE => "ECNE",
        CWR => "CWR",
        SHUTDOWN_COMPLETE => "SHUTDOWN COMPLETE",
        AUTH => "AUTH",
        NR_SACK => "NR-SACK",
        I_DATA => "I-DATA",
        ASCONF_ACK => "ASCONF-ACK",
        PKTDROP => "PKTDROP",
        RE_CONFIG => "RE-CONFIG",
        PAD => "PAD",
        FORWARD_TSN => "FORWARD-TSN",
        ASCONF => "ASCONF",
        I_FORWARD_TSN => "I-FORWARD-TSN",
        _ => "unknown",
    }
}

/// One chunk. The views of its value (`data`, `sack`, ...) stand in the module of
/// their chunk type; each errs with [`Kind::Unknown`] on a chunk of another type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chunk<'a> {
    /// Of the chunk header in the SCTP packet.
    pub offset: u32,
    pub kind: u8,
    pub flags: u8,
    /// As on the wire: with the 4 bytes of header, without padding.
    pub length: u16,
    /// After the header, as far as captured.
    pub value: &'a [u8],
    /// The capture kept less than `length`.
    pub truncated: bool,
}

impl<'a> Chunk<'a> {
    pub fn name(&self) -> &'static str {
        name(self.kind)
    }

    /// Bytes of value on the wire.
    pub fn value_length(&self) -> u32 {
        u32::from(self.length).saturating_sub(HEADER)
    }

    /// Offset of the value in the SCTP packet.
    pub(super) fn base(&self) -> u32 {
        self.offset.saturating_add(HEADER)
    }

    pub(super) fn require(&self, kinds: &[u8], what: &'static str) -> Result<(), Problem> {
        if kinds.contains(&self.kind) {
            return Ok(());
        }
        let (offset, available) = (self.offset, clamp(self.value.len()));
        Err(Problem {
            kind: Kind::Unknown,
            layer: Layer::Chunk,
            offset,
            needed: 0,
            available,
            what,
        })
    }

    /// The value's first `N` bytes, and what was captured after them.
    pub(super) fn fixed<const N: usize>(
        &self,
        what: &'static str,
    ) -> Result<(&'a [u8; N], &'a [u8]), Problem> {
        self.value.split_first_chunk::<N>().ok_or_else(|| self.short(N, what))
    }

    /// The problem of a value that has not `needed` bytes.
    pub(super) fn short(&self, needed: usize, what: &'static str) -> Problem {
        let extent = Extent { captured: self.value.len(), wire: self.value_length() as usize };
        extent.short(Layer::Chunk, self.base() as usize, needed, what)
    }

    /// The parameters in the value, from `position` on.
    pub(super) fn params(&self, position: u32) -> Params<'a> {
        Params(self.tlvs(Layer::Parameter, position))
    }

    pub(super) fn tlvs(&self, layer: Layer, position: u32) -> Tlvs<'a> {
        Tlvs::new(layer, self.value, self.value_length(), self.base(), position)
    }
}

/// The chunks of one packet, first to last.
///
/// An `Err` is the last item: a length that is malformed, or the place where the
/// capture ends. A chunk that the capture cut is still given, with `truncated`
/// set, before that error. Padding may be missing after the last chunk.
#[derive(Clone, Debug)]
pub struct Chunks<'a>(Tlvs<'a>);

impl<'a> Chunks<'a> {
    /// The chunks of `sctp`, a packet from its common header on, of which there
    /// were `wire_length` bytes on the wire.
    pub fn new(sctp: &'a [u8], wire_length: u32) -> Self {
        let wire = wire_length.max(clamp(sctp.len()));
        Chunks(Tlvs::new(Layer::Chunk, sctp, wire, 0, COMMON_HEADER as u32))
    }
}

impl<'a> Iterator for Chunks<'a> {
    type Item = Result<Chunk<'a>, Problem>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let tlv = match self.0.next()? {
            Ok(tlv) => tlv,
            Err(problem) => return Some(Err(problem)),
        };
        let [kind, flags] = tlv.kind;
        Some(Ok(Chunk {
            offset: tlv.offset,
            kind,
            flags,
            length: tlv.length,
            value: tlv.value,
            truncated: tlv.truncated,
        }))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::sctp::build::{chunk, packet};
    use crate::sctp::parse;

    fn walk(bytes: &[u8], wire: usize) -> Vec<Result<Chunk<'_>, Problem>> {
        parse(bytes, u32::try_from(wire).unwrap()).unwrap().1.collect()
    }

    /// Kind, offset, needed, available.
    type Shape = (Kind, u32, u32, u32);

    /// The kinds of the good chunks, then the problem.
    fn outcome(bytes: &[u8], wire: usize) -> (Vec<u8>, Option<Shape>) {
        let items = walk(bytes, wire);
        let kinds = items.iter().flatten().map(|chunk| chunk.kind).collect();
        let mut problems = items.into_iter().filter_map(Result::err);
        let problem = problems.next();
        assert_eq!(problems.next(), None);
        (kinds, problem.map(|p| (p.kind, p.offset, p.needed, p.available)))
    }

    #[test]
    fn bundled_chunks_in_order() {
        let bytes = packet(&[chunk(COOKIE_ECHO, 0, &[1; 5]), chunk(DATA, 3, &[2; 13])]);
        let chunks: Vec<_> = walk(&bytes, bytes.len()).into_iter().flatten().collect();
        assert_eq!((chunks[0].offset, chunks[0].length, chunks[0].value), (12, 9, &[1; 5][..]));
        assert_eq!((chunks[1].offset, chunks[1].length, chunks[1].flags), (24, 17, 3));
        assert_eq!(chunks[1].name(), "DATA");
        assert_eq!(outcome(&bytes, bytes.len()), (vec![COOKIE_ECHO, DATA], None));
    }

    #[test]
    fn final_padding_may_be_missing() {
        let bytes = packet(&[chunk(DATA, 3, &[2; 13])]);
        for cut in 0..=3 {
            let bytes = &bytes[..bytes.len() - cut];
            assert_eq!(outcome(bytes, bytes.len()), (vec![DATA], None));
        }
    }

    #[test]
    fn bytes_too_few_for_a_chunk() {
        for extra in 1..=3 {
            let bytes = packet(&[chunk(COOKIE_ACK, 0, &[]), vec![0; extra]]);
            let problem = (Kind::Malformed, 16, 4, extra as u32);
            assert_eq!(outcome(&bytes, bytes.len()), (vec![COOKIE_ACK], Some(problem)));
        }
    }

    #[test]
    fn lengths_that_lie() {
        let below_header = packet(&[vec![0, 0, 0, 3]]);
        assert_eq!(outcome(&below_header, 16), (vec![], Some((Kind::Malformed, 12, 4, 3))));
        let zero = packet(&[chunk(COOKIE_ACK, 0, &[]), vec![0; 8]]);
        assert_eq!(outcome(&zero, 24), (vec![COOKIE_ACK], Some((Kind::Malformed, 16, 4, 0))));
        let beyond = packet(&[vec![0, 0, 0, 9, 0, 0, 0, 0]]);
        assert_eq!(outcome(&beyond, 20), (vec![], Some((Kind::Malformed, 12, 9, 8))));
        assert_eq!(outcome(&beyond[..14], 14), (vec![], Some((Kind::Malformed, 12, 4, 2))));
    }

    #[test]
    fn a_cut_chunk_is_given_before_the_problem() {
        let bytes = packet(&[chunk(COOKIE_ACK, 0, &[]), chunk(DATA, 3, &[2; 40]), vec![9; 20]]);
        let wire = bytes.len();
        let cut = walk(&bytes[..30], wire);
        let chunk = cut[1].clone().unwrap();
        assert_eq!((chunk.kind, chunk.value, chunk.truncated), (DATA, &[2; 10][..], true));
        assert_eq!(chunk.value_length(), 40);
        let problem = (Kind::Truncated, 16, 44, 14);
        assert_eq!(outcome(&bytes[..30], wire), (vec![COOKIE_ACK, DATA], Some(problem)));
        // Cut inside a chunk header, and between chunks.
        let problem = (Kind::Truncated, 16, 4, 2);
        assert_eq!(outcome(&bytes[..18], wire), (vec![COOKIE_ACK], Some(problem)));
        let problem = (Kind::Truncated, 16, 4, 0);
        assert_eq!(outcome(&bytes[..16], wire), (vec![COOKIE_ACK], Some(problem)));
    }

    #[test]
    fn every_type_has_the_name_of_its_rfc() {
        let named = (0..=255).filter(|kind| name(*kind) != "unknown").count();
        assert_eq!(named, 25);
        assert_eq!((name(I_FORWARD_TSN), name(63)), ("I-FORWARD-TSN", "unknown"));
    }

    proptest! {
        #[test]
        fn a_walk_over_whole_chunks_returns_them(
            chunks in prop::collection::vec(
                (any::<u8>(), any::<u8>(), prop::collection::vec(any::<u8>(), 0..50)), 0..8),
        ) {
            let built = chunks.iter().map(|(kind, flags, value)| chunk(*kind, *flags, value));
            let bytes = packet(&built.collect::<Vec<_>>());
            let walked = walk(&bytes, bytes.len()).into_iter().map(|chunk| {
                let chunk = chunk.unwrap();
                (chunk.kind, chunk.flags, chunk.value.to_vec())
            });
            prop_assert_eq!(walked.collect::<Vec<_>>(), chunks);
        }

        #[test]
        fn a_walk_accounts_for_every_byte(
            bytes in prop::collection::vec(prop_oneof![Just(0_u8), 0_u8..12, any::<u8>()], 12..120),
            beyond in 0_usize..60,
        ) {
            let wire = bytes.len() + beyond;
            let mut next = 12;
            let mut failed = false;
            for item in walk(&bytes, wire) {
                prop_assert!(!failed);
                match item {
                    Ok(chunk) => {
                        prop_assert_eq!(chunk.offset as usize, next);
                        let value = &bytes[next + 4..];
                        let length = usize::from(chunk.length);
                        prop_assert_eq!(chunk.value, &value[..value.len().min(length - 4)]);
                        prop_assert_eq!(chunk.truncated, chunk.value.len() + 4 < length);
                        if !chunk.truncated {
                            next = (next + length.next_multiple_of(4)).min(wire);
                        }
                    }
                    Err(problem) => {
                        prop_assert_eq!(problem.offset as usize, next);
                        failed = true;
                    }
                }
            }
            prop_assert!(failed || next == wire);
        }
    }
}
