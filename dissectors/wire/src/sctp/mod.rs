//! SCTP packets (RFC 9260 section 3): the common header and the chunks after it.
//!
//! Nothing here allocates or copies: chunks and parameters are views of the
//! captured bytes. Offsets in a [`Problem`] count from the start of the SCTP
//! packet; add the packet's own offset with [`Problem::at`].

pub mod asconf;
pub mod auth;
#[cfg(test)]
pub(crate) mod build;
pub mod cause;
pub mod checksum;
pub mod chunk;
pub mod data;
pub mod forward;
pub mod param;
pub mod ppid;
pub mod reconfig;
pub mod sack;
pub mod setup;
mod tlv;
pub mod tsn;

pub use self::asconf::{Asconf, AsconfAck, AsconfRequest, AsconfResponse};
pub use self::auth::Auth;
pub use self::cause::{Cause, Causes};
pub use self::checksum::{Checksum, Verdict, crc32c, must_have_checksum, verify};
pub use self::chunk::{Chunk, Chunks};
pub use self::data::Data;
pub use self::forward::{ForwardTsn, Skipped};
pub use self::param::{Param, Params};
pub use self::reconfig::Reconfig;
pub use self::sack::Sack;
pub use self::setup::Init;
pub use self::tsn::{Tsn, Unwrap};

use crate::packet::bytes::{Extent, be16, be32};
use crate::problem::{Layer, Problem};

/// Bytes of the common header.
pub const COMMON_HEADER: usize = 12;

/// RFC 9260 section 3.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CommonHeader {
    pub source_port: u16,
    pub destination_port: u16,
    pub verification_tag: u32,
    /// Read little-endian, so that it equals what `crc32c` computes (RFC 9260 appendix A).
    pub checksum: u32,
}

