#![no_main]
//! pcapng files.

use libfuzzer_sys::{Corpus, fuzz_target};
use pathscope_wire_fuzz::records;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !bytes.starts_with(b"\x0a\x0d\x0d\x0a") {
        return Corpus::Reject;
    }
    records::check(bytes);
    Corpus::Keep
});
