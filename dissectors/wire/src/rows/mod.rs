//! The rows of the streamed tables: one module a table.

mod chunk;
mod datagram;
mod frame;
mod option;
mod segment;
mod sighting;

pub(crate) use self::chunk::chunk_row;
pub(crate) use self::datagram::datagram_row;
pub(crate) use self::frame::frame_row;
pub(crate) use self::segment::segment_row;
pub(crate) use self::sighting::{sighting_of_flow, sighting_of_sctp};

/// Words as one cell; nothing is null.
fn list(words: impl Iterator<Item = String>, separator: &str) -> Option<String> {
    let words: Vec<String> = words.collect();
    (!words.is_empty()).then(|| words.join(separator))
}
