//! The MPTCP option and its subtypes: version 1 of RFC 8684, and the layouts of
//! version 0 (RFC 6824) where they differ, because most captures of studies have them.

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::option::wrong_length;
use crate::address::Address;
use crate::problem::{Kind, Layer, Problem};

/// One MPTCP option (RFC 8684 section 3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mptcp<'a> {
    /// MP_CAPABLE. Keys of the sender and of the receiver, as far as this segment carries them.
    Capable {
        version: u8,
        flags: u8,
        sender_key: Option<u64>,
        receiver_key: Option<u64>,
        /// With the first data.
        data_length: Option<u16>,
    },
    /// MP_JOIN: a SYN has the token of the receiver, the others authenticate it; the third
    /// segment has nothing but that.
    Join {
        backup: bool,
        address_id: Option<u8>,
        token: Option<u32>,
    },
    Dss(Dss),
    AddAddress {
        echo: bool,
        address_id: u8,
        address: Address,
        port: Option<u16>,
    },
    RemoveAddress {
        address_ids: &'a [u8],
    },
    Priority {
        backup: bool,
        address_id: Option<u8>,
    },
    Fail {
        data_sequence: u64,
    },
    FastClose {
        receiver_key: u64,
    },
    Reset {
        flags: u8,
        reason: u8,
    },
    /// A subtype that RFC 8684 does not define.
    Other {
        subtype: u8,
    },
}

/// Data Sequence Signal (RFC 8684 section 3.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Dss {
    /// DATA_FIN.
    pub fin: bool,
    /// Data ACK; its low 32 bits where the option carries only those.
    pub data_ack: Option<u64>,
    pub mapping: Option<Mapping>,
}

/// Which data sequence numbers a stretch of the subflow carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapping {
    /// The low 32 bits where the option carries only those.
    pub data_sequence: u64,
    /// Relative to the subflow's initial sequence number.
    pub subflow_sequence: u32,
    pub length: u16,
}

const MP_CAPABLE: u8 = 0;
const MP_JOIN: u8 = 1;
const DSS: u8 = 2;
const ADD_ADDR: u8 = 3;
const REMOVE_ADDR: u8 = 4;
const MP_PRIO: u8 = 5;
const MP_FAIL: u8 = 6;
const MP_FASTCLOSE: u8 = 7;
const MP_TCPRST: u8 = 8;

const DSS_DATA_ACK: u8 = 0x01;
const DSS_DATA_ACK_WIDE: u8 = 0x02;
const DSS_MAPPING: u8 = 0x04;
const DSS_SEQUENCE_WIDE: u8 = 0x08;
const DSS_FIN: u8 = 0x10;

/// The name of a reason of MP_TCPRST (RFC 8684 section 3.6).
pub fn reset_reason(reason: u8) -> &'static str {
    match reason {
        0 => "unspecified error",
        1 => "MPTCP-specific error",
        2 => "lack of resources",
        3 => "administratively prohibited",
        4 => "too much outstanding data",
        5 => "unacceptable performance",
        6 => "middlebox interference",
        _ => "unknown",
    }
}

/// The token that names a connection to the owner of `key`: the first 32 bits of its hash
/// (RFC 8684 section 3.2; SHA-1 in version 0).
pub fn token(version: u8, key: u64) -> u32 {
    let first =
        |digest: &[u8]| digest.iter().take(4).fold(0, |sum: u32, &byte| sum << 8 | u32::from(byte));
    match version {
        0 => first(&Sha1::digest(key.to_be_bytes())),
        _ => first(&Sha256::digest(key.to_be_bytes())),
    }
}

/// The first data sequence number of the owner of `key`: the last 64 bits of its hash, plus one
/// for the handshake (RFC 8684 section 3.1).
pub fn first_data_sequence(version: u8, key: u64) -> u64 {
    let last = |digest: &[u8]| digest.iter().fold(0, |sum: u64, &byte| sum << 8 | u64::from(byte));
    let initial = match version {
        0 => last(&Sha1::digest(key.to_be_bytes())),
        _ => last(&Sha256::digest(key.to_be_bytes())),
    };
    initial.wrapping_add(1)
}

