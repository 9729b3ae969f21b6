#![no_main]
//! Files compressed with gzip, Zstandard, xz or LZ4. How much they hold is bounded by the
//! number of records that are looked at.

use libfuzzer_sys::{Corpus, fuzz_target};
use pathscope_wire_fuzz::records;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    let is_compressed = matches!(
        bytes,
        [0x1f, 0x8b, ..]
            | [0x28, 0xb5, 0x2f, 0xfd, ..]
            | [0x50..=0x5f, 0x2a, 0x4d, 0x18, ..]
            | [0xfd, b'7', b'z', b'X', b'Z', 0, ..]
            | [0x04, 0x22, 0x4d, 0x18, ..]
    );
    if !is_compressed {
        return Corpus::Reject;
    }
    records::check_compressed(bytes);
    Corpus::Keep
});
