//! What hostile and huge captures cost.

use std::fmt::Write;

use proptest::prelude::*;

use super::ladder::{Scene, way};

#[test]
fn a_scan_forgets_idle_flows_and_counts_them() {
    let mut scene = Scene::new(4);
    for port in 1..=20 {
        // One flow goes on all the time, and stays one.
        scene.play(&format!(
            "{port} a S seq=1 port={port}\n{port}.5 a A seq={port} port=9999 len=1"
        ));
    }
    let census = scene.flows.census();
    assert_eq!((census.flows, census.evicted), (21, 17));
    let ledger = scene.finish();
    assert_eq!(ledger.of_flows().flows.len(), 21);
    assert_eq!(ledger.of_flows().flows.iter().filter(|row| row.end == "idle").count(), 17);
    let kept = ledger.of_flows().flows.iter().find(|row| row.a_port == 9999).unwrap();
    let packets =
        ledger.of_flows().flow_directions.iter().find(|row| row.flow == kept.flow).unwrap().packets;
    assert_eq!(packets, 20);
    assert!(ledger.of_flows().flows.is_sorted_by_key(|row| row.flow));
}

#[test]
fn outstanding_segments_are_bounded() {
    let mut scene = Scene::new(4);
    let mut ladder = String::new();
    for number in 0..40_000 {
        writeln!(ladder, "{number} a A seq={} len=1", number * 2).unwrap();
    }
    scene.play(&ladder);
    let remembered = scene.flows.slots[0].tcp.as_ref().unwrap().remembered();
    assert_eq!(remembered, 1 << 14);
    assert_eq!(way(&scene.finish(), "a").new_bytes, 40_000);
}

proptest! {
    /// Any two ends: nothing panics, and every payload byte is new or sent again.
    #[test]
    fn bytes_are_conserved(
        segments in prop::collection::vec(
            (any::<bool>(), 0_u32..4000, 0_u32..4000, 0_u32..300, 0_u8..16, 0_u32..3),
            1..60,
        ),
        base in prop::sample::select(vec![0_u32, u32::MAX - 2000, 1 << 31]),
    ) {
        let mut scene = Scene::new(4);
        let mut ladder = String::new();
        for (place, (from_a, seq, ack, len, kind, window)) in segments.iter().enumerate() {
            let sender = if *from_a { "a" } else { "b" };
            let flags = ["A", "A", "A", "A", "A", "FA", "A", "A"][usize::from(kind & 7)];
            let (seq, ack) = (base.wrapping_add(*seq), base.wrapping_add(*ack));
            let (left, right) = (ack.wrapping_add(10), ack.wrapping_add(500));
            writeln!(
                ladder,
                "{place} {sender} {flags} seq={seq} ack={ack} len={len} win={window} sack={left}-{right}",
            ).unwrap();
        }
        scene.play(&ladder);
        let ledger = scene.finish();
        for row in &ledger.of_flows().flow_directions {
            // Probes and keep-alives, of one byte at most, are in neither.
            let probes = row.keep_alives + row.window_probes;
            let told = row.new_bytes + row.retransmitted_bytes;
            prop_assert!(told <= row.payload_bytes && row.payload_bytes <= told + probes);
        }
    }

    #[test]
    fn any_numbers_are_survived(
        segments in prop::collection::vec(
            (any::<bool>(), any::<u32>(), any::<u32>(), 0_u32..3, 0_usize..6, any::<[u32; 4]>()),
            1..40,
        ),
    ) {
        let mut scene = Scene::new(4);
        for (place, (from_a, seq, ack, len, flags, [l, r, l2, r2])) in segments.iter().enumerate() {
            let sender = if *from_a { "a" } else { "b" };
            let flags = ["S", "SA", "A", "FA", "RA", "F"][*flags];
            scene.play(&format!(
                "{place} {sender} {flags} seq={seq} ack={ack} len={len} sack={l}-{r},{l2}-{r2} ts={l}/{r2}",
            ));
        }
        prop_assert!(!scene.finish().of_flows().flows.is_empty());
    }
}

/// Sixty-five thousand of them are remembered.
#[test]
fn a_flow_is_small() {
    let size = size_of::<crate::track::flow::Flow>();
    assert!(size <= 2600, "{size} bytes");
}
