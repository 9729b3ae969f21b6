//! Any bytes at all.

use proptest::prelude::*;

use super::super::build::{init, tlv};
use super::*;

fn options() -> impl Strategy<Value = String> {
    let truncated = prop::sample::select(vec!["refuse", "pad"]);
    let above_mtu = prop::sample::select(vec!["refuse", "split"]);
    (truncated, above_mtu, any::<bool>(), any::<bool>()).prop_map(
        |(truncated, above_mtu, keep, maps)| {
            let mapping = if maps { format!(", {MAPPING}") } else { String::new() };
            format!(
                r#""truncated": "{truncated}", "above_mtu": "{above_mtu}",
                "keep_bad_checksums": {keep}{mapping}"#
            )
        },
    )
}

/// Packets of every kind, with some bytes changed.
fn spoiled() -> impl Strategy<Value = Vec<u8>> {
    let packets: Vec<_> = [false, true]
        .into_iter()
        .flat_map(|v6| {
            let quote = tcp(v6, 0x10, &[], &[7; 20]);
            let asconf = tlv([0xc0, 1], &[&[0; 4][..], &tlv([0, 5], &[10, 0, 1, 1])].concat());
            let more = [
                icmp(v6, if v6 { 1 } else { 3 }, 1, [0; 4], &quote),
                tcp(v6, 0x10, &[30, 8, 0x30, 1, 10, 0, 1, 7], &[]),
                ip(v6, 132, &sctp(&[init(&[tlv([0, 5], &[10, 0, 1, 1])])])),
                ip(v6, 132, &sctp(&[tlv([193, 0], &[&[0; 4][..], &asconf].concat())])),
                udp(v6, [5000, 6000], &[9; 3000]),
                tcp(v6, 0x19, &[], &[9; 3000]),
            ];
            every_kind(v6).into_iter().chain(more)
        })
        .collect();
    let changes = prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6);
    (prop::sample::select(packets), changes).prop_map(|(packet, changes)| {
        let mut frame = ethernet(&packet);
        for (at, byte) in changes {
            // Mostly in the headers.
            let at = at.index(frame.len().min(80));
            frame[at] = byte;
        }
        frame
    })
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic_or_write_much(
        link_type in prop::sample::select(vec![0_u16, 1, 9, 101, 105, 113, 127, 276, 228]),
        data in prop::collection::vec(any::<u8>(), 0..300),
        more in 0_u32..5000,
        mtu in 0_u32..2000,
        options in options(),
    ) {
        let wire_length = data.len() as u32 + more;
        let record = Captured { link_type, data: &data, wire_length };
        if let Ok((frames, _)) = rewritten(&options, record, mtu) {
            let bytes: usize = frames.iter().map(Vec::len).sum();
            prop_assert!(bytes <= 20 * (wire_length as usize + 64));
        }
    }

    /// The judge, which shares no code with what is judged, finds nothing wrong.
    #[test]
    fn every_sum_that_can_be_checked_is_right(
        frame in spoiled(),
        cut in 0_usize..60,
        mtu in 60_u32..2000,
        options in options(),
    ) {
        let kept = &frame[..frame.len() - cut.min(frame.len())];
        let record = Captured { link_type: 1, data: kept, wire_length: frame.len() as u32 };
        if let Ok((frames, found)) = rewritten(&options, record, mtu) {
            for made in &frames {
                let fits = made.len() <= mtu as usize + 18 || made.len() <= kept.len();
                prop_assert!(fits, "{} bytes", made.len());
                let judged = !options.contains("\"keep_bad_checksums\": true")
                    && !found.has(Note::TransportMalformed)
                    && !found.has(Note::ChecksumNotVerified);
                if judged {
                    prop_assert_eq!(wrong(made, &[9899]), None);
                }
            }
        }
    }
}
