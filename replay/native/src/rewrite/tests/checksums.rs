//! Checksums that were wrong: repaired, or kept as wrong as they were.

use pathscope_wire::checksum::{fold, sum};

use super::super::build::right_header;
use super::*;

/// Where the checksum of each of [`every_kind`] stands in its IP packet, and of how many bytes.
fn fields(v6: bool) -> [(usize, usize); 5] {
    let header = if v6 { 40 } else { 20 };
    [(header + 16, 2), (header + 6, 2), (header + 16, 4), (header + 2, 2), (header + 8, 4)]
}

fn spoiled(v6: bool) -> Vec<(Vec<u8>, Vec<u8>)> {
    let kinds = every_kind(v6).into_iter().zip(fields(v6));
    kinds
        .map(|(packet, (at, size))| {
            let right = ethernet(&packet);
            let mut wrong = right.clone();
            wrong[14 + at..14 + at + size].fill(0x5a);
            (right, wrong)
        })
        .collect()
}

#[test]
fn repaired() {
    for v6 in [false, true] {
        for (right, spoiled) in spoiled(v6) {
            let (frame, found) = one("", &spoiled);
            assert_eq!((frame, notes(found)), (right.clone(), vec![Note::ChecksumRepaired]));
            let (frame, found) = one(MAPPING, &spoiled);
            assert_eq!(frame, one(MAPPING, &right).0);
            assert!(found.has(Note::ChecksumRepaired) && found.has(Note::Mapped));
        }
    }
}

#[test]
fn kept() {
    let keep = format!(r#""keep_bad_checksums": true, {MAPPING}"#);
    for v6 in [false, true] {
        for (_, spoiled) in spoiled(v6) {
            let kept = rewritten(r#""keep_bad_checksums": true"#, captured(&spoiled), 1500);
            assert_eq!(kept, Ok((vec![spoiled.clone()], Notes::default())));
            let (mapped, found) = rewritten(&keep, captured(&spoiled), 1500).unwrap();
            assert_eq!(notes(found), [Note::Mapped]);
            // Back again it is exactly what it was: the difference was kept.
            let back = format!(r#""keep_bad_checksums": true, {BACK}"#);
            assert_eq!(rewritten(&back, captured(&mapped[0]), 1500).unwrap().0, [spoiled]);
        }
    }
}

#[test]
fn what_is_wrong_about_a_crc_is_its_difference() {
    let keep = format!(r#""keep_bad_checksums": true, {MAPPING}"#);
    let right = ethernet(&ip(false, 132, &sctp(&[data(100)])));
    let mut spoiled = right.clone();
    spoiled[45] ^= 0x10;
    let (mapped, _) = rewritten(&keep, captured(&spoiled), 1500).unwrap();
    let mut expected = one(MAPPING, &right).0;
    expected[45] ^= 0x10;
    assert_eq!(mapped, [expected]);
}

#[test]
fn the_header_of_ipv4() {
    let right = ethernet(&udp(false, [5000, 6000], &[9; 9]));
    let mut spoiled = right.clone();
    spoiled[24..26].fill(0);
    let (frame, found) = one("", &spoiled);
    assert_eq!((frame, notes(found)), (right, vec![Note::ChecksumRepaired]));
    let keep = format!(r#""keep_bad_checksums": true, {MAPPING}"#);
    let (frames, _) = rewritten(&keep, captured(&spoiled), 1500).unwrap();
    assert_eq!(fold(sum(&frames[0][14..34])), fold(sum(&spoiled[14..34])));
}

#[test]
fn no_checksum_is_none_in_ipv4_only() {
    let mut none = ethernet(&udp(false, [5000, 6000], &[9; 9]));
    none[40..42].fill(0);
    let (frame, _) = one(MAPPING, &none);
    assert_eq!(frame[40..42], [0, 0]);
    let right = ethernet(&udp(true, [5000, 6000], &[9; 9]));
    let mut none = right.clone();
    none[60..62].fill(0);
    assert_eq!(one("", &none).0, right);
    let keep = r#""keep_bad_checksums": true"#;
    assert_eq!(rewritten(keep, captured(&none), 1500).unwrap().0, [none]);
}

#[test]
fn what_offload_left_is_filled_in() {
    let right = ethernet(&tcp(false, 0x18, &[], &[9; 99]));
    let mut offloaded = right.clone();
    offloaded[16..18].fill(0);
    right_header(&mut offloaded[14..]);
    // The sum of the pseudo-header alone, as the driver hands it over.
    let partial = fold(sum(&offloaded[26..34]) + 6 + 119) as u16;
    offloaded[50..52].copy_from_slice(&partial.to_be_bytes());
    let (frame, found) = one("", &offloaded);
    assert_eq!(frame, right);
    assert_eq!(notes(found), [Note::ChecksumRepaired, Note::LengthFilled]);
}

#[test]
fn a_fragment_carries_a_sum_over_others() {
    for v6 in [false, true] {
        let whole = udp(v6, [5000, 6000], &[9; 2000]);
        let (mapped, _) = rewritten(MAPPING, captured(&ethernet(&whole)), 4000).unwrap();
        let options = r#""above_mtu": "split""#;
        let (pieces, _) = rewritten(options, captured(&ethernet(&whole)), 1500).unwrap();
        let (after, _) =
            rewritten(&format!("{options}, {MAPPING}"), captured(&ethernet(&whole)), 1500).unwrap();
        let mapped_pieces: Vec<_> = pieces.iter().map(|piece| one(MAPPING, piece)).collect();
        assert!(mapped_pieces[0].1.has(Note::ChecksumNotVerified));
        assert_eq!(mapped_pieces.into_iter().map(|(frame, _)| frame).collect::<Vec<_>>(), after);
        assert_eq!(wrong(&mapped[0], &[]), None);
    }
}

#[test]
fn sctp_in_fragments_is_mapped_outside_or_not_at_all() {
    let whole = ethernet(&ip(false, 132, &sctp(&[data(2000)])));
    let (pieces, _) = rewritten(r#""above_mtu": "split""#, captured(&whole), 1500).unwrap();
    assert_eq!(rewritten(MAPPING, captured(&pieces[0]), 1500), Err(Reason::SctpFragment));
    let addresses = r#""mapping": {"addresses": [["10.0.1.1", "10.0.7.1"]]}"#;
    for piece in pieces {
        let (frame, _) = one(addresses, &piece);
        assert_eq!((&frame[26..30], &frame[30..]), (&[10, 0, 7, 1][..], &piece[30..]));
    }
}
