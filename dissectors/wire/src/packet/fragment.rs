//! Reassembly of IP fragments (RFC 791, RFC 8200 section 4.5), bounded in
//! memory and in time.
//!
//! As receivers do, a datagram whose fragments overlap is dropped (RFC 5722);
//! an exact duplicate, which captures on several interfaces are full of, is not
//! an overlap (RFC 8200).

use std::collections::HashMap;

use etherparse::IpNumber;

use super::Source;
use super::bytes::malformed;
use super::ip::{Fragment, Upper};
use crate::address::Address;
use crate::problem::{Layer, Problem};

const MOST_DATAGRAMS: usize = 1024;
const MOST_BYTES: usize = 8 << 20;
/// RFC 8200 section 4.5; inside the 60 to 120 s of RFC 1122 section 3.3.2.
const LIFETIME_NS: i64 = 60_000_000_000;
/// The largest payload either header can state.
const LARGEST: usize = 65_535;

/// What fragments of one datagram share.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub source: Address,
    pub destination: Address,
    pub id: u32,
    /// The tunnels around them; 0 without one. Inside, addresses and
    /// identifications may be those of any other network.
    pub tunnel: u64,
    /// Part of the identity in IPv4 (RFC 791), not in IPv6.
    pub protocol: Option<u8>,
}

struct Piece {
    start: usize,
    bytes: Vec<u8>,
    /// The records it came in: several where it was itself put together.
    sources: Vec<Source>,
}

impl Piece {
    fn end(&self) -> usize {
        self.start + self.bytes.len()
    }

    /// The memory it takes, so that many tiny pieces count for what they cost.
    fn cost(&self) -> usize {
        self.bytes.len() + size_of::<Piece>()
    }
}

struct Datagram {
    /// Order of arrival among datagrams: capture times may go backwards.
    arrival: u64,
    first_ns: i64,
    /// By start, without overlaps.
    pieces: Vec<Piece>,
    /// Bytes in `pieces`.
    held: usize,
    /// Known once the last fragment is there.
    total: Option<usize>,
    /// By the first fragment's header (RFC 8200 section 4.5).
    protocol: IpNumber,
}

/// The fragments waiting for the rest of their datagram.
#[derive(Default)]
pub(super) struct Pool {
    datagrams: HashMap<Key, Datagram>,
    cost: usize,
    arrivals: u64,
    /// Fragments that were kept and then given up.
    dropped: u64,
}

impl Pool {
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Adds one fragment; the whole payload and its protocol when it was the last missing one.
    /// `sources` are the records it came in, and then those that the whole came in.
    pub fn add(
        &mut self,
        key: Key,
        fragment: Fragment,
        upper: Upper<'_>,
        time_ns: i64,
        sources: &mut Vec<Source>,
    ) -> Result<Option<(IpNumber, Vec<u8>)>, Problem> {
        check(fragment, upper)?;
        let expired = |datagram: &Datagram| time_ns.saturating_sub(datagram.first_ns) > LIFETIME_NS;
        if self.datagrams.get(&key).is_some_and(expired) {
            self.give_up(key);
        }
        self.arrivals += 1;
        let datagram = self.datagrams.entry(key).or_insert_with(|| Datagram {
            arrival: self.arrivals,
            first_ns: time_ns,
            pieces: Vec::new(),
            held: 0,
            total: None,
            protocol: upper.protocol,
        });
        match datagram.place(fragment, upper.bytes, sources) {
            Ok(Placed::Duplicate) => return Ok(None),
            Ok(Placed::New { cost }) => self.cost += cost,
            Err(what) => {
                self.give_up(key);
                return Err(malformed(Layer::Ip, upper.offset, upper.length, upper.length, what));
            }
        }
        if fragment.offset == 0 {
            datagram.protocol = upper.protocol;
        }
        if datagram.total == Some(datagram.held) {
            return Ok(self.take(key).map(|datagram| (datagram.protocol, datagram.join(sources))));
        }
        while self.datagrams.len() > MOST_DATAGRAMS || self.cost > MOST_BYTES {
            let oldest = self.datagrams.iter().min_by_key(|(_, datagram)| datagram.arrival);
            let Some((&oldest, _)) = oldest else { break };
            self.give_up(oldest);
        }
        Ok(None)
    }

    fn take(&mut self, key: Key) -> Option<Datagram> {
        let datagram = self.datagrams.remove(&key)?;
        self.cost -= datagram.pieces.iter().map(Piece::cost).sum::<usize>();
        Some(datagram)
    }

