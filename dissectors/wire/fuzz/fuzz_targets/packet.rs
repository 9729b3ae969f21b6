#![no_main]
//! One record of any link type.

use libfuzzer_sys::fuzz_target;
use pathscope_wire_fuzz::packet;

fuzz_target!(|bytes: &[u8]| packet::check(bytes));
