//! TCP options in words: `name=value`, or a name alone.

use std::fmt::Write;

use super::list;
use crate::tcp::{Mptcp, Opt};

pub fn text(option: &Opt<'_>) -> String {
    match option {
        Opt::MaximumSegmentSize(size) => format!("mss={size}"),
        Opt::WindowScale(shift) => format!("ws={shift}"),
        Opt::SackPermitted => "sack-permitted".to_string(),
        Opt::Sack(sack) => {
            let blocks = sack.blocks().map(|(left, right)| format!("{left}-{right}"));
            named("sack", blocks)
        }
        Opt::Timestamps { value, echo } => format!("ts={value},{echo}"),
        Opt::Multipath(option) => multipath(option),
        Opt::Other { kind, value } => {
            let mut text = format!("kind-{kind}");
            for (index, byte) in value.iter().enumerate() {
                let before = if index == 0 { "=" } else { "" };
                // Writing to a String cannot fail.
                let _ = write!(text, "{before}{byte:02x}");
            }
            text
        }
    }
}

/// By the names of RFC 8684.
fn multipath(option: &Mptcp<'_>) -> String {
    let flag = |set: bool, name: &str| set.then(|| name.to_string());
    match *option {
        Mptcp::Capable { version, flags, sender_key, receiver_key, data_length } => named(
            "mp_capable",
            [
                Some(format!("version:{version}")),
                Some(format!("flags:{flags:#04x}")),
                sender_key.map(|key| format!("sender_key:{key:#018x}")),
                receiver_key.map(|key| format!("receiver_key:{key:#018x}")),
                data_length.map(|length| format!("length:{length}")),
            ]
            .into_iter()
            .flatten(),
        ),
        Mptcp::Join { backup, address_id, token } => named(
            "mp_join",
            [
                address_id.map(|id| format!("address_id:{id}")),
                flag(backup, "backup"),
                token.map(|token| format!("token:{token:#010x}")),
            ]
            .into_iter()
            .flatten(),
        ),
        Mptcp::Dss(dss) => named(
            "dss",
            [
                flag(dss.fin, "fin"),
                dss.data_ack.map(|ack| format!("ack:{ack}")),
                dss.mapping.map(|map| format!("sequence:{}", map.data_sequence)),
                dss.mapping.map(|map| format!("subflow:{}", map.subflow_sequence)),
                dss.mapping.map(|map| format!("length:{}", map.length)),
            ]
            .into_iter()
            .flatten(),
        ),
        Mptcp::AddAddress { echo, address_id, address, port } => named(
            "add_addr",
            [
                Some(format!("address_id:{address_id}")),
                flag(echo, "echo"),
                Some(format!("address:{address}")),
                port.map(|port| format!("port:{port}")),
            ]
            .into_iter()
            .flatten(),
        ),
        Mptcp::RemoveAddress { address_ids } => {
            named("remove_addr", address_ids.iter().map(|id| format!("address_id:{id}")))
        }
        Mptcp::Priority { backup, address_id } => named(
            "mp_prio",
            [flag(backup, "backup"), address_id.map(|id| format!("address_id:{id}"))]
                .into_iter()
                .flatten(),
        ),
        Mptcp::Fail { data_sequence } => format!("mp_fail=sequence:{data_sequence}"),
        Mptcp::FastClose { receiver_key } => {
            format!("mp_fastclose=receiver_key:{receiver_key:#018x}")
        }
        Mptcp::Reset { flags, reason } => format!("mp_tcprst=flags:{flags:#x},reason:{reason}"),
        Mptcp::Other { subtype } => format!("mptcp-{subtype}"),
    }
}

fn named(name: &str, values: impl Iterator<Item = String>) -> String {
    match list(values, ",") {
        Some(values) => format!("{name}={values}"),
        None => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::address::Address;
    use crate::tcp::mptcp::{Dss, Mapping};

    #[test]
    fn options_in_words() {
        assert_eq!(text(&Opt::MaximumSegmentSize(1460)), "mss=1460");
        assert_eq!(text(&Opt::Timestamps { value: 7, echo: 9 }), "ts=7,9");
        assert_eq!(text(&Opt::Other { kind: 253, value: &[1, 0xab] }), "kind-253=01ab");
        assert_eq!(text(&Opt::Other { kind: 34, value: &[] }), "kind-34");
    }

    #[test]
    fn mptcp_in_words() {
        let mapping = Mapping { data_sequence: 2, subflow_sequence: 3, length: 4 };
        let dss = Dss { fin: true, data_ack: Some(1), mapping: Some(mapping) };
        let words = [
            (Mptcp::Dss(dss), "dss=fin,ack:1,sequence:2,subflow:3,length:4"),
            (Mptcp::Dss(Dss::default()), "dss"),
            (
                Mptcp::Join { backup: true, address_id: Some(3), token: Some(5) },
                "mp_join=address_id:3,backup,token:0x00000005",
            ),
            (
                Mptcp::AddAddress {
                    echo: true,
                    address_id: 2,
                    address: Address::v4([10, 0, 0, 9]),
                    port: Some(80),
                },
                "add_addr=address_id:2,echo,address:10.0.0.9,port:80",
            ),
            (
                Mptcp::RemoveAddress { address_ids: &[1, 2] },
                "remove_addr=address_id:1,address_id:2",
            ),
            (Mptcp::Reset { flags: 1, reason: 3 }, "mp_tcprst=flags:0x1,reason:3"),
        ];
        for (option, expected) in words {
            assert_eq!(text(&Opt::Multipath(option)), expected);
        }
    }
}
