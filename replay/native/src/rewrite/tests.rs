//! Whole frames through a rewriter; a file for each thing that may be asked of it.

use pathscope_wire::packet::Skip;

use super::build::{data, ethernet, icmp, ip, sctp, tcp, udp, wrong};
use super::*;

mod above_mtu;
mod addresses;
mod checksums;
mod hostile;

/// 10.0.1.0/24 and fd00:1::/32 elsewhere, and ports 5000 and 6000 elsewhere.
const MAPPING: &str = r#""mapping": {
    "addresses": [["10.0.1.0/24", "10.9.1.0/24"], ["fd00:1::/32", "fd00:9::/32"]],
    "ports": [[5000, 5001], [6000, 6001]]}"#;
const BACK: &str = r#""mapping": {
    "addresses": [["10.9.1.0/24", "10.0.1.0/24"], ["fd00:9::/32", "fd00:1::/32"]],
    "ports": [[5001, 5000], [6001, 6000]]}"#;

fn rewriter(options: &str) -> Rewriter {
    Rewriter::new(serde_json::from_str(&format!("{{{options}}}")).unwrap()).unwrap()
}

/// The frames made of one, and what was noted.
fn rewritten(
    options: &str,
    record: Captured<'_>,
    mtu: u32,
) -> Result<(Vec<Vec<u8>>, Notes), Reason> {
    let mut out = Frames::new();
    let done = rewriter(options).rewrite(record, Direction::ToServer, mtu, &mut out)?;
    assert_eq!(done.frames as usize, out.len());
    Ok((out.iter().map(<[u8]>::to_vec).collect(), done.notes))
}

fn captured(data: &[u8]) -> Captured<'_> {
    Captured { link_type: 1, data, wire_length: u32::try_from(data.len()).unwrap() }
}

/// The one frame made of an Ethernet frame, with all its checksums right.
fn one(options: &str, frame: &[u8]) -> (Vec<u8>, Notes) {
    let (mut frames, notes) = rewritten(options, captured(frame), 1500).unwrap();
    assert_eq!(frames.len(), 1);
    let frame = frames.remove(0);
    assert_eq!(wrong(&frame, &[9899]), None);
    (frame, notes)
}

fn notes(notes: Notes) -> Vec<Note> {
    notes.iter().collect()
}

fn every_kind(v6: bool) -> Vec<Vec<u8>> {
    let packet = sctp(&[data(100)]);
    vec![
        tcp(v6, 0x18, &[2, 4, 5, 180], &[9; 99]),
        udp(v6, [5000, 6000], &[9; 99]),
        udp(v6, [9899, 9899], &packet),
        icmp(v6, 8, 0, [0, 1, 0, 2], &[9; 56]),
        ip(v6, 132, &packet),
        ip(v6, 4, &tcp(false, 0x10, &[], &[9; 9])),
    ]
}

#[test]
fn what_is_right_goes_out_as_it_is() {
    for v6 in [false, true] {
        for packet in every_kind(v6) {
            let frame = ethernet(&packet);
            assert_eq!(one("", &frame), (frame, Notes::default()));
        }
    }
}

#[test]
fn every_frame_has_ethernet_in_front() {
    let packet = udp(true, [5000, 6000], &[9; 9]);
    let cooked = [&[0, 4, 0, 1, 0, 6, 0, 0, 0, 0, 0, 1, 0, 0, 0x86, 0xdd][..], &packet].concat();
    let null = [&[30, 0, 0, 0][..], &packet].concat();
    for (link_type, data) in [(113, cooked), (0, null), (101, packet.clone())] {
        // What fills the record is no part of the packet.
        let data = [&data[..], &[0; 6]].concat();
        let record = Captured { link_type, data: &data, wire_length: data.len() as u32 };
        let (frames, found) = rewritten("", record, 1500).unwrap();
        assert_eq!(
            frames,
            [[&link::made(&Rules::default(), Direction::ToServer, true)[..], &packet].concat()]
        );
        assert_eq!(notes(found), [Note::LinkHeaderMade]);
    }
}

