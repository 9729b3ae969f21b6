//! What flows are told apart by.

use crate::address::Address;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Protocol {
    Tcp,
    Udp,
}

impl Protocol {
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        }
    }
}

/// One address and its port.
pub(super) type Socket = (Address, u16);

/// The same for both directions.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub protocol: Protocol,
    pub low: Socket,
    pub high: Socket,
}

impl Key {
    pub fn new(protocol: Protocol, one: Socket, other: Socket) -> Self {
        Key { protocol, low: one.min(other), high: one.max(other) }
    }
}
