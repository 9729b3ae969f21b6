#![no_main]
//! A capture of a few associations and flows.

use libfuzzer_sys::fuzz_target;
use pathscope_wire_fuzz::tracker;

fuzz_target!(|bytes: &[u8]| tracker::check(bytes));
