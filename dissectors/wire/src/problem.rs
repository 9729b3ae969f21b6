//! What could not be read, and why: one vocabulary for every layer.

use std::fmt;

/// Three different things, never mixed up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A value this version does not know (a link type, a chunk type, ...). The bytes may be fine.
    Unknown,
    /// The bytes contradict themselves or the standard (a length of 0, beyond its container, ...).
    Malformed,
    /// The bytes end because the capture kept fewer than were on the wire.
    Truncated,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::Unknown => "unknown",
            Kind::Malformed => "malformed",
            Kind::Truncated => "truncated",
        }
    }
}

/// The layer whose field is at fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Layer {
    File,
    Record,
    Link,
    Ip,
    Udp,
    Tcp,
    /// A TCP option.
    Option,
    Icmp,
    /// What stands between an outer IP or UDP header and an inner packet.
    Tunnel,
    Sctp,
    Chunk,
    Parameter,
    Association,
}

impl Layer {
    pub fn name(self) -> &'static str {
        match self {
            Layer::File => "file",
            Layer::Record => "record",
            Layer::Link => "link",
            Layer::Ip => "ip",
            Layer::Udp => "udp",
            Layer::Tcp => "tcp",
            Layer::Option => "option",
            Layer::Icmp => "icmp",
            Layer::Tunnel => "tunnel",
            Layer::Sctp => "sctp",
            Layer::Chunk => "chunk",
            Layer::Parameter => "parameter",
            Layer::Association => "association",
        }
    }
}

/// One thing that could not be read. `offset` counts from the start of the
/// captured packet (0 where a layer has no better place to name); `needed` and
/// `available` are bytes, counted from `offset`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub kind: Kind,
    pub layer: Layer,
    pub offset: u32,
    pub needed: u32,
    pub available: u32,
    /// A constant sentence fragment: what was expected or found.
    pub what: &'static str,
}

impl Problem {
    pub fn at(mut self, base: usize) -> Self {
        self.offset = self.offset.saturating_add(u32::try_from(base).unwrap_or(u32::MAX));
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} {} at byte {}: {} (needed {} bytes, {} available)",
            self.kind.name(),
            self.layer.name(),
            self.offset,
            self.what,
            self.needed,
            self.available
        )
    }
}
