//! FORWARD-TSN (RFC 3758 section 3.2) and I-FORWARD-TSN (RFC 8260 section 2.3.1).

use super::Chunk;
use super::chunk::{FORWARD_TSN, I_FORWARD_TSN};
use crate::packet::bytes::{be16, be32};
use crate::problem::Problem;

/// "Do not wait for anything up to `new_cumulative_tsn`."
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForwardTsn<'a> {
    pub new_cumulative_tsn: u32,
    /// It is an I-FORWARD-TSN.
    pub interleaved: bool,
    entries: &'a [u8],
}

/// The furthest message given up in one stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skipped {
    pub stream: u16,
    /// Stated by I-FORWARD-TSN only; FORWARD-TSN lists ordered messages only.
    pub unordered: bool,
    /// Stream Sequence Number, or Message Identifier in I-FORWARD-TSN.
    pub sequence: u32,
}

impl<'a> ForwardTsn<'a> {
    /// What is given up, stream by stream.
    pub fn skipped(&self) -> impl Iterator<Item = Skipped> + Clone + use<'a> {
        let (short, long): (&[u8], &[u8]) =
            if self.interleaved { (&[], self.entries) } else { (self.entries, &[]) };
        let short = short.as_chunks::<4>().0.iter().map(|entry| Skipped {
            stream: be16::<0, 4>(entry),
            unordered: false,
            sequence: u32::from(be16::<2, 4>(entry)),
        });
        let long = long.as_chunks::<8>().0.iter().map(|entry| Skipped {
            stream: be16::<0, 8>(entry),
            unordered: be16::<2, 8>(entry) & 1 != 0,
            sequence: be32::<4, 8>(entry),
        });
        short.chain(long)
    }
}

impl<'a> Chunk<'a> {
    /// The fields of a FORWARD-TSN or I-FORWARD-TSN chunk. It errs when the capture
    /// cut any of it, or when the length does not end with a whole entry.
    pub fn forward_tsn(&self) -> Result<ForwardTsn<'a>, Problem> {
        self.require(&[FORWARD_TSN, I_FORWARD_TSN], "FORWARD-TSN or I-FORWARD-TSN")?;
        let interleaved = self.kind == I_FORWARD_TSN;
        let (fields, entries) = self.fixed::<4>("New Cumulative TSN")?;
        let entry = if interleaved { 8 } else { 4 };
        let claimed = (self.value_length() as usize).saturating_sub(fields.len());
        let needed = claimed.next_multiple_of(entry);
        if entries.len() < needed {
            return Err(self.short(fields.len() + needed, "whole stream entries"));
        }
        Ok(ForwardTsn { new_cumulative_tsn: be32::<0, 4>(fields), interleaved, entries })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, first, first_of, packet};

    #[test]
    fn streams_with_sequence_numbers() {
        let bytes = packet(&[chunk(FORWARD_TSN, 0, &[0, 0, 0, 9, 0, 1, 0, 2, 0, 3, 0, 4])]);
        let forward = first(&bytes).forward_tsn().unwrap();
        assert_eq!((forward.new_cumulative_tsn, forward.interleaved), (9, false));
        let ordered = |stream, sequence| Skipped { stream, unordered: false, sequence };
        assert_eq!(forward.skipped().collect::<Vec<_>>(), [ordered(1, 2), ordered(3, 4)]);
        let alone = packet(&[chunk(FORWARD_TSN, 0, &[0, 0, 0, 9])]);
        assert_eq!(first(&alone).forward_tsn().unwrap().skipped().count(), 0);
    }

    #[test]
    fn streams_with_message_identifiers() {
        let value = [0, 0, 0, 9, 0, 1, 0, 1, 0, 1, 0, 0, 0, 3, 0xff, 0xfe, 0, 0, 0, 7];
        let bytes = packet(&[chunk(I_FORWARD_TSN, 0, &value)]);
        let forward = first(&bytes).forward_tsn().unwrap();
        let expected = [
            Skipped { stream: 1, unordered: true, sequence: 65_536 },
            Skipped { stream: 3, unordered: false, sequence: 7 },
        ];
        assert_eq!(forward.skipped().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn entries_are_whole_or_an_error() {
        let half = packet(&[chunk(I_FORWARD_TSN, 0, &[0; 16])]);
        let half = first(&half).forward_tsn().unwrap_err();
        assert_eq!((half.kind, half.needed, half.available), (Kind::Malformed, 20, 16));
        let bytes = packet(&[chunk(FORWARD_TSN, 0, &[0; 12])]);
        let cut = first_of(&bytes[..24], bytes.len()).forward_tsn().unwrap_err();
        assert_eq!((cut.kind, cut.needed, cut.available), (Kind::Truncated, 12, 8));
    }
}
