//! Captures back onto the wire: [`rewrite`] makes of a captured frame what is to be sent.
#![forbid(unsafe_code)]

pub mod rewrite;
