//! One record of any link type, made ready to be sent.
//!
//! Two bytes of link type, one of options, two of what the capture cut, two of MTU, then the record.

use pathscope_replay::rewrite::{
    AboveMtu, Captured, Direction, Frames, Note, Options, Rewriter, Truncated,
};
use pathscope_wire::packet::outermost;

const ETHERNET: u16 = 1;
/// Beside the IP packet in a frame that is sent: its header, and one tag.
const MOST_BESIDE_MTU: usize = 18;

/// Addresses and ports of the seeds, and of much else.
const MAPPING: &str = r#"{"addresses": [["10.0.0.0/8", "11.0.0.0/8"], ["2001:db8::/32", "fd00::/32"]],
    "ports": [[1000, 1001], [2000, 2002]], "macs": [["02:00:00:00:00:01", "02:00:00:00:00:09"]]}"#;

/// # Panics
/// Where what is made does not fit the MTU, is not found again, or would be changed once more.
pub fn check(bytes: &[u8]) {
    let Some((&[low, high, flags, cut_high, cut_low, mtu_high, mtu_low], data)) =
        bytes.split_first_chunk()
    else {
        return;
    };
    let has = |bit: u8| flags & bit != 0;
    let mapping = if has(1) { MAPPING } else { "{}" };
    let options = Options {
        mapping: serde_json::from_str(mapping).expect("the mapping above"),
        keep_bad_checksums: has(2),
        above_mtu: if has(4) { AboveMtu::Split } else { AboveMtu::Refuse },
        truncated: if has(8) { Truncated::Pad } else { Truncated::Refuse },
        ..Options::default()
    };
    let keep_bad_checksums = options.keep_bad_checksums;
    let mut rewriter = Rewriter::new(options).expect("the mapping above");
    let cut = u32::from(u16::from_be_bytes([cut_high, cut_low]));
    let wire_length = u32::try_from(data.len()).unwrap_or(u32::MAX).saturating_add(cut);
    let mtu = u32::from(u16::from_be_bytes([mtu_high, mtu_low]));
    let record = Captured { link_type: u16::from_le_bytes([low, high]), data, wire_length };
    let mut out = Frames::new();
    match rewriter.rewrite(record, Direction::ToServer, mtu, &mut out) {
        Err(reason) => assert!(!reason.name().is_empty() && out.is_empty()),
        Ok(done) => {
            assert_eq!(done.frames as usize, out.len());
            let options = Options { keep_bad_checksums, ..Options::default() };
            out.iter().for_each(|frame| sent(frame, mtu, options.clone()));
        }
    }
}

/// A frame that is ready fits, and stays as it is.
fn sent(frame: &[u8], mtu: u32, options: Options) {
    assert!(frame.len() <= mtu as usize + MOST_BESIDE_MTU);
    let found = outermost(ETHERNET, frame, 0).expect("an IP packet in Ethernet");
    assert!(found.end - found.offset <= mtu as usize);
    let wire_length = u32::try_from(frame.len()).expect("the length of a frame");
    let record = Captured { link_type: ETHERNET, data: frame, wire_length };
    let mut again = Frames::new();
    let mut rewriter = Rewriter::new(options).expect("no mapping");
    let done = rewriter
        .rewrite(record, Direction::ToServer, mtu, &mut again)
        .expect("what can be sent can be sent again");
    assert!(again.iter().eq([frame]));
    for note in [Note::Mapped, Note::ChecksumRepaired, Note::TrailerCut, Note::Padded] {
        assert!(!done.notes.has(note), "{}", note.name());
    }
}
