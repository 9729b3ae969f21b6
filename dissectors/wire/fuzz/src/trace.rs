//! A simulator's trace: the same however the file is cut into blocks, every line accounted for.

use pathscope_wire::container::CaptureSet;
use pathscope_wire::pass::{Options, Pass, Summary};

use crate::{ledger, records};

/// So small that nearly every line spans some blocks.
const SMALL_BLOCK: usize = 29;
const LARGE_BLOCK: usize = 64 << 10;

/// Whether bytes can begin such a file at all.
pub fn begins_one(bytes: &[u8]) -> bool {
    matches!(bytes, [b'+' | b'-' | b'r' | b'd' | b'h' | b's' | b'f', b' ', ..])
}

/// Reads a trace twice.
///
/// # Panics
/// Where the two differ, or something is counted wrongly.
pub fn check(bytes: &[u8]) {
    let (Some((_, small)), Some((capture, mut large))) =
        (read(bytes, SMALL_BLOCK), read(bytes, LARGE_BLOCK))
    else {
        return;
    };
    assert_eq!(small.frames, large.frames);
    assert_eq!(small.damage.len(), large.damage.len());
    assert_eq!(small.ledger.simulation, large.ledger.simulation);
    let counted: u64 = large.frames.skipped.values().sum();
    let frames = &large.frames;
    assert_eq!(frames.read, frames.dissected + frames.partial + counted);
    let newlines = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
    if large.damage.is_empty() {
        assert_eq!(frames.read, newlines);
    }
    ledger::check(&capture, &mut large, None);
}

fn read(bytes: &[u8], block_size: usize) -> Option<(CaptureSet, Summary)> {
    let capture = records::open(bytes, block_size, None).ok()?;
    if !capture.is_trace() {
        return None;
    }
    let mut pass = Pass::over(capture, Options { flows: true, ..Options::default() });
    while pass.step(64).expect("a trace in memory can be read") {}
    Some(pass.finish())
}

#[test]
fn a_small_trace() {
    let line = "+ 0.1 1 2 sctp 56 -------I 0 1.0 2.0 1 -1 1 0 0\n";
    check((line.repeat(9) + "r 0.1").as_bytes());
    assert!(begins_one(line.as_bytes()) && !begins_one(b"+x"));
}
