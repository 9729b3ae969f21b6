#![no_main]
//! snoop files.

use libfuzzer_sys::{Corpus, fuzz_target};
use pathscope_wire_fuzz::records;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !bytes.starts_with(b"snoop\0\0\0") {
        return Corpus::Reject;
    }
    records::check(bytes);
    Corpus::Keep
});
