//! Captures back onto the wire.
//!
//! [`orders`] says what is wanted. [`source`] reads the trace and plans its frames: [`routes`]
//! finds the way of each, [`rewrite`] makes of it what is to be sent, [`pace`] says when it is
//! due, and [`batch`] holds what was planned. [`sender`] runs a thread that reads ahead beside one
//! that sends (`send`, over [`outlet`]s, by [`clock`]); [`log`] has a row for every frame, and
//! [`tally`] the counts. [`file`] takes what would be sent, instead of a network.
#![forbid(unsafe_code)]

pub mod batch;
pub mod clock;
pub mod error;
pub mod file;
pub mod fingerprint;
pub mod log;
pub mod orders;
pub mod outlet;
pub mod pace;
pub mod rewrite;
pub mod routes;
mod send;
pub mod sender;
pub mod source;
pub mod tally;

#[cfg(test)]
mod trace;