/// Reads the option's value: what follows its kind and length.
pub(super) fn read(value: &[u8]) -> Result<Mptcp<'_>, Problem> {
    let mut fields = Fields(value);
    let (subtype, low) = match fields.byte() {
        Some(first) => (first >> 4, first & 0x0f),
        None => return Err(wrong_length(value, "MPTCP option with a subtype")),
    };
    let read = match subtype {
        MP_CAPABLE => capable(low, &mut fields),
        MP_JOIN => join(low, &mut fields),
        DSS => dss(&mut fields).map(Mptcp::Dss),
        ADD_ADDR => add_address(low, &mut fields),
        REMOVE_ADDR => Some(Mptcp::RemoveAddress { address_ids: fields.rest() }),
        MP_PRIO => Some(Mptcp::Priority { backup: low & 1 != 0, address_id: fields.byte() }),
        MP_FAIL => fields
            .byte()
            .and_then(|_| fields.u64())
            .map(|data_sequence| Mptcp::Fail { data_sequence }),
        MP_FASTCLOSE => fields
            .byte()
            .and_then(|_| fields.u64())
            .map(|receiver_key| Mptcp::FastClose { receiver_key }),
        MP_TCPRST => fields.byte().map(|reason| Mptcp::Reset { flags: low, reason }),
        _ => return Ok(Mptcp::Other { subtype }),
    };
    match read {
        Some(read) if fields.0.is_empty() => Ok(read),
        _ => Err(Problem {
            kind: Kind::Malformed,
            layer: Layer::Option,
            ..wrong_length(value, "MPTCP option with a length of its subtype")
        }),
    }
}

fn capable<'a>(version: u8, fields: &mut Fields<'a>) -> Option<Mptcp<'a>> {
    let flags = fields.byte()?;
    let (sender_key, receiver_key) = (fields.u64(), fields.u64());
    let data_length = fields.u16();
    // A checksum follows the length where checksums are in use; it is not verified.
    if data_length.is_some() {
        fields.u16();
    }
    Some(Mptcp::Capable { version, flags, sender_key, receiver_key, data_length })
}

fn join<'a>(low: u8, fields: &mut Fields<'a>) -> Option<Mptcp<'a>> {
    let address_id = fields.byte();
    let backup = low & 1 != 0;
    let join = match fields.0.len() {
        // SYN: token and random number.
        8 => Mptcp::Join { backup, address_id, token: fields.u32() },
        // SYN ACK: truncated HMAC and random number.
        12 => Mptcp::Join { backup, address_id, token: None },
        // Third segment: HMAC.
        20 => Mptcp::Join { backup: false, address_id: None, token: None },
        _ => return None,
    };
    fields.rest();
    Some(join)
}

fn dss(fields: &mut Fields<'_>) -> Option<Dss> {
    let flags = fields.byte()?;
    let number = |fields: &mut Fields<'_>, wide: bool| {
        if wide { fields.u64() } else { fields.u32().map(u64::from) }
    };
    let mut dss = Dss { fin: flags & DSS_FIN != 0, ..Dss::default() };
    if flags & DSS_DATA_ACK != 0 {
        dss.data_ack = Some(number(fields, flags & DSS_DATA_ACK_WIDE != 0)?);
    }
    if flags & DSS_MAPPING != 0 {
        dss.mapping = Some(Mapping {
            data_sequence: number(fields, flags & DSS_SEQUENCE_WIDE != 0)?,
            subflow_sequence: fields.u32()?,
            length: fields.u16()?,
        });
        // The checksum, where checksums are in use; it is not verified.
        fields.u16();
    }
    Some(dss)
}

fn add_address<'a>(low: u8, fields: &mut Fields<'a>) -> Option<Mptcp<'a>> {
    let address_id = fields.byte()?;
    // Without and with port; without and with the HMAC, which version 0 and echoes do not have.
    let (v6, port, hmac) = match fields.0.len() {
        4 => (false, false, false),
        6 => (false, true, false),
        12 => (false, false, true),
        14 => (false, true, true),
        16 => (true, false, false),
        18 => (true, true, false),
        24 => (true, false, true),
        26 => (true, true, true),
        _ => return None,
    };
    let address = Address::from_bytes(fields.take(if v6 { 16 } else { 4 })?)?;
    let port = if port { fields.u16() } else { None };
    if hmac {
        fields.u64()?;
    }
    // Version 0 has the IP version in these four bits, whose last is 0.
    Some(Mptcp::AddAddress { echo: low & 1 != 0, address_id, address, port })
}

/// Big-endian fields, first to last.
struct Fields<'a>(&'a [u8]);