/// Splits an SCTP packet, which had `wire_length` bytes on the wire, into its
/// common header and its chunks. The only error is a header that is not all there.
pub fn parse(sctp: &[u8], wire_length: u32) -> Result<(CommonHeader, Chunks<'_>), Problem> {
    let wire = (wire_length as usize).max(sctp.len());
    let Some(fields) = sctp.first_chunk::<COMMON_HEADER>() else {
        let extent = Extent { captured: sctp.len(), wire };
        return Err(extent.short(Layer::Sctp, 0, COMMON_HEADER, "SCTP common header"));
    };
    let header = CommonHeader {
        source_port: be16::<0, COMMON_HEADER>(fields),
        destination_port: be16::<2, COMMON_HEADER>(fields),
        verification_tag: be32::<4, COMMON_HEADER>(fields),
        checksum: be32::<8, COMMON_HEADER>(fields).swap_bytes(),
    };
    Ok((header, Chunks::new(sctp, wire_length)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::problem::Kind;

    #[test]
    fn the_common_header() {
        let bytes = build::packet(&[build::chunk(chunk::COOKIE_ACK, 0, &[])]);
        let (header, mut chunks) = parse(&bytes, 16).unwrap();
        assert_eq!((header.source_port, header.destination_port), (1001, 2002));
        assert_eq!(header.verification_tag, 0x0102_0304);
        assert_eq!(header.checksum.to_le_bytes(), bytes[8..12]);
        assert!(chunks.next().is_some_and(|chunk| chunk.is_ok()));
        assert!(chunks.next().is_none());
        let kind = |bytes: &[u8], wire| parse(bytes, wire).map(|_| ()).unwrap_err().kind;
        assert_eq!(kind(&bytes[..11], 16), Kind::Truncated);
        assert_eq!(kind(&bytes[..11], 11), Kind::Malformed);
    }

    /// Calls every view of a chunk and goes through all it gives; returns how
    /// many items that was, so that nothing is optimised away.
    fn read_all(chunk: &Chunk<'_>) -> usize {
        let mut items = chunk.name().len() + chunk.cookie().len();
        items += chunk.data().map_or(0, |data| data.user.len());
        items += chunk.sack().map_or(0, |sack| {
            sack.gaps().len() + sack.nr_gaps().count() + sack.duplicates().count()
        });
        items += chunk.init().map_or(0, |init| init.params.map(|param| read_param(&param)).sum());
        items += chunk.heartbeat_info().map_or(0, <[u8]>::len);
        items += chunk.asconf().map_or(0, |asconf| asconf.requests.count());
        items += chunk
            .asconf_ack()
            .map_or(0, |ack| ack.responses.flatten().map(|response| response.causes.count()).sum());
        items +=
            chunk.causes().map(|cause| cause.map_or(1, |cause| cause.name().len())).sum::<usize>();
        items += chunk.shutdown().map_or(0, |_| 1) + chunk.ecn_tsn().map_or(0, |_| 1);
        items += chunk.forward_tsn().map_or(0, |forward| forward.skipped().count());
        items += chunk.re_config().map(|param| read_param(&param)).sum::<usize>();
        items + chunk.auth().map_or(0, |auth| auth.hmac.len())
    }

    fn read_param(param: &Result<Param<'_>, Problem>) -> usize {
        let Ok(param) = param else { return 1 };
        let address = param.address().map_or(0, |_| 1);
        address + param.name().len() + param.reconfig().map_or(0, |_| 1)
    }

    /// Every chunk type that has a view, and one that has none.
    fn kinds() -> impl Strategy<Value = u8> {
        prop::sample::select(vec![
            0_u8, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 64, 128, 129, 130, 132,
            192, 193, 194, 77,
        ])
    }

    /// Values in which small numbers, parameter types and lengths are frequent.
    fn values() -> impl Strategy<Value = Vec<u8>> {
        let word = prop_oneof![
            any::<[u8; 4]>(),
            (0_u16..20, 0_u16..24).prop_map(|(kind, length)| pair(kind, length)),
            (0xc000_u16..0xc007, 0_u16..24).prop_map(|(kind, length)| pair(kind, length)),
        ];
        (prop::collection::vec(word, 0..16), 0_usize..4).prop_map(|(words, less)| {
            let mut bytes = words.concat();
            bytes.truncate(bytes.len().saturating_sub(less));
            bytes
        })
    }

    fn pair(kind: u16, length: u16) -> [u8; 4] {
        let [[a, b], [c, d]] = [kind, length].map(u16::to_be_bytes);
        [a, b, c, d]
    }

    proptest! {
        #[test]
        fn no_bytes_make_a_view_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            wire in 0_u32..300,
        ) {
            if let Ok((header, chunks)) = parse(&bytes, wire) {
                verify(&bytes, &header, wire);
                chunks.flatten().for_each(|chunk| { read_all(&chunk); });
            }
        }

        #[test]
        fn no_value_makes_a_view_panic(
            chunks in prop::collection::vec((kinds(), any::<u8>(), values()), 1..4),
            kept in any::<prop::sample::Index>(),
        ) {
            let built =
                chunks.iter().map(|(kind, flags, value)| build::chunk(*kind, *flags, value));
            let bytes = build::packet(&built.collect::<Vec<_>>());
            let kept = &bytes[..kept.index(bytes.len()) + 1];
            for wire in [bytes.len(), kept.len()] {
                Chunks::new(kept, wire as u32).flatten().for_each(|chunk| { read_all(&chunk); });
            }
        }

        /// Problems inside a chunk point into it.
        #[test]
        fn problems_stay_inside_their_chunk(kind in kinds(), value in values()) {
            let bytes = build::packet(&[build::chunk(kind, 0, &value)]);
            let chunk = build::first(&bytes);
            let init = chunk.init().into_iter().flat_map(|init| init.params);
            let asconf = chunk.asconf().into_iter().flat_map(|asconf| asconf.requests);
            let problems = chunk.re_config().chain(init).filter_map(Result::err)
                .chain(chunk.causes().filter_map(Result::err))
                .chain(asconf.filter_map(Result::err));
            for problem in problems {
                prop_assert!((16..=16 + value.len() as u32).contains(&problem.offset));
                prop_assert_eq!(problem.kind, Kind::Malformed);
            }
        }
    }
}
