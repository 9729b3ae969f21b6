//! The walk that chunks (RFC 9260 section 3.2), parameters (section 3.2.1) and
//! error causes (section 3.3.10) share: four bytes of header with a length that
//! counts them, a value, and padding to four bytes that it does not count.

use crate::packet::bytes::{Extent, be16, clamp, malformed};
use crate::problem::{Layer, Problem};

pub(super) const HEADER: u32 = 4;

/// One element. Offsets and lengths are bytes.
#[derive(Clone, Copy)]
pub(super) struct Tlv<'a> {
    /// Of the header, in the container.
    pub offset: u32,
    /// The two bytes before the length.
    pub kind: [u8; 2],
    /// As on the wire: with the header, without padding.
    pub length: u16,
    /// As far as captured.
    pub value: &'a [u8],
    pub truncated: bool,
}

/// Elements of one container, each either whole or the last one.
#[derive(Clone, Debug)]
pub(super) struct Tlvs<'a> {
    layer: Layer,
    /// The container, as far as captured.
    bytes: &'a [u8],
    /// Its length on the wire.
    wire: u32,
    /// Its offset in the SCTP packet.
    base: u32,
    position: u32,
    /// The last element was cut by the capture: say so next, and end.
    cut: Option<Problem>,
}

impl<'a> Tlvs<'a> {
    pub fn new(layer: Layer, bytes: &'a [u8], wire: u32, base: u32, position: u32) -> Self {
        Tlvs { layer, bytes, wire, base, position, cut: None }
    }

    /// The elements inside one of these, from `position` of its value on.
    pub fn inside(&self, offset: u32, length: u16, value: &'a [u8], position: u32) -> Self {
        let wire = u32::from(length).saturating_sub(HEADER);
        let base = self.base.saturating_add(offset).saturating_add(HEADER);
        Tlvs::new(self.layer, value, wire, base, position)
    }

    /// Add an element's offset for that of its value in the SCTP packet.
    pub fn base_of_value(&self) -> u32 {
        self.base.saturating_add(HEADER)
    }

    /// The problem of a container that has not `needed` bytes.
    pub fn short(&self, needed: usize, what: &'static str) -> Problem {
        let extent = Extent { captured: self.bytes.len(), wire: self.wire as usize };
        extent.short(self.layer, self.base as usize, needed, what)
    }

    pub fn end(&mut self) {
        self.position = self.wire;
        self.cut = None;
    }

    /// Ends the walk with `problem` in the container's coordinates.
    fn fail<T>(&mut self, problem: Problem) -> Option<Result<T, Problem>> {
        self.end();
        Some(Err(problem.at(self.base as usize)))
    }
}

impl<'a> Iterator for Tlvs<'a> {
    type Item = Result<Tlv<'a>, Problem>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if let Some(problem) = self.cut.take() {
            return self.fail(problem);
        }
        let left = self.wire.saturating_sub(self.position);
        if left == 0 {
            return None;
        }
        let at = self.position as usize;
        let rest = self.bytes.get(at..).unwrap_or_default();
        let extent = Extent { captured: rest.len(), wire: left as usize };
        let Some(header) = rest.first_chunk::<4>() else {
            return self.fail(extent.short(self.layer, at, HEADER as usize, "header of 4 bytes"));
        };
        let length = be16::<2, 4>(header);
        let whole = usize::from(length);
        if u32::from(length) < HEADER {
            let what = "length of at least its header's 4 bytes";
            return self.fail(malformed(self.layer, at, HEADER as usize, whole, what));
        }
        if u32::from(length) > left {
            let what = "length within what contains it";
            return self.fail(malformed(self.layer, at, whole, left as usize, what));
        }
        let truncated = rest.len() < whole;
        if truncated {
            self.cut = Some(extent.short(self.layer, at, whole, "whole value"));
        }
        let tlv = Tlv {
            offset: clamp(at),
            kind: [header[0], header[1]],
            length,
            value: rest.get(HEADER as usize..whole.min(rest.len())).unwrap_or_default(),
            truncated,
        };
        // Padding may be missing at the end of the container, so stop there.
        self.position += u32::from(length).next_multiple_of(4).min(left);
        Some(Ok(tlv))
    }
}
