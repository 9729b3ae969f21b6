//! Capture bytes to ledger, in one streaming pass.
//!
//! Floors, lowest first: [`container`] reads records out of files, [`packet`]
//! finds the transport packet in a record, [`sctp`] reads its chunks, [`tcp`],
//! [`udp`] and [`icmp`] their headers, [`track`] follows associations and flows,
//! [`ledger`] holds the tables a pass fills, [`pass`] drives them all; [`index`]
//! finds packets of a pass again without another one, and [`explain`] tells what
//! one frame holds. [`ns2`] stands where `packet` and `sctp` do for a simulator's traces.
#![forbid(unsafe_code)]

pub mod address;
pub mod checksum;
pub mod container;
mod digest;
pub mod error;
pub mod explain;
pub mod icmp;
pub mod index;
pub mod ledger;
pub mod ns2;
pub mod packet;
pub mod pass;
pub mod problem;
mod rows;
pub mod sctp;
pub mod tcp;
pub mod track;
pub mod udp;
