//! TCP options (RFC 9293 section 3.2; RFC 7323; RFC 2018; RFC 8684).

use super::HEADER;
use super::mptcp::{self, Mptcp};
use crate::packet::bytes::{Extent, clamp, malformed};
use crate::problem::{Kind, Layer, Problem};

pub const END_OF_LIST: u8 = 0;
pub const NO_OPERATION: u8 = 1;
pub const MAXIMUM_SEGMENT_SIZE: u8 = 2;
/// RFC 7323 section 2.
pub const WINDOW_SCALE: u8 = 3;
/// RFC 2018 section 2.
pub const SACK_PERMITTED: u8 = 4;
/// RFC 2018 section 3.
pub const SACK: u8 = 5;
/// RFC 7323 section 3.
pub const TIMESTAMPS: u8 = 8;
/// RFC 8684.
pub const MULTIPATH: u8 = 30;

/// Greatest shift that a receiver takes (RFC 7323 section 2.3).
pub const MAXIMUM_SHIFT: u8 = 14;

/// One option. No-operation and end-of-list are not given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opt<'a> {
    MaximumSegmentSize(u16),
    /// The shift as on the wire, of which a receiver applies at most [`MAXIMUM_SHIFT`].
    WindowScale(u8),
    SackPermitted,
    Sack(Sack<'a>),
    /// TSval and TSecr.
    Timestamps {
        value: u32,
        echo: u32,
    },
    Multipath(Mptcp<'a>),
    /// An option that is not read here.
    Other {
        kind: u8,
        value: &'a [u8],
    },
}

/// The blocks of a SACK option: left and right edge, the right one excluded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack<'a>(&'a [u8]);

impl Sack<'_> {
    pub fn blocks(&self) -> impl Iterator<Item = (u32, u32)> {
        self.0.chunks_exact(8).map(|block| {
            let edge = |bytes: &[u8]| bytes.iter().fold(0, |sum, &byte| sum << 8 | u32::from(byte));
            let (left, right) = block.split_at(4);
            (edge(left), edge(right))
        })
    }
}

/// The options of one segment. An `Err` says what is wrong with one option;
/// those after it still follow, unless its length was at fault.
#[derive(Clone, Debug)]
pub struct Options<'a> {
    /// As far as captured.
    bytes: &'a [u8],
    /// Bytes on the wire.
    wire: usize,
    at: usize,
}

impl<'a> Options<'a> {
    pub(super) fn new(bytes: &'a [u8], wire: usize) -> Self {
        Options { bytes, wire, at: 0 }
    }

    fn stop<T>(&mut self, problem: Problem) -> Option<Result<T, Problem>> {
        self.at = self.wire;
        Some(Err(problem))
    }
}

impl<'a> Iterator for Options<'a> {
    type Item = Result<Opt<'a>, Problem>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let at = self.at;
            if at >= self.wire {
                return None;
            }
            let rest = self.bytes.get(at..).unwrap_or_default();
            let extent = Extent { captured: rest.len(), wire: self.wire - at };
            let offset = HEADER + at;
            let length = match rest {
                [END_OF_LIST, ..] => {
                    self.at = self.wire;
                    return None;
                }
                [NO_OPERATION, ..] => {
                    self.at += 1;
                    continue;
                }
                [_, length, ..] => usize::from(*length),
                _ => return self.stop(extent.short(Layer::Option, offset, 2, "TCP option")),
            };
            if length < 2 || length > extent.wire {
                let what = "option length of at least 2, within the header";
                return self.stop(malformed(Layer::Option, offset, length, extent.wire, what));
            }
            let Some(value) = rest.get(2..length) else {
                let problem = extent.short(Layer::Option, offset, length, "whole TCP option");
                return self.stop(problem);
            };
            self.at += length;
            let kind = rest.first().copied().unwrap_or_default();
            return Some(read(kind, value).map_err(|problem| problem.at(offset)));
        }
    }
}

