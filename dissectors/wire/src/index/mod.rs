//! The offset index: which stretch of a capture holds which packets, and what the pass over the
//! whole capture made of each. With it the packets of a window of time, or of one association,
//! are read alone, and their rows are exactly those of the whole pass.
//!
//! A tracker that begins in the middle of a capture would number associations, paths and
//! transmissions anew. So the index keeps what only the whole pass knows (a few bits a packet),
//! and everything else is read from the capture again, by the code that the pass uses.

mod build;
mod read;

pub use build::{Indexer, Tables};
pub use read::{Read, read};

/// What stands for a fragment among the standings of packets.
const PIECE: &str = "piece";

#[cfg(test)]
mod tests;
