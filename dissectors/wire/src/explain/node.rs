//! The tree that an explanation is.

use std::fmt::Write;

use crate::problem::Problem;

/// Bytes shown of a value that has no fields of its own.
const SHOWN_BYTES: usize = 32;

/// What a field holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    None,
    Number(i128),
    Text(String),
}

/// One layer, chunk, parameter or field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    pub name: String,
    pub value: Value,
    /// The value in words.
    pub meaning: Option<String>,
    /// Offset and length in bytes, where the thing is worth finding: in the captured record, or in
    /// the datagram that was put together last.
    pub extent: Option<(u32, u32)>,
    pub fields: Vec<Node>,
}

impl Node {
    fn new(name: impl Into<String>, value: Value) -> Node {
        Node { name: name.into(), value, meaning: None, extent: None, fields: Vec::new() }
    }

    /// Something that has fields.
    pub fn group(name: impl Into<String>) -> Node {
        Node::new(name, Value::None)
    }

    pub fn number(name: &str, value: impl Into<i128>) -> Node {
        Node::new(name, Value::Number(value.into()))
    }

    pub fn text(name: &str, value: impl ToString) -> Node {
        Node::new(name, Value::Text(value.to_string()))
    }

    /// Bytes in hexadecimal, the first of them.
    pub fn bytes(name: &str, value: &[u8]) -> Node {
        let shown = value.get(..SHOWN_BYTES).unwrap_or(value);
        let dots = if shown.len() < value.len() { "..." } else { "" };
        let node = Node::text(name, hex(shown) + dots);
        node.means(format!("{} bytes", value.len()))
    }

    /// What could not be read.
    pub fn problem(problem: &Problem) -> Node {
        Node::text("problem", problem)
    }

    pub fn means(self, meaning: impl Into<String>) -> Node {
        Node { meaning: Some(meaning.into()), ..self }
    }

    pub fn at(self, offset: u32, length: u32) -> Node {
        Node { extent: Some((offset, length)), ..self }
    }

    pub fn with(mut self, fields: impl IntoIterator<Item = Node>) -> Node {
        self.fields.extend(fields);
        self
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A hardware address.
pub fn mac(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// The names of the bits that are set, or "none".
pub fn flags(value: u8, names: &[(u8, &str)]) -> String {
    let set: Vec<_> =
        names.iter().filter(|(bit, _)| value & bit != 0).map(|(_, name)| *name).collect();
    if set.is_empty() { "none".to_string() } else { set.join(", ") }
}
