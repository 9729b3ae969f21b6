#![no_main]
//! pcap files, in all variants and both byte orders.

use libfuzzer_sys::{Corpus, fuzz_target};
use pathscope_wire_fuzz::records;

const MAGICS: [u32; 5] = [0xa1b2_c3d4, 0xa1b2_3c4d, 0xa1b2_cd34, 0x1c00_01ac, 0x1c00_01ab];

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let Some(magic) = bytes.first_chunk() else { return Corpus::Reject };
    let both = [u32::from_be_bytes(*magic), u32::from_le_bytes(*magic)];
    if !both.iter().any(|magic| MAGICS.contains(magic)) {
        return Corpus::Reject;
    }
    records::check(bytes);
    Corpus::Keep
});
