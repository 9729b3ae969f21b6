#![no_main]
//! Fragments in any order.

use libfuzzer_sys::fuzz_target;
use pathscope_wire_fuzz::fragments;

fuzz_target!(|bytes: &[u8]| fragments::check(bytes));