fn read(kind: u8, value: &[u8]) -> Result<Opt<'_>, Problem> {
    Ok(match (kind, value) {
        (MAXIMUM_SEGMENT_SIZE, &[a, b]) => Opt::MaximumSegmentSize(u16::from_be_bytes([a, b])),
        (WINDOW_SCALE, &[shift]) => Opt::WindowScale(shift),
        (SACK_PERMITTED, []) => Opt::SackPermitted,
        (SACK, blocks) if !blocks.is_empty() && blocks.len() % 8 == 0 => Opt::Sack(Sack(blocks)),
        (TIMESTAMPS, &[a, b, c, d, e, f, g, h]) => Opt::Timestamps {
            value: u32::from_be_bytes([a, b, c, d]),
            echo: u32::from_be_bytes([e, f, g, h]),
        },
        (MULTIPATH, value) => Opt::Multipath(mptcp::read(value)?),
        (MAXIMUM_SEGMENT_SIZE | WINDOW_SCALE | SACK_PERMITTED | SACK | TIMESTAMPS, _) => {
            return Err(wrong_length(value, "TCP option with the length of its kind"));
        }
        _ => Opt::Other { kind, value },
    })
}

/// The problem of an option whose length is not one that its kind has.
pub(super) fn wrong_length(value: &[u8], what: &'static str) -> Problem {
    let available = clamp(value.len() + 2);
    Problem { kind: Kind::Malformed, layer: Layer::Option, offset: 0, needed: 0, available, what }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::build::option;

    fn all(bytes: &[u8]) -> Vec<Result<Opt<'_>, Problem>> {
        Options::new(bytes, bytes.len()).collect()
    }

    #[test]
    fn the_options_of_a_syn() {
        let bytes = [
            option(MAXIMUM_SEGMENT_SIZE, &[5, 180]),
            option(SACK_PERMITTED, &[]),
            option(TIMESTAMPS, &[0, 0, 0, 7, 0, 0, 0, 9]),
            vec![NO_OPERATION],
            option(WINDOW_SCALE, &[15]),
            option(253, &[1, 2]),
            vec![END_OF_LIST, 9, 9, 9],
        ]
        .concat();
        let expected = [
            Opt::MaximumSegmentSize(1460),
            Opt::SackPermitted,
            Opt::Timestamps { value: 7, echo: 9 },
            Opt::WindowScale(15),
            Opt::Other { kind: 253, value: &[1, 2] },
        ];
        assert_eq!(all(&bytes), expected.map(Ok));
    }

    #[test]
    fn sack_blocks() {
        let bytes = option(SACK, &[0, 0, 1, 0, 0, 0, 2, 0, 255, 255, 255, 255, 0, 0, 0, 4]);
        let [Ok(Opt::Sack(sack))] = all(&bytes)[..] else { panic!() };
        assert_eq!(sack.blocks().collect::<Vec<_>>(), [(256, 512), (u32::MAX, 4)]);
    }

    #[test]
    fn a_wrong_length_of_a_known_kind_leaves_the_others() {
        let bytes = [option(MAXIMUM_SEGMENT_SIZE, &[5]), option(SACK_PERMITTED, &[])].concat();
        let found = all(&bytes);
        let problem = found[0].clone().unwrap_err();
        assert_eq!(
            (problem.kind, problem.layer, problem.offset),
            (Kind::Malformed, Layer::Option, 20)
        );
        assert_eq!(found[1], Ok(Opt::SackPermitted));
    }

    #[test]
    fn a_lying_length_ends_the_walk() {
        for bytes in [[8, 1, 1, 1], [8, 0, 1, 1], [8, 5, 1, 1]] {
            let [Err(problem)] = &all(&bytes)[..] else { panic!() };
            assert_eq!((problem.kind, problem.offset), (Kind::Malformed, 20));
        }
    }
}
