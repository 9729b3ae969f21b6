#![no_main]
//! One record of any link type, made ready to be sent.

use libfuzzer_sys::fuzz_target;
use pathscope_wire_fuzz::rewrite;

fuzz_target!(|bytes: &[u8]| rewrite::check(bytes));
