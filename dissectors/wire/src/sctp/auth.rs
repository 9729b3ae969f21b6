//! AUTH (RFC 4895 section 4.1), and the parameters that ask for it (section 3).

use super::chunk::AUTH;
use super::param::{CHUNK_LIST, REQUESTED_HMAC_ALGORITHM};
use super::{Chunk, Param};
use crate::packet::bytes::be16;
use crate::problem::Problem;

/// The keyed hash of the chunks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth<'a> {
    /// Shared Key Identifier.
    pub key_id: u16,
    /// HMAC Identifier.
    pub hmac_id: u16,
    /// As far as captured.
    pub hmac: &'a [u8],
}

impl<'a> Chunk<'a> {
    /// The fields of an AUTH chunk.
    pub fn auth(&self) -> Result<Auth<'a>, Problem> {
        self.require(&[AUTH], "AUTH")?;
        let (fields, hmac) = self.fixed::<4>("fields of AUTH")?;
        Ok(Auth { key_id: be16::<0, 4>(fields), hmac_id: be16::<2, 4>(fields), hmac })
    }
}

impl<'a> Param<'a> {
    /// HMAC Identifiers of a Requested HMAC Algorithm parameter, the preferred one
    /// first; none in other parameters.
    pub fn hmac_ids(&self) -> impl Iterator<Item = u16> + use<'a> {
        let value = if self.kind == REQUESTED_HMAC_ALGORITHM { self.value } else { &[] };
        value.as_chunks::<2>().0.iter().map(|id| u16::from_be_bytes(*id))
    }

    /// Chunk types of a Chunk List parameter: its sender wants them authenticated.
    pub fn chunk_list(&self) -> &'a [u8] {
        if self.kind == CHUNK_LIST { self.value } else { &[] }
    }
}

/// The hash function that an HMAC Identifier stands for; None if RFC 4895 section 8 lists none.
pub fn hmac_name(id: u16) -> Option<&'static str> {
    match id {
        1 => Some("SHA-1"),
        3 => Some("SHA-256"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, first, packet};
    use crate::sctp::param::RANDOM;

    #[test]
    fn key_algorithm_and_hash() {
        let bytes = packet(&[chunk(AUTH, 0, &[&[0, 1, 0, 3][..], &[9; 32]].concat())]);
        let expected = Auth { key_id: 1, hmac_id: 3, hmac: &[9; 32] };
        assert_eq!(first(&bytes).auth(), Ok(expected));
        let short = packet(&[chunk(AUTH, 0, &[0, 1])]);
        assert_eq!(first(&short).auth().unwrap_err().kind, Kind::Malformed);
    }

    #[test]
    fn what_is_asked_for() {
        let param = |kind, value| Param { offset: 0, kind, length: 0, value, truncated: false };
        let ids: Vec<_> = param(REQUESTED_HMAC_ALGORITHM, &[0, 3, 0, 1, 0]).hmac_ids().collect();
        assert_eq!(ids, [3, 1]);
        assert_eq!(param(CHUNK_LIST, &[0, 193]).chunk_list(), [0, 193]);
        let random = param(RANDOM, &[0, 3]);
        assert_eq!((random.hmac_ids().count(), random.chunk_list()), (0, &[][..]));
        assert_eq!((hmac_name(3), hmac_name(2)), (Some("SHA-256"), None));
    }
}
