//! SACK (RFC 9260 section 3.3.4) and NR-SACK (draft-natarajan-tsvwg-sctp-nrsack
//! section 4).

use super::Chunk;
use super::chunk::{NR_SACK, SACK};
use crate::packet::bytes::{be16, be32};
use crate::problem::Problem;

/// Bytes of one gap block, and of one duplicate TSN.
const ENTRY: usize = 4;

/// A selective acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sack<'a> {
    /// Every TSN up to here was received.
    pub cumulative_tsn: u32,
    /// Advertised receiver window credit, in bytes.
    pub a_rwnd: u32,
    /// It is an NR-SACK.
    pub non_renegable: bool,
    gaps: &'a [u8],
    nr_gaps: &'a [u8],
    duplicates: &'a [u8],
}

impl<'a> Sack<'a> {
    /// Gap Ack Blocks, first and last TSN of each as offsets from the Cumulative
    /// TSN Ack, unchecked. In an NR-SACK the receiver may still renege on these.
    pub fn gaps(&self) -> impl ExactSizeIterator<Item = (u16, u16)> + Clone + use<'a> {
        blocks(self.gaps)
    }

    /// Non-Renegable Gap Ack Blocks; none in a SACK.
    pub fn nr_gaps(&self) -> impl ExactSizeIterator<Item = (u16, u16)> + Clone + use<'a> {
        blocks(self.nr_gaps)
    }

    /// TSNs received more than once since the last SACK.
    pub fn duplicates(&self) -> impl ExactSizeIterator<Item = u32> + Clone + use<'a> {
        entries(self.duplicates).map(be32::<0, ENTRY>)
    }
}

fn entries(bytes: &[u8]) -> impl ExactSizeIterator<Item = &[u8; ENTRY]> + Clone {
    bytes.as_chunks::<ENTRY>().0.iter()
}

fn blocks(bytes: &[u8]) -> impl ExactSizeIterator<Item = (u16, u16)> + Clone {
    entries(bytes).map(|entry| (be16::<0, ENTRY>(entry), be16::<2, ENTRY>(entry)))
}

impl<'a> Chunk<'a> {
    /// The fields of a SACK or NR-SACK chunk. Malformed when its counts claim more
    /// than its length, truncated when the capture cut any of it.
    #[inline]
    pub fn sack(&self) -> Result<Sack<'a>, Problem> {
        self.require(&[SACK, NR_SACK], "SACK or NR-SACK")?;
        let non_renegable = self.kind == NR_SACK;
        let (fields, counts, mut entries) = if non_renegable {
            let (fields, entries) = self.fixed::<16>("fields of NR-SACK")?;
            let counts = [be16::<8, 16>(fields), be16::<10, 16>(fields), be16::<12, 16>(fields)];
            ((be32::<0, 16>(fields), be32::<4, 16>(fields)), counts, entries)
        } else {
            let (fields, entries) = self.fixed::<12>("fields of SACK")?;
            let counts = [be16::<8, 12>(fields), 0, be16::<10, 12>(fields)];
            ((be32::<0, 12>(fields), be32::<4, 12>(fields)), counts, entries)
        };
        let mut take = |count: u16| {
            let (first, rest) = entries.split_at_checked(usize::from(count) * ENTRY)?;
            entries = rest;
            Some(first)
        };
        let [gaps, nr_gaps, duplicates] = counts.map(&mut take);
        let (Some(gaps), Some(nr_gaps), Some(duplicates)) = (gaps, nr_gaps, duplicates) else {
            return Err(self.short_of(counts));
        };
        let (cumulative_tsn, a_rwnd) = fields;
        Ok(Sack { cumulative_tsn, a_rwnd, non_renegable, gaps, nr_gaps, duplicates })
    }

    fn short_of(&self, counts: [u16; 3]) -> Problem {
        let fixed = if self.kind == NR_SACK { 16 } else { 12 };
        let entries: usize = counts.iter().map(|count| usize::from(*count)).sum();
        let needed = fixed + entries * ENTRY;
        self.short(needed, "the gap blocks and duplicate TSNs it counts")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, first, first_of, packet};

    const SACK_VALUE: [u8; 24] = [
        0, 0, 1, 0, 0, 1, 0, 0, 0, 2, 0,
        1, // cumulative 256, window 65536, 2 gaps, 1 duplicate
        0, 2, 0, 3, 0, 5, 0, 9, 0, 0, 0, 0xff,
    ];

    #[test]
    fn gaps_and_duplicates() {
        let bytes = packet(&[chunk(SACK, 0, &SACK_VALUE)]);
        let sack = first(&bytes).sack().unwrap();
        assert_eq!((sack.cumulative_tsn, sack.a_rwnd, sack.non_renegable), (256, 65_536, false));
        assert_eq!(sack.gaps().collect::<Vec<_>>(), [(2, 3), (5, 9)]);
        assert_eq!(sack.nr_gaps().len(), 0);
        assert_eq!(sack.duplicates().collect::<Vec<_>>(), [255]);
    }

    #[test]
    fn nr_sack_has_a_third_list() {
        let value = [
            0, 0, 1, 0, 0, 1, 0, 0, 0, 1, 0, 2, 0, 1, 0, 0, // 1 gap, 2 NR gaps, 1 duplicate
            0, 2, 0, 3, 0, 5, 0, 9, 0, 11, 0, 11, 0, 0, 0, 0xff,
        ];
        let bytes = packet(&[chunk(NR_SACK, 0, &value)]);
        let sack = first(&bytes).sack().unwrap();
        assert!(sack.non_renegable);
        assert_eq!(sack.gaps().collect::<Vec<_>>(), [(2, 3)]);
        assert_eq!(sack.nr_gaps().collect::<Vec<_>>(), [(5, 9), (11, 11)]);
        assert_eq!(sack.duplicates().collect::<Vec<_>>(), [255]);
    }

    #[test]
    fn counts_that_lie_and_counts_that_were_cut() {
        let bytes = packet(&[chunk(SACK, 0, &SACK_VALUE)]);
        let cut = first_of(&bytes[..36], bytes.len()).sack().unwrap_err();
        assert_eq!((cut.kind, cut.needed, cut.available), (Kind::Truncated, 24, 20));
        let lie = packet(&[chunk(SACK, 0, &SACK_VALUE[..20])]);
        let lie = first(&lie).sack().unwrap_err();
        assert_eq!((lie.kind, lie.needed, lie.available), (Kind::Malformed, 24, 20));
        let mut huge = SACK_VALUE;
        huge[8..12].fill(0xff);
        let huge = packet(&[chunk(SACK, 0, &huge)]);
        assert_eq!(first(&huge).sack().unwrap_err().needed, 12 + 2 * 4 * 65_535);
        let short = packet(&[chunk(SACK, 0, &SACK_VALUE[..11])]);
        assert_eq!(first(&short).sack().unwrap_err().kind, Kind::Malformed);
    }
}
