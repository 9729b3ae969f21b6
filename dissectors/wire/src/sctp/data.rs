//! DATA (RFC 9260 section 3.3.1) and I-DATA (RFC 8260 section 2.1).

use super::Chunk;
use super::chunk::{DATA, FLAG_BEGINNING, FLAG_ENDING, FLAG_IMMEDIATE, FLAG_UNORDERED, I_DATA};
use crate::packet::bytes::{be16, be32};
use crate::problem::Problem;

/// Bytes of fields before user data, at most.
pub const MOST_FIELDS: usize = 16;

/// One chunk of user data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data<'a> {
    pub tsn: u32,
    pub stream: u16,
    /// Stream Sequence Number, or Message Identifier in I-DATA.
    pub sequence: u32,
    /// Payload Protocol Identifier. I-DATA states it in the first fragment only.
    pub ppid: Option<u32>,
    /// Fragment Sequence Number of I-DATA; 0 in the first fragment and in DATA.
    pub fragment: u32,
    /// Bytes of user data by the chunk's length, not by what was captured.
    pub user_length: u32,
    /// U: no order within the stream.
    pub unordered: bool,
    /// B: the user message's first fragment.
    pub beginning: bool,
    /// E: the user message's last fragment.
    pub ending: bool,
    /// I: the receiver is asked not to delay its SACK.
    pub immediate: bool,
    /// It is I-DATA.
    pub interleaved: bool,
    /// As far as captured.
    pub user: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The fields of a DATA or I-DATA chunk; an error when they are not all there.
    #[inline]
    pub fn data(&self) -> Result<Data<'a>, Problem> {
        self.require(&[DATA, I_DATA], "DATA or I-DATA")?;
        let flag = |bit| self.flags & bit != 0;
        let (beginning, interleaved) = (flag(FLAG_BEGINNING), self.kind == I_DATA);
        let (tsn, stream, sequence, ppid, fragment, user, fields) = if interleaved {
            let (fields, user) = self.fixed::<16>("fields of I-DATA")?;
            let word = be32::<12, 16>(fields);
            let (ppid, fragment) = if beginning { (Some(word), 0) } else { (None, word) };
            let sequence = be32::<8, 16>(fields);
            (be32::<0, 16>(fields), be16::<4, 16>(fields), sequence, ppid, fragment, user, 16)
        } else {
            let (fields, user) = self.fixed::<12>("fields of DATA")?;
            let (sequence, ppid) = (u32::from(be16::<6, 12>(fields)), Some(be32::<8, 12>(fields)));
            (be32::<0, 12>(fields), be16::<4, 12>(fields), sequence, ppid, 0, user, 12)
        };
        Ok(Data {
            tsn,
            stream,
            sequence,
            ppid,
            fragment,
            user_length: self.value_length().saturating_sub(fields),
            unordered: flag(FLAG_UNORDERED),
            beginning,
            ending: flag(FLAG_ENDING),
            immediate: flag(FLAG_IMMEDIATE),
            interleaved,
            user,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, first, first_of, packet};

    const FIELDS: [u8; 12] = [0xff, 0, 0, 1, 0, 5, 0, 6, 0, 0, 0, 46];

    #[test]
    fn data_with_every_flag() {
        let bytes = packet(&[chunk(DATA, 0x0f, &[&FIELDS[..], b"hello"].concat())]);
        let expected = Data {
            tsn: 0xff00_0001,
            stream: 5,
            sequence: 6,
            ppid: Some(46),
            fragment: 0,
            user_length: 5,
            unordered: true,
            beginning: true,
            ending: true,
            immediate: true,
            interleaved: false,
            user: b"hello",
        };
        assert_eq!(first(&bytes).data(), Ok(expected));
    }

    #[test]
    fn one_flag_at_a_time() {
        for flag in [FLAG_ENDING, FLAG_BEGINNING, FLAG_UNORDERED, FLAG_IMMEDIATE] {
            let bytes = packet(&[chunk(DATA, flag, &FIELDS)]);
            let data = first(&bytes).data().unwrap();
            let flags = [data.ending, data.beginning, data.unordered, data.immediate];
            assert_eq!(flags, [1, 2, 4, 8].map(|bit| bit == flag));
        }
    }

    #[test]
    fn the_last_word_of_i_data_is_ppid_or_fragment() {
        let value = [0, 0, 0, 9, 0, 5, 0xee, 0xee, 0, 1, 0, 0, 0, 0, 0, 3, b'x'];
        let bytes = packet(&[chunk(I_DATA, FLAG_BEGINNING, &value)]);
        let beginning = first(&bytes).data().unwrap();
        assert_eq!((beginning.tsn, beginning.stream, beginning.sequence), (9, 5, 0x1_0000));
        assert_eq!((beginning.ppid, beginning.fragment), (Some(3), 0));
        assert_eq!(
            (beginning.interleaved, beginning.user_length, beginning.user),
            (true, 1, &b"x"[..])
        );
        let bytes = packet(&[chunk(I_DATA, FLAG_ENDING, &value)]);
        let ending = first(&bytes).data().unwrap();
        assert_eq!((ending.ppid, ending.fragment), (None, 3));
    }

    #[test]
    fn a_cut_chunk_keeps_its_fields_and_length() {
        let bytes = packet(&[chunk(DATA, 3, &[&FIELDS[..], &[7; 1000]].concat())]);
        let data = first_of(&bytes[..40], bytes.len()).data().unwrap();
        assert_eq!((data.user_length, data.user), (1000, &[7; 12][..]));
        let cut = first_of(&bytes[..20], bytes.len()).data().unwrap_err();
        assert_eq!((cut.kind, cut.offset, cut.needed, cut.available), (Kind::Truncated, 16, 12, 4));
    }

    #[test]
    fn fields_that_are_not_there() {
        let kind = |kind, length: usize| {
            let bytes = packet(&[chunk(kind, 3, &vec![0; length])]);
            first(&bytes).data().map(|_| ()).map_err(|problem| problem.kind)
        };
        assert_eq!(kind(DATA, 11), Err(Kind::Malformed));
        assert_eq!(kind(DATA, 12), Ok(()));
        assert_eq!(kind(I_DATA, 15), Err(Kind::Malformed));
        assert_eq!(kind(I_DATA, 16), Ok(()));
        assert_eq!(kind(3, 16), Err(Kind::Unknown));
    }
}