    fn give_up(&mut self, key: Key) {
        if let Some(datagram) = self.take(key) {
            self.dropped += datagram.pieces.len() as u64;
        }
    }
}

enum Placed {
    Duplicate,
    New { cost: usize },
}

impl Datagram {
    fn place(
        &mut self,
        fragment: Fragment,
        bytes: &[u8],
        sources: &mut Vec<Source>,
    ) -> Result<Placed, &'static str> {
        let (start, end) = (fragment.offset, fragment.offset + bytes.len());
        let index = self.pieces.partition_point(|piece| piece.start < start);
        if let Some(same) = self.pieces.get(index)
            && same.start == start
            && same.bytes == bytes
        {
            return Ok(Placed::Duplicate);
        }
        let before = index.checked_sub(1).and_then(|before| self.pieces.get(before));
        if before.is_some_and(|piece| piece.end() > start)
            || self.pieces.get(index).is_some_and(|piece| piece.start < end)
        {
            return Err("fragments overlap");
        }
        let furthest = self.pieces.last().map_or(0, Piece::end);
        match self.total {
            Some(total) if end > total || !fragment.more => return Err("two ends of a datagram"),
            None if !fragment.more && furthest > end => return Err("two ends of a datagram"),
            None if !fragment.more => self.total = Some(end),
            _ => {}
        }
        let piece = Piece { start, bytes: bytes.to_vec(), sources: std::mem::take(sources) };
        let cost = piece.cost();
        self.held += bytes.len();
        self.pieces.insert(index, piece);
        Ok(Placed::New { cost })
    }

    fn join(self, sources: &mut Vec<Source>) -> Vec<u8> {
        let mut whole = Vec::with_capacity(self.held);
        for piece in self.pieces {
            whole.extend_from_slice(&piece.bytes);
            sources.extend(piece.sources);
        }
        whole
    }
}

