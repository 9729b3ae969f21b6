"""The kernel's SCTP sockets (RFC 6458) as far as the standard library leaves them out.

Only numbers and layouts of Linux' `linux/sctp.h`; every call is `setsockopt`, so that no library is
needed.
"""

from __future__ import annotations

import socket
import struct
from ipaddress import ip_address

SOL_SCTP = 132
INITMSG = 2
NODELAY = 3
SET_PEER_PRIMARY = 5
PRIMARY = 6
PEER_ADDR_PARAMS = 9
STATUS = 14
FRAGMENT_INTERLEAVE = 18
BINDX_ADD = 100
BINDX_REMOVE = 101
INTERLEAVING_SUPPORTED = 125
SNDINFO = 2
UNORDERED = 1
HEARTBEAT_DEMAND = 4

_STORAGE = 128
_STATUS_BYTES = 256
"""Room for `struct sctp_status`, which has 176 at least."""


def open_socket(version: int) -> socket.socket:
    """Return a one-to-one socket for addresses of IP version 4 or 6."""
    family = socket.AF_INET6 if version == 6 else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM, SOL_SCTP)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return made


def packed(address: str, port: int) -> bytes:
    """Return a `sockaddr_in` or `sockaddr_in6`."""
    parsed = ip_address(address)
    if parsed.version == 4:
        return (
            struct.pack("=H", socket.AF_INET) + struct.pack(">H", port) + parsed.packed + bytes(8)
        )
    head = struct.pack("=H", socket.AF_INET6) + struct.pack(">HI", port, 0)
    return head + parsed.packed + bytes(4)


def add_addresses(sock: socket.socket, addresses: list[str], port: int) -> None:
    """Bind further addresses; of a live association this sends ASCONF with Add IP Address."""
    sock.setsockopt(SOL_SCTP, BINDX_ADD, b"".join(packed(address, port) for address in addresses))


def remove_address(sock: socket.socket, address: str, port: int) -> None:
    """Unbind an address; of a live association this sends ASCONF with Delete IP Address."""
    sock.setsockopt(SOL_SCTP, BINDX_REMOVE, packed(address, port))


def set_primary(sock: socket.socket, peer_address: str, port: int) -> None:
    """Make the path to an address of the peer the primary one of this end."""
    sock.setsockopt(SOL_SCTP, PRIMARY, _primary(peer_address, port))


def send_heartbeat(sock: socket.socket, peer_address: str, port: int) -> None:
    """Send a HEARTBEAT to an address of the peer at once, as SPP_HB_DEMAND asks."""
    head = struct.pack("=i", 0) + packed(peer_address, port).ljust(_STORAGE, b"\0")
    # Interval, retransmissions, MTU, SACK delay: 0 leaves them. Flow label and DSCP have no flag.
    rest = struct.pack("=IHIIIIBx", 0, 0, 0, 0, HEARTBEAT_DEMAND, 0, 0)
    sock.setsockopt(SOL_SCTP, PEER_ADDR_PARAMS, head + rest)


def ask_peer_primary(sock: socket.socket, own_address: str, port: int) -> None:
    """Ask the peer, by ASCONF Set Primary Address, to send to this address of ours."""
    sock.setsockopt(SOL_SCTP, SET_PEER_PRIMARY, _primary(own_address, port))


def _primary(address: str, port: int) -> bytes:
    return struct.pack("=i", 0) + packed(address, port).ljust(_STORAGE, b"\0")


def is_up(sock: socket.socket) -> bool:
    """Whether there still is an association; a peer that answered SHUTDOWN gives no end of file."""
    try:
        sock.getsockopt(SOL_SCTP, STATUS, _STATUS_BYTES)
    except OSError:
        return False
    return True


def set_streams(sock: socket.socket, streams: int) -> None:
    """Ask for that many streams, and allow as many."""
    sock.setsockopt(SOL_SCTP, INITMSG, struct.pack("=HHHH", streams, streams, 0, 0))


def offer_interleaving(sock: socket.socket) -> None:
    """Offer I-DATA (RFC 8260); the kernel's `intl_enable` must be set."""
    sock.setsockopt(SOL_SCTP, FRAGMENT_INTERLEAVE, 1)
    sock.setsockopt(SOL_SCTP, INTERLEAVING_SUPPORTED, struct.pack("=iI", 0, 1))


def send(
    sock: socket.socket, message: bytes, *, stream: int, ordered: bool, ppid: int, flags: int = 0
) -> None:
    """Send one message on a stream; `flags` are those of sendmsg(2)."""
    order = 0 if ordered else UNORDERED
    # The kernel hands the PPID on as it is: the wire's order is the sender's business.
    info = struct.pack("=HH", stream, order) + struct.pack(">I", ppid) + struct.pack("=Ii", 0, 0)
    sock.sendmsg([message], [(SOL_SCTP, SNDINFO, info)], flags)
