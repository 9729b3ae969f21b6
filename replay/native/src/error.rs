//! Why a replay cannot be made, or not to its end.

use crate::rewrite;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The trace, or the filter.
    #[error(transparent)]
    Trace(#[from] pathscope_wire::error::Error),

    #[error("orders: {0}")]
    Orders(#[from] serde_json::Error),

    #[error(transparent)]
    Rewrite(#[from] rewrite::Error),

    #[error("{0}")]
    Usage(String),
}

impl Error {
    pub(crate) fn usage(what: impl Into<String>) -> Error {
        Error::Usage(what.into())
    }
}

pub type Result<T> = std::result::Result<T, Error>;
