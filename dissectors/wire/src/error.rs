//! The one error type of the crate: a capture that cannot be read at all, or
//! not to its end. What is wrong with a single packet is a [`crate::problem::Problem`].

use std::io;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{path}: {source}")]
    Io { path: String, source: io::Error },

    #[error("{path}: at byte {offset}: expected {expected}, found {found}")]
    NotACapture { path: String, offset: u64, expected: String, found: String },

    /// The file goes wrong in the middle: what was read before `offset` stands.
    #[error("{path}: at byte {offset}: expected {expected}, found {found}")]
    Damaged { path: String, offset: u64, expected: String, found: String },

    #[error("capture filter: {0}")]
    Filter(String),

    #[error("{0}")]
    Usage(String),
}

pub type Result<T> = std::result::Result<T, Error>;
