//! What one end of an association has received, as the trace shows it: from
//! this follow the gap blocks and duplicate TSNs of its SACKs (RFC 9260 section
//! 3.3.4), which the trace leaves out.

use std::collections::BTreeSet;

/// Gap blocks count from the cumulative TSN in 16 bits, so nothing further ahead can be told.
const FURTHEST: u32 = 0xffff;
/// Most duplicates of one SACK: what fits into a packet.
const DUPLICATES: usize = 300;
/// Most gap blocks of one SACK, likewise.
const BLOCKS: usize = 300;

#[derive(Default)]
pub struct Received {
    cumulative: u32,
    above: BTreeSet<u32>,
    /// Received again since the last SACK.
    duplicates: Vec<u32>,
}

impl Received {
    pub fn data(&mut self, tsn: u32) {
        let is_ahead = tsn > self.cumulative && tsn - self.cumulative <= FURTHEST;
        let is_new = is_ahead && self.above.insert(tsn);
        if !is_new && (tsn <= self.cumulative || is_ahead) && self.duplicates.len() < DUPLICATES {
            self.duplicates.push(tsn);
        }
    }

    /// Gap blocks and duplicate TSNs of a SACK with this cumulative TSN, sent now.
    pub fn sack(&mut self, cumulative: u32) -> (Vec<(u16, u16)>, Vec<u32>) {
        self.skip_to(cumulative);
        let mut blocks: Vec<(u16, u16)> = Vec::new();
        for tsn in &self.above {
            let Ok(offset) = u16::try_from(tsn - self.cumulative) else { break };
            let is_full = blocks.len() == BLOCKS;
            match blocks.last_mut() {
                Some((_, end)) if *end + 1 == offset => *end = offset,
                _ if is_full => break,
                _ => blocks.push((offset, offset)),
            }
        }
        (blocks, std::mem::take(&mut self.duplicates))
    }

    /// All up to this TSN is received, or given up by the sender (RFC 3758).
    pub fn skip_to(&mut self, cumulative: u32) {
        if cumulative > self.cumulative {
            self.cumulative = cumulative;
            self.above = self.above.split_off(&cumulative.saturating_add(1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sack_tells_what_is_missing_and_what_came_twice() {
        let mut received = Received::default();
        for tsn in [1, 2, 4, 5, 8, 5] {
            received.data(tsn);
        }
        assert_eq!(received.sack(2), (vec![(2, 3), (6, 6)], vec![5]));
        received.data(3);
        received.data(2);
        assert_eq!(received.sack(5), (vec![(3, 3)], vec![2]));
        received.data(u32::MAX);
        assert_eq!(received.sack(8), (vec![], vec![]));
    }
}
