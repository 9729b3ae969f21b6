//! Packets larger than the MTU.

use pathscope_wire::packet::{Decoder, DecoderOptions, Found, outermost};

use super::super::build::right_header;
use super::*;

const SPLIT: &str = r#""above_mtu": "split""#;

fn split(frame: &[u8], mtu: u32) -> (Vec<Vec<u8>>, Notes) {
    let (frames, found) = rewritten(SPLIT, captured(frame), mtu).unwrap();
    for frame in &frames {
        assert_eq!(wrong(frame, &[]), None);
        let place = outermost(1, frame, 0).unwrap();
        assert!(place.end == frame.len() && frame.len() - place.offset <= mtu as usize);
    }
    (frames, found)
}

/// What the fragments are put together to.
fn together(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut decoder = Decoder::new(DecoderOptions { flows: true, ..DecoderOptions::default() });
    let mut whole = None;
    for frame in frames {
        match decoder.decode(1, 0, frame, frame.len() as u32) {
            Found::Udp(datagram) | Found::Icmp(datagram) => whole = Some(datagram.bytes.to_vec()),
            Found::Sctp(packet) => whole = Some(packet.sctp.to_vec()),
            Found::Skip(Skip::FragmentHeld) => {}
            other => panic!("{other:?}"),
        }
    }
    whole.unwrap()
}

#[test]
fn refused_unless_splitting_is_asked_for() {
    let frame = ethernet(&udp(false, [1, 2], &[9; 1473]));
    assert_eq!(rewritten("", captured(&frame), 1500), Err(Reason::AboveMtu));
    assert_eq!(rewritten("", captured(&frame), 1501).unwrap().0, [frame]);
}

#[test]
fn a_tag_is_beside_the_mtu_and_labels_are_not() {
    let packet = udp(false, [1, 2], &[9; 1472]);
    let mut tagged = ethernet(&packet);
    tagged.splice(12..12, [0x81, 0, 0, 5]);
    assert!(rewritten("", captured(&tagged), 1500).is_ok());
    let mut labelled = ethernet(&packet);
    labelled.splice(12..14, [0x88, 0x47, 0, 0, 0x11, 64]);
    assert_eq!(rewritten("", captured(&labelled), 1500), Err(Reason::AboveMtu));
    assert_eq!(rewritten(SPLIT, captured(&labelled), 1500), Err(Reason::NotSplittable));
    assert!(rewritten("", captured(&labelled), 1504).is_ok());
}

#[test]
fn segments_are_those_of_an_interface() {
    let payload: Vec<u8> = (0..4000).map(|at| at as u8).collect();
    for v6 in [false, true] {
        let header = if v6 { 40 } else { 20 };
        // CWR, PSH and FIN, and a time stamp.
        let frame = ethernet(&tcp(v6, 0x99, &[1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 8], &payload));
        let (frames, found) = split(&frame, 1500);
        assert_eq!(notes(found), [Note::Segmented]);
        let piece = 1500 - header - 32;
        assert_eq!(frames.len(), 4000_usize.div_ceil(piece));
        let tcp_at = 14 + header;
        let flags: Vec<u8> = frames.iter().map(|frame| frame[tcp_at + 13]).collect();
        assert_eq!(flags, [0x90, 0x10, 0x19]);
        let carried: Vec<u8> =
            frames.iter().flat_map(|frame| frame[tcp_at + 32..].to_vec()).collect();
        assert_eq!(carried, payload);
        for (number, made) in frames.iter().enumerate() {
            let sequence = (1000 + number * piece) as u32;
            assert_eq!(made[tcp_at + 4..tcp_at + 8], sequence.to_be_bytes());
            assert_eq!(made[tcp_at + 20..tcp_at + 32], frame[tcp_at + 20..tcp_at + 32]);
            if !v6 {
                assert_eq!(made[18..20], (7 + number as u16).to_be_bytes());
            }
        }
    }
}

#[test]
fn segments_larger_than_any_length_field() {
    let mut packet = tcp(false, 0x18, &[], &[9; 60_000]);
    packet.extend([8; 60_000]);
    packet[2..4].fill(0);
    right_header(&mut packet);
    let (frames, _) = split(&ethernet(&packet), 9000);
    assert_eq!(frames.iter().map(|frame| frame.len() - 54).sum::<usize>(), 120_000);
}

