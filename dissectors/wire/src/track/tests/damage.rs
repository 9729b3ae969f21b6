//! Damaged packets: RFC 9260 section 6.8, a receiver discards what has a wrong checksum.

use super::script::{HANDSHAKE, established, play};

#[test]
fn a_damaged_packet_says_nothing() {
    let ledger = established(
        "
      100  a1 -> b1  DATA 1-4
      110  a1 <- b1  SACK 900 / damaged
      120  a1 -> b2  DATA 5
      130  a1 <- b1  SACK 5
      140  a1 -> b1  DATA 900 / damaged
      150  a1 -> b1  DATA 6
      160  a1 <- b1  SACK 6",
    );
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.damaged_packets, row.bad_checksums, row.packets), (2, 0, 9));
    assert_eq!(ledger.retransmissions, []);
    assert_eq!(ledger.runs.iter().map(|run| run.chunks).collect::<Vec<_>>(), [4, 1, 1]);
}

#[test]
fn a_damaged_tag_opens_no_association() {
    let ledger = established("100  a1 -> b1  DATA 1 / vtag=77 damaged");
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert_eq!((row.damaged_packets, row.b_tag), (1, Some(20)));
}

/// A tap before checksum offload sees wrong checksums only: they say nothing about the packets.
#[test]
fn wrong_checksums_alone_are_believed() {
    let lines = HANDSHAKE.lines().filter(|line| !line.trim().is_empty());
    let ledger = play(&lines.map(|line| format!("{line} / damaged\n")).collect::<String>());
    let [row] = &ledger.associations[..] else { panic!("{:?}", ledger.associations) };
    assert!(row.seen_handshake);
    assert_eq!((row.bad_checksums, row.damaged_packets, row.packets), (4, 0, 4));
}