#[test]
fn ethernets_own_header_stays_but_for_its_macs() {
    let packet = udp(false, [5000, 6000], &[9; 9]);
    let tagged = [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x81, 0, 0, 5, 8, 0][..], &packet].concat();
    let padded = [&tagged[..], &[0; 10]].concat();
    let macs = r#""mapping": {"macs": [["02:00:00:00:00:02", "02:00:00:00:00:22"]]}"#;
    let (frame, found) = one(macs, &padded);
    assert_eq!((frame[5], &frame[6..]), (0x22, &padded[6..]));
    assert_eq!(notes(found), [Note::Mapped]);
}

#[test]
fn a_trailer_that_does_not_fit_is_cut() {
    let frame = ethernet(&udp(false, [5000, 6000], &[9; 1472]));
    let with_fcs = [&frame[..], &[1, 2, 3, 4]].concat();
    let (cut, found) = one("", &with_fcs);
    assert_eq!((cut, notes(found)), (frame, vec![Note::TrailerCut]));
}

#[test]
fn what_the_capture_cut_is_refused_or_padded() {
    for v6 in [false, true] {
        for packet in every_kind(v6) {
            let frame = ethernet(&packet);
            let cut = &frame[..frame.len() - 5];
            let record = Captured { wire_length: frame.len() as u32, ..captured(cut) };
            assert_eq!(rewritten("", record, 1500).unwrap_err(), Reason::Truncated);
            let (frames, found) = rewritten(r#""truncated": "pad""#, record, 1500).unwrap();
            assert_eq!(
                (frames[0].len(), &frames[0][frame.len() - 5..]),
                (frame.len(), &[0; 5][..])
            );
            assert!(found.has(Note::Padded) && wrong(&frames[0], &[9899]).is_none());
            // It is not known what its checksum would have been.
            let keep = r#""truncated": "pad", "keep_bad_checksums": true"#;
            assert_eq!(rewritten(keep, record, 1500).unwrap().0, frames);
        }
    }
}

#[test]
fn reasons_not_to_send() {
    let reason = |data: &[u8], wire_length, options| {
        let record = Captured { link_type: 1, data, wire_length };
        rewritten(options, record, 1500).unwrap_err()
    };
    let pad = r#""truncated": "pad""#;
    let frame = ethernet(&udp(false, [1, 2], &[9; 100]));
    assert_eq!(reason(&frame[..30], 142, pad), Reason::HeadersTruncated);
    assert_eq!(reason(&frame[..60], 60, pad), Reason::Malformed);
    assert_eq!(reason(&[0; 60], 60, pad), Reason::Link(Skip::NotIp));
    let mut offloaded = frame.clone();
    offloaded[16..18].fill(0);
    assert_eq!(reason(&offloaded, u32::MAX, pad), Reason::TooLong);
    let unknown = Captured { link_type: 147, data: &frame, wire_length: 142 };
    assert_eq!(rewritten(pad, unknown, 1500).unwrap_err(), Reason::Link(Skip::UnknownLinkType));
}

#[test]
fn addresses_are_those_of_the_outermost_packet_as_captured() {
    let frame = ethernet(&ip(false, 41, &udp(true, [1, 2], &[])));
    let [a, b] = ["10.0.1.1", "10.0.1.2"].map(|text| text.parse::<IpAddr>().unwrap());
    assert_eq!(Rewriter::addresses(1, &frame), Some((a, b)));
    // However little of the packet was captured.
    assert_eq!(Rewriter::addresses(1, &frame[..34]), Some((a, b)));
    assert_eq!(Rewriter::addresses(1, &frame[..33]), None);
}

#[test]
fn what_was_there_before_stays() {
    let frame = ethernet(&udp(false, [1, 2], &[9; 100]));
    let mut out = Frames::new();
    let mut rewriter = rewriter("");
    for _ in 0..2 {
        rewriter.rewrite(captured(&frame), Direction::ToServer, 1500, &mut out).unwrap();
        rewriter.rewrite(captured(&frame), Direction::ToServer, 100, &mut out).unwrap_err();
    }
    assert_eq!(out.iter().collect::<Vec<_>>(), [&frame[..], &frame]);
}
