#![no_main]
//! Traces of ns-2.

use libfuzzer_sys::{Corpus, fuzz_target};
use pathscope_wire_fuzz::trace;

fuzz_target!(|bytes: &[u8]| -> Corpus {
    if !trace::begins_one(bytes) {
        return Corpus::Reject;
    }
    trace::check(bytes);
    Corpus::Keep
});