impl<'a> Fields<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(count)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn byte(&mut self) -> Option<u8> {
        self.array().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_be_bytes)
    }

    fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bytes(parts: &[&[u8]]) -> Vec<u8> {
        parts.concat()
    }

    /// RFC 6234's test vector for SHA-256 does not take 8 bytes; this one was computed apart.
    #[test]
    fn the_token_is_the_beginning_of_the_hash() {
        assert_eq!(token(1, 0), 0xaf55_70f5);
        assert_eq!(token(0, 0), 0x05fe_4057);
    }

    #[test]
    fn capable_in_its_lengths() {
        let key = 0x0102_0304_0506_0708_u64.to_be_bytes();
        let keys = |value: &[u8]| match read(value).unwrap() {
            Mptcp::Capable { version, sender_key, receiver_key, data_length, .. } => {
                (version, sender_key.is_some(), receiver_key.is_some(), data_length)
            }
            other => panic!("{other:?}"),
        };
        assert_eq!(keys(&[0x01, 0x81]), (1, false, false, None));
        assert_eq!(keys(&bytes(&[&[0x00, 0x81], &key])), (0, true, false, None));
        assert_eq!(keys(&bytes(&[&[0x01, 1], &key, &key])), (1, true, true, None));
        assert_eq!(keys(&bytes(&[&[0x01, 1], &key, &key, &[0, 9]])), (1, true, true, Some(9)));
        let sum = bytes(&[&[0x01, 0x81], &key, &key, &[0, 9, 1, 1]]);
        assert_eq!(keys(&sum), (1, true, true, Some(9)));
        assert!(read(&bytes(&[&[0x01, 0x81], &key[..7]])).is_err());
    }

    #[test]
    fn join_has_a_token_in_the_syn_only() {
        let syn = read(&[0x11, 3, 0, 0, 0, 5, 9, 9, 9, 9]).unwrap();
        assert_eq!(syn, Mptcp::Join { backup: true, address_id: Some(3), token: Some(5) });
        let syn_ack = bytes(&[&[0x10, 2], &[7; 12]]);
        let expected = Mptcp::Join { backup: false, address_id: Some(2), token: None };
        assert_eq!(read(&syn_ack), Ok(expected));
        let ack = bytes(&[&[0x10, 0], &[7; 20]]);
        let expected = Mptcp::Join { backup: false, address_id: None, token: None };
        assert_eq!(read(&ack), Ok(expected));
        assert!(read(&bytes(&[&[0x10, 0], &[7; 19]])).is_err());
    }

    #[test]
    fn dss_in_both_widths() {
        let narrow = [0x20, 0x05, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 4];
        let mapping = Mapping { data_sequence: 2, subflow_sequence: 3, length: 4 };
        let expected = Dss { fin: false, data_ack: Some(1), mapping: Some(mapping) };
        assert_eq!(read(&narrow), Ok(Mptcp::Dss(expected)));
        assert_eq!(read(&bytes(&[&narrow, &[1, 1]])), Ok(Mptcp::Dss(expected)));
        let wide = [0x20, 0x13, 0, 0, 0, 1, 0, 0, 0, 2];
        let expected = Dss { fin: true, data_ack: Some(1 << 32 | 2), mapping: None };
        assert_eq!(read(&wide), Ok(Mptcp::Dss(expected)));
        assert!(read(&narrow[..15]).is_err());
    }

    #[test]
    fn the_other_subtypes() {
        let address = Address::v4([10, 0, 0, 9]);
        let plain = read(&[0x34, 2, 10, 0, 0, 9]).unwrap();
        assert_eq!(plain, Mptcp::AddAddress { echo: false, address_id: 2, address, port: None });
        let with_hmac = bytes(&[&[0x30, 2, 10, 0, 0, 9, 0, 80], &[1; 8]]);
        let with_hmac = read(&with_hmac).unwrap();
        assert_eq!(
            with_hmac,
            Mptcp::AddAddress { echo: false, address_id: 2, address, port: Some(80) }
        );
        assert_eq!(read(&[0x40, 1, 2]), Ok(Mptcp::RemoveAddress { address_ids: &[1, 2] }));
        assert_eq!(read(&[0x51]), Ok(Mptcp::Priority { backup: true, address_id: None }));
        assert_eq!(read(&[0x80, 3]), Ok(Mptcp::Reset { flags: 0, reason: 3 }));
        assert_eq!(
            read(&[0x70, 0, 0, 0, 0, 0, 0, 0, 0, 5]),
            Ok(Mptcp::FastClose { receiver_key: 5 })
        );
        assert_eq!(read(&[0x60, 0, 0, 0, 0, 0, 0, 0, 0, 5]), Ok(Mptcp::Fail { data_sequence: 5 }));
        assert_eq!(read(&[0xf0, 1, 2, 3]), Ok(Mptcp::Other { subtype: 15 }));
        assert!(read(&[]).is_err() && read(&[0x80]).is_err());
        assert_eq!((reset_reason(3), reset_reason(9)), ("administratively prohibited", "unknown"));
    }

    proptest! {
        #[test]
        fn no_value_panics(value in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = read(&value);
        }
    }
}
