//! MPTCP subflows and their connection (RFC 8684).

use super::ladder::{HANDSHAKE, play};
use crate::tcp::mptcp::token;

const KEYS: [u64; 2] = [0x0102_0304_0506_0708, 0x1112_1314_1516_1718];

/// The first subflow, with the keys in its third segment.
fn capable() -> String {
    let [a, b] = KEYS.map(|key| format!("{key:016x}"));
    format!(
        "0  a S  seq=99 mptcp=0181
         10 b SA seq=499 ack=100 mptcp=0101{b}
         20 a A  seq=100 ack=500 mptcp=0101{a}{b}"
    )
}

/// A DSS option with a 32-bit data sequence number, and its data.
fn mapped(data_sequence: u32, length: u16) -> String {
    format!("len={length} mptcp=2004{data_sequence:08x}00000001{length:04x}")
}

#[test]
fn a_join_finds_its_connection_by_token() {
    let token = token(1, KEYS[1]);
    let ledger = play(&format!(
        "{}
         30 a S  seq=99 port=1002 mptcp=1103{token:08x}00000000
         40 b SA seq=499 ack=100 port=1002 mptcp=1004000000000000000000000000",
        capable(),
    ));
    let rows: Vec<_> = ledger
        .of_flows()
        .flows
        .iter()
        .map(|row| (row.connection, row.subflow, row.mptcp_version, row.backup))
        .collect();
    let expected =
        [(Some(0), Some("capable"), Some(1), false), (Some(0), Some("join"), None, true)];
    assert_eq!(rows, expected);
    let ids: Vec<_> = ledger.of_flows().flow_directions.iter().map(|row| row.address_id).collect();
    assert_eq!(ids, [None, None, Some(3), Some(4)]);
}

#[test]
fn a_join_of_the_called_end_is_turned_round() {
    let token = token(1, KEYS[0]);
    let ledger = play(&format!(
        "{}
         25 b S  seq=99 port=1002 mptcp=1003{token:08x}00000000
         30 b A seq=500 ack=100 {}
         40 b A seq=100 ack=500 port=1002 {}",
        capable(),
        mapped(1000, 100),
        mapped(1000, 100),
    ));
    let ends: Vec<_> = ledger.of_flows().flows.iter().map(|row| row.connection_end).collect();
    assert_eq!(ends, [Some("a"), Some("b")]);
    assert_eq!(ledger.of_flows().flows[1].connection, ledger.of_flows().flows[0].connection);
    let rows = ledger
        .of_flows()
        .flow_directions
        .iter()
        .map(|row| (row.flow, row.sender, row.reinjected_bytes));
    assert_eq!(rows.collect::<Vec<_>>(), [(0, "a", 0), (0, "b", 0), (1, "a", 100)]);
}

#[test]
fn joins_without_their_first_subflow_still_belong_together() {
    let join = |port: u16, token: u32| {
        format!("{port} a S seq=99 port={port} mptcp=1003{token:08x}00000000\n")
    };
    let ladder: String = [(1, 7), (2, 8), (3, 7)].map(|(port, token)| join(port, token)).concat();
    let ledger = play(&ladder);
    let rows: Vec<_> = ledger.of_flows().flows.iter().map(|row| row.connection).collect();
    assert_eq!(rows, [Some(0), Some(1), Some(0)]);
}

#[test]
fn the_same_data_on_another_subflow_is_reinjected() {
    let token = token(1, KEYS[1]);
    let ledger = play(&format!(
        "{}
         25 a S  seq=99 port=1002 mptcp=1003{token:08x}00000000
         30 a A seq=100 ack=500 {}
         31 a A seq=200 ack=500 {}
         40 a A seq=100 ack=500 port=1002 {}
         300 a A seq=100 ack=500 {}",
        capable(),
        mapped(1000, 100),
        mapped(1100, 100),
        mapped(1050, 200),
        mapped(1000, 100),
    ));
    let rows: Vec<_> = ledger
        .of_flows()
        .flow_directions
        .iter()
        .filter(|row| row.sender == "a")
        .map(|row| (row.mapped_bytes, row.reinjected_bytes))
        .collect();
    assert_eq!(rows, [(200, 0), (50, 150)]);
}

#[test]
fn plain_tcp_has_no_connection() {
    let ledger = play(HANDSHAKE);
    assert_eq!(
        (ledger.of_flows().flows[0].connection, ledger.of_flows().flows[0].subflow),
        (None, None)
    );
}
