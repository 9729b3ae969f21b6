//! AUTH (RFC 4895 section 4.1).

use super::Chunk;
use super::chunk::AUTH;
use crate::packet::bytes::be16;
use crate::problem::Problem;

/// The keyed hash of the chunks after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Auth<'a> {
    /// Shared Key Identifier.
    pub key_id: u16,
    /// HMAC Identifier: 1 is SHA-1, 3 is SHA-256.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::Kind;
    use crate::sctp::build::{chunk, first, packet};

    #[test]
    fn key_algorithm_and_hash() {
        let bytes = packet(&[chunk(AUTH, 0, &[&[0, 1, 0, 3][..], &[9; 32]].concat())]);
        let expected = Auth { key_id: 1, hmac_id: 3, hmac: &[9; 32] };
        assert_eq!(first(&bytes).auth(), Ok(expected));
        let short = packet(&[chunk(AUTH, 0, &[0, 1])]);
        assert_eq!(first(&short).auth().unwrap_err().kind, Kind::Malformed);
    }
}