/// What makes a fragment useless whatever the others are.
fn check(fragment: Fragment, upper: Upper<'_>) -> Result<(), Problem> {
    let length = upper.length;
    let reject = |what| Err(malformed(Layer::Ip, upper.offset, length, length, what));
    if upper.bytes.len() < length {
        return Err(upper.extent().short(Layer::Ip, upper.offset, length, "whole fragment"));
    }
    if length == 0 {
        return reject("fragment without payload");
    }
    if fragment.more && !length.is_multiple_of(8) {
        return reject("length of a fragment before the last: a multiple of 8");
    }
    if fragment.offset + length > LARGEST {
        return reject("fragment beyond the largest datagram");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use etherparse::ip_number;
    use proptest::prelude::*;

    use super::*;
    use crate::problem::Kind;

    fn key(id: u32) -> Key {
        let source = Address::v4([10, 0, 0, 1]);
        Key { source, destination: source, id, tunnel: 0, protocol: Some(132) }
    }

    fn add(
        pool: &mut Pool,
        id: u32,
        offset: usize,
        more: bool,
        bytes: &[u8],
        time_ns: i64,
    ) -> Added {
        let upper = Upper { protocol: ip_number::SCTP, bytes, offset: 34, length: bytes.len() };
        let added =
            pool.add(key(id), Fragment { id, offset, more }, upper, time_ns, &mut Vec::new());
        added.map(|whole| whole.map(|(_, bytes)| bytes))
    }

    type Added = Result<Option<Vec<u8>>, Problem>;

    #[test]
    fn duplicates_are_ignored_and_overlaps_drop_the_datagram() {
        let mut pool = Pool::default();
        assert_eq!(add(&mut pool, 1, 0, true, &[1; 16], 0), Ok(None));
        assert_eq!(add(&mut pool, 1, 0, true, &[1; 16], 0), Ok(None));
        assert_eq!(
            add(&mut pool, 1, 16, false, &[2; 3], 0),
            Ok(Some([&[1; 16][..], &[2; 3]].concat()))
        );
        for (offset, bytes) in [(8, 16), (0, 8), (0, 24), (8, 8)] {
            let before = pool.dropped();
            assert_eq!(add(&mut pool, 2, 0, true, &[1; 16], 0), Ok(None));
            let overlap = add(&mut pool, 2, offset, true, &vec![1; bytes], 0).unwrap_err();
            assert_eq!(overlap.kind, Kind::Malformed);
            assert_eq!(pool.dropped(), before + 1);
        }
        assert_eq!((pool.datagrams.len(), pool.cost), (0, 0));
    }

    #[test]
    fn an_end_cannot_move() {
        let mut pool = Pool::default();
        assert_eq!(add(&mut pool, 1, 16, false, &[1; 8], 0), Ok(None));
        assert!(add(&mut pool, 1, 24, true, &[1; 8], 0).is_err());
        assert_eq!(add(&mut pool, 1, 24, true, &[1; 8], 0), Ok(None));
        assert!(add(&mut pool, 1, 8, false, &[1; 8], 0).is_err());
        assert_eq!(add(&mut pool, 1, 8, false, &[1; 8], 0), Ok(None));
        assert!(add(&mut pool, 1, 0, false, &[1; 8], 0).is_err());
    }

    #[test]
    fn impossible_fragments_are_refused() {
        let mut pool = Pool::default();
        assert!(add(&mut pool, 1, 0, true, &[1; 9], 0).is_err());
        assert!(add(&mut pool, 1, 8, false, &[], 0).is_err());
        assert!(add(&mut pool, 1, 65_528, false, &[1; 8], 0).is_err());
        let upper = Upper { protocol: ip_number::SCTP, bytes: &[1; 8], offset: 34, length: 16 };
        let cut =
            pool.add(key(1), Fragment { id: 1, offset: 0, more: true }, upper, 0, &mut Vec::new());
        assert_eq!(cut.unwrap_err().kind, Kind::Truncated);
        assert!(pool.datagrams.is_empty());
    }

    #[test]
    fn old_fragments_do_not_meet_new_ones() {
        let mut pool = Pool::default();
        assert_eq!(add(&mut pool, 1, 0, true, &[1; 8], 0), Ok(None));
        assert_eq!(add(&mut pool, 1, 8, false, &[2; 8], LIFETIME_NS + 1), Ok(None));
        assert_eq!(pool.dropped(), 1);
        assert!(add(&mut pool, 1, 0, true, &[1; 8], LIFETIME_NS + 2).unwrap().is_some());
    }

    #[test]
    fn the_oldest_makes_room() {
        let mut pool = Pool::default();
        for id in 0..=MOST_DATAGRAMS as u32 {
            assert_eq!(add(&mut pool, id, 0, true, &[1; 8], 0), Ok(None));
        }
        assert_eq!((pool.datagrams.len(), pool.dropped()), (MOST_DATAGRAMS, 1));
        assert!(!pool.datagrams.contains_key(&key(0)));
        for id in 0..300 {
            assert_eq!(add(&mut pool, id + 5000, 0, true, &[1; 65_000], 0), Ok(None));
            assert!(pool.cost <= MOST_BYTES);
        }
        assert!(pool.datagrams.contains_key(&key(5299)));
    }

    /// A payload, a fragment size that divides it into several, and their order.
    fn shuffled() -> impl Strategy<Value = (Vec<u8>, usize, Vec<usize>)> {
        (proptest::collection::vec(any::<u8>(), 200..2000), 1_usize..25).prop_flat_map(
            |(whole, eights)| {
                let size = eights * 8;
                let order: Vec<_> = (0..whole.len().div_ceil(size)).collect();
                (Just(whole), Just(size), Just(order).prop_shuffle())
            },
        )
    }

    proptest! {
        #[test]
        fn any_order_gives_the_datagram((whole, size, order) in shuffled()) {
            let mut pool = Pool::default();
            let mut result = None;
            for index in order {
                prop_assert!(result.is_none());
                let start = index * size;
                let end = whole.len().min(start + size);
                let more = end < whole.len();
                result = add(&mut pool, 1, start, more, &whole[start..end], 0).unwrap();
            }
            prop_assert_eq!(result, Some(whole));
            prop_assert_eq!(pool.cost, 0);
        }

        #[test]
        fn hostile_fragments_keep_the_books(
            fragments in proptest::collection::vec(
                (0_u32..3, 0_usize..12, any::<bool>(), 0_usize..40), 1..60),
        ) {
            let mut pool = Pool::default();
            for (id, offset, more, length) in fragments {
                // Refusal is an outcome like any other here; the books are the test.
                let _outcome = add(&mut pool, id, offset * 8, more, &vec![id as u8; length], 0);
                let cost: usize =
                    pool.datagrams.values().flat_map(|d| &d.pieces).map(Piece::cost).sum();
                prop_assert_eq!(pool.cost, cost);
            }
        }
    }
}