#[test]
fn mapped_segments() {
    let frame = ethernet(&tcp(false, 0x18, &[], &[9; 4000]));
    let (frames, _) = split(&frame, 1500);
    let (mapped, found) =
        rewritten(&format!("{SPLIT}, {MAPPING}"), captured(&frame), 1500).unwrap();
    let expected: Vec<_> = frames.iter().map(|frame| one(MAPPING, frame).0).collect();
    assert_eq!(mapped, expected);
    assert!(found.has(Note::Mapped) && found.has(Note::Segmented));
}

#[test]
fn fragments_come_together_again() {
    for v6 in [false, true] {
        let header = if v6 { 40 } else { 20 };
        let payload: Vec<u8> = (0..4000).map(|at| at as u8).collect();
        let packets = [
            udp(v6, [1, 2], &payload),
            ip(v6, 132, &sctp(&[data(4000)])),
            icmp(v6, if v6 { 128 } else { 8 }, 0, [0; 4], &payload),
        ];
        for packet in packets {
            let (frames, found) = split(&ethernet(&packet), 1280);
            assert_eq!(together(&frames), packet[header..]);
            assert!(found.has(Note::Fragmented) && frames.len() == 4);
            assert_eq!(found.has(Note::DontFragmentCleared), !v6);
            // And fragments of fragments.
            let again: Vec<_> = frames.iter().flat_map(|frame| split(frame, 600).0).collect();
            assert_eq!(together(&again), packet[header..]);
        }
    }
}

#[test]
fn a_packet_without_identification_gets_one_of_its_own() {
    let mut packet = udp(false, [1, 2], &[9; 3000]);
    packet[4..6].fill(0);
    right_header(&mut packet);
    let frame = ethernet(&packet);
    let mut rewriter = rewriter(SPLIT);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let mut out = Frames::new();
        rewriter.rewrite(captured(&frame), Direction::ToServer, 1500, &mut out).unwrap();
        ids.extend(out.iter().map(|frame| frame[19]));
    }
    assert_eq!(ids, [2, 2, 2, 3, 3, 3]);
}

#[test]
fn options_that_only_a_first_fragment_has() {
    let mut packet = udp(false, [1, 2], &[9; 3000]);
    packet[0] = 0x48;
    // Record route is not copied; a security option is.
    packet.splice(20..20, [7, 7, 4, 0, 0, 0, 0, 130, 3, 9, 1, 0]);
    let total = u16::try_from(packet.len()).unwrap().to_be_bytes();
    packet[2..4].copy_from_slice(&total);
    let (frames, _) = split(&ethernet(&packet), 1500);
    assert_eq!(frames[0][34..46], packet[20..32]);
    assert_eq!(frames[1][34..46], [1, 1, 1, 1, 1, 1, 1, 130, 3, 9, 1, 0]);
    assert_eq!(together(&frames), packet[32..]);
}

#[test]
fn ipv6_puts_the_fragment_header_behind_what_every_node_reads() {
    let datagram = udp(true, [1, 2], &[9; 3000])[40..].to_vec();
    let payload = [&[60, 0, 0, 0, 0, 0, 0, 0][..], &[17, 0, 1, 4, 0, 0, 0, 0], &datagram].concat();
    let (frames, _) = split(&ethernet(&ip(true, 0, &payload)), 1500);
    assert_eq!((frames[0][54], frames[0][62]), (44, 60));
    assert_eq!(together(&frames), datagram);
}

#[test]
fn what_cannot_be_split() {
    // No room for eight bytes behind the headers.
    let frame = ethernet(&udp(false, [1, 2], &[9; 100]));
    assert_eq!(rewritten(SPLIT, captured(&frame), 27), Err(Reason::NotSplittable));
    assert_eq!(rewritten(SPLIT, captured(&frame), 0), Err(Reason::NotSplittable));
    // A jumbogram's option says how long it was.
    let payload =
        [&[17, 0, 0xc2, 4, 0, 1, 0, 0][..], &udp(true, [1, 2], &[9; 3000])[40..]].concat();
    let mut packet = ip(true, 0, &payload);
    packet[4..6].fill(0);
    let keep = Captured { link_type: 1, ..captured(&[]) };
    let frame = ethernet(&packet);
    let record = Captured { data: &frame, wire_length: frame.len() as u32, ..keep };
    assert_eq!(rewritten(SPLIT, record, 1500), Err(Reason::NotSplittable));
}

#[test]
fn a_segment_that_begins_or_breaks_a_connection_is_fragmented() {
    let frame = ethernet(&tcp(false, 0x02, &[], &[9; 3000]));
    let (frames, found) = split(&frame, 1500);
    assert!(found.has(Note::Fragmented) && frames.len() == 3);
}
