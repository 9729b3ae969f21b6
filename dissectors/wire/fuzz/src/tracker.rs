//! Packets of a few associations and flows through the whole pass: the ledger must not
//! contradict itself.

use arbitrary::Unstructured;
use pathscope_wire::container::CaptureSet;
use pathscope_wire::ledger::Streamed;
use pathscope_wire::pass::Options;

use crate::{records, script};

/// The first byte says how the capture is read, the others are its script.
///
/// # Panics
/// Where the ledger contradicts itself or the pass.
pub fn check(bytes: &[u8]) {
    let Some((&how, rest)) = bytes.split_first() else { return };
    let file = script::capture(&mut Unstructured::new(rest));
    let window_ns = if how & 1 == 0 { Some(0) } else { None };
    let block_size = file.len() + 1;
    let Ok(capture) = records::open(&file, block_size, window_ns) else {
        panic!("the script writes whole files")
    };
    let options = Options {
        flows: how & 2 == 0,
        // So few that some are forgotten.
        flow_capacity: 1 + usize::from(how >> 2 & 7),
        stream: Streamed::all().into_iter().nth(usize::from(how >> 5)),
        ..Options::default()
    };
    records::run(CaptureSet::from(capture), options);
}
