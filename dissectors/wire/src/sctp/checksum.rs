//! The packet checksum: CRC32c (RFC 9260 section 6.8 and appendix A), zero where
//! the peer accepts that (RFC 9653), Adler-32 before RFC 3309 (RFC 2960).

use crc_fast::{CrcAlgorithm, Digest};

use super::param::ZERO_CHECKSUM_ACCEPTABLE;
use super::{Chunks, CommonHeader, Param, chunk};
use crate::packet::bytes::be32;

/// What the checksum field turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Checksum {
    Valid,
    /// The field is zero: left so under RFC 9653, or by offload to the interface.
    ZeroOnWire,
    Adler32,
    /// Not the CRC32c of this packet, which is `computed`; so on packets that
    /// were captured before the interface filled it in.
    Bad {
        computed: u32,
    },
    /// The capture cut the packet.
    NotCheckable,
    /// A simulated packet, which has none.
    Simulated,
}

impl Checksum {
    pub fn name(self) -> &'static str {
        match self {
            Checksum::Valid => "valid",
            Checksum::ZeroOnWire => "zero",
            Checksum::Adler32 => "Adler-32",
            Checksum::Bad { .. } => "bad",
            Checksum::NotCheckable => "not checkable",
            Checksum::Simulated => "none",
        }
    }
}

/// A checksum's state, with the CRC32c of the packet as far as captured, its
/// checksum field taken as zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub checksum: Checksum,
    pub crc32c: u32,
}

/// Checks the packet `sctp`, of which there were `wire_length` bytes on the wire.
pub fn verify(sctp: &[u8], header: &CommonHeader, wire_length: u32) -> Verdict {
    let crc32c = crc32c(sctp);
    let checksum = if sctp.len() < wire_length as usize {
        Checksum::NotCheckable
    } else if header.checksum == crc32c {
        Checksum::Valid
    } else if header.checksum == 0 {
        Checksum::ZeroOnWire
    } else if header.checksum.swap_bytes() == adler32(sctp) {
        Checksum::Adler32
    } else {
        Checksum::Bad { computed: crc32c }
    };
    Verdict { checksum, crc32c }
}

/// Chunks in front of COOKIE ECHO: AUTH at most (RFC 4895 section 6.2).
const LEADING: usize = 2;

/// Whether a packet with these chunks has a checksum whatever its receiver accepts, because of an
/// INIT or COOKIE ECHO in it (RFC 9653 section 5.2).
pub fn must_have_checksum(chunks: Chunks<'_>) -> bool {
    chunks.flatten().take(LEADING).any(|one| matches!(one.kind, chunk::INIT | chunk::COOKIE_ECHO))
}

impl Param<'_> {
    /// The Error Detection Method Identifier of a Zero Checksum Acceptable parameter (RFC 9653
    /// section 4): what protects the packets that its sender takes without a checksum.
    pub fn error_detection_method(&self) -> Option<u32> {
        let value = self.value.first_chunk::<4>().filter(|_| self.kind == ZERO_CHECKSUM_ACCEPTABLE);
        value.map(be32::<0, 4>)
    }
}

/// CRC32c with the checksum field taken as zero; the field holds it little-endian.
pub fn crc32c(sctp: &[u8]) -> u32 {
    // The polynomial by the name of another protocol that uses it, iSCSI (RFC 3720).
    let mut digest = Digest::new(CrcAlgorithm::Crc32Iscsi);
    match sctp.split_first_chunk() {
        // Two updates and not three: each costs as much as many bytes do.
        Some((&[a, b, c, d, e, f, g, h, _, _, _, _], chunks)) => {
            digest.update(&[a, b, c, d, e, f, g, h, 0, 0, 0, 0]);
            digest.update(chunks);
        }
        None => digest.update(sctp),
    }
    // A CRC of 32 bits in a wider type: nothing is cut off.
    digest.finalize() as u32
}

fn around_checksum(sctp: &[u8]) -> (&[u8], &[u8]) {
    let before = sctp.get(..8).unwrap_or(sctp);
    (before, sctp.get(12..).unwrap_or_default())
}

/// Adler-32 (RFC 1950 section 8.2) with the checksum field taken as zero.
fn adler32(sctp: &[u8]) -> u32 {
    const MODULUS: u32 = 65_521;
    /// The most bytes after which `b` still fits 32 bits (RFC 1950 section 9).
    const SAFE: usize = 5552;
    let (before, after) = around_checksum(sctp);
    let (mut a, mut b) = (1, 0);
    for part in [before, &[0; 4], after] {
        for block in part.chunks(SAFE) {
            for byte in block {
                a += u32::from(*byte);
                b += a;
            }
            a %= MODULUS;
            b %= MODULUS;
        }
    }
    b << 16 | a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sctp::build::{chunk, packet};
    use crate::sctp::parse;

    fn check(bytes: &[u8], wire: usize) -> Verdict {
        let wire = u32::try_from(wire).unwrap();
        verify(bytes, &parse(bytes, wire).unwrap().0, wire)
    }

    #[test]
    fn every_state_of_the_field() {
        let good = packet(&[chunk(0, 3, &[7; 100])]);
        let verdict = check(&good, good.len());
        assert_eq!(verdict.checksum, Checksum::Valid);
        assert_eq!(verdict.crc32c.to_le_bytes(), good[8..12]);
        let computed = verdict.crc32c;

        let mut zero = good.clone();
        zero[8..12].fill(0);
        assert_eq!(
            check(&zero, good.len()),
            Verdict { checksum: Checksum::ZeroOnWire, crc32c: computed }
        );

        let mut bad = good.clone();
        bad[8] ^= 1;
        assert_eq!(check(&bad, good.len()).checksum, Checksum::Bad { computed });
        assert_eq!(check(&good[..50], good.len()).checksum, Checksum::NotCheckable);

        let mut old = zero;
        let adler = adler32(&old);
        old[8..12].copy_from_slice(&adler.to_be_bytes());
        assert_eq!(check(&old, good.len()).checksum, Checksum::Adler32);
    }

    #[test]
    fn a_published_checksum() {
        // 32 zero bytes, RFC 3720 appendix B.4.
        assert_eq!(check(&[0; 32], 32).crc32c, 0x8a91_36aa);
    }

    #[test]
    fn adler32_of_many_blocks() {
        // The largest bytes, so that sums kept too long would overflow; against
        // the definition, which reduces after every byte.
        let bytes = [0xff; 20_000];
        let mut blanked = bytes;
        blanked[8..12].fill(0);
        let (a, b) = blanked.iter().fold((1, 0), |(a, b), byte| {
            let a = (a + u32::from(*byte)) % 65_521;
            (a, (b + a) % 65_521)
        });
        assert_eq!(adler32(&bytes), b << 16 | a);
    }
}
