//! One interface to send on: a bound AF_PACKET socket, whose frames take the ordinary way through
//! the interface's queueing discipline.

use std::io::IoSlice;
use std::os::fd::RawFd;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, MultiHeaders, sendmmsg};

/// Frames handed over with one system call: after so many the call itself costs next to nothing.
pub const MOST_FRAMES: usize = 64;

/// What became of frames that were handed over together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handed {
    /// So many of the first were taken, at least one.
    Taken(usize),
    /// The queue of the interface or of the socket had no room for the first.
    Full,
    /// The first was refused; it is not known whether the others will be.
    Refused(Errno),
}

/// Sockets in the order of the outlets, of which several may share one.
pub struct Outlets {
    sockets: Vec<RawFd>,
    headers: MultiHeaders<()>,
}

impl Outlets {
    /// The sockets have to stay open as long as this is used.
    pub fn new(sockets: Vec<RawFd>) -> Self {
        Outlets { sockets, headers: MultiHeaders::preallocate(MOST_FRAMES, None) }
    }

    /// Whether frames of both can go out together.
    pub fn is_same(&self, one: u16, other: u16) -> bool {
        self.sockets.get(usize::from(one)) == self.sockets.get(usize::from(other))
    }

    /// Hands frames over, at most [`MOST_FRAMES`], without ever waiting for room.
    pub fn send(&mut self, route: u16, frames: &[[IoSlice<'_>; 1]]) -> Handed {
        let Some(&socket) = self.sockets.get(usize::from(route)) else {
            return Handed::Refused(Errno::EBADF);
        };
        let no_addresses = [const { None::<()> }; MOST_FRAMES];
        let sent = sendmmsg(
            socket,
            &mut self.headers,
            frames.iter(),
            no_addresses,
            [],
            MsgFlags::MSG_DONTWAIT,
        );
        match sent.map(Iterator::count) {
            Ok(0) => Handed::Full,
            Ok(taken) => Handed::Taken(taken),
            Err(Errno::ENOBUFS | Errno::EAGAIN) => Handed::Full,
            Err(Errno::EINTR) => Handed::Taken(0),
            Err(errno) => Handed::Refused(errno),
        }
    }
}
