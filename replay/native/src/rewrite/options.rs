//! What is asked of a rewriter.

use serde::Deserialize;

use super::mapping::Mapping;

#[derive(Clone, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Options {
    pub mapping: Mapping,
    /// Checksums that were wrong stay as wrong as they were, instead of being repaired.
    pub keep_bad_checksums: bool,
    pub above_mtu: AboveMtu,
    pub truncated: Truncated,
    /// UDP ports, at either end, behind which SCTP is expected (RFC 6951).
    pub udp_ports: Vec<u16>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            mapping: Mapping::default(),
            keep_bad_checksums: false,
            above_mtu: AboveMtu::default(),
            truncated: Truncated::default(),
            udp_ports: vec![pathscope_wire::packet::SCTP_TUNNELING],
        }
    }
}

/// What becomes of IP packets larger than the MTU.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AboveMtu {
    #[default]
    Refuse,
    /// TCP into segments, all else into IP fragments.
    Split,
}

/// What becomes of packets of which the capture kept less than there was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Truncated {
    #[default]
    Refuse,
    /// Zeros up to the length on the wire.
    Pad,
}

/// Which way a frame goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    ToServer,
    ToClient,
}

/// An option that cannot be followed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    #[error("mapping: {text:?} is not {expected}")]
    Text { text: String, expected: &'static str },

    #[error("mapping: {from} to {to}: not of the same family")]
    Family { from: String, to: String },

    #[error("mapping: {from} to {to}: prefixes of different lengths")]
    PrefixLength { from: String, to: String },

    #[error("mapping: {text}: bits are set after the prefix")]
    HostBits { text: String },

    #[error("mapping: {text} is mapped twice")]
    Twice { text: String },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_as_the_orders_have_them() {
        let json = r#"{"mapping": {"addresses": [["10.0.1.0/24", "10.9.1.0/24"]]},
            "keep_bad_checksums": true, "above_mtu": "split", "truncated": "pad"}"#;
        let options: Options = serde_json::from_str(json).unwrap();
        assert!(options.keep_bad_checksums);
        assert_eq!(options.above_mtu, AboveMtu::Split);
        assert_eq!(options.truncated, Truncated::Pad);
        assert_eq!(options.udp_ports, [9899]);
        assert_eq!(options.mapping.addresses.len(), 1);
        assert!(serde_json::from_str::<Options>(r#"{"mtu": 1}"#).is_err());
        assert!(serde_json::from_str::<Options>(r#"{"above_mtu": "send"}"#).is_err());
    }
}
