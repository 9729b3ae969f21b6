//! One line of an ns-2 trace, in the two formats that are read.
//!
//! Wired, twelve columns: event, time, from and to (nodes of the link), packet type, bytes, flags,
//! flow, source and destination (node.port), sequence number, packet number. SCTP with its headers
//! (`show_sctphdr_`) has fifteen, a line a chunk: the flags end in the chunk's kind, and behind the
//! addresses stand the packet's number of chunks, TSN, packet number, stream and stream sequence
//! number. TCP with its headers (`show_tcphdr_`) has four more: acknowledgement number, flags,
//! header length and length of the source's address. Wireless, the new format: `-t` time and so on.

use super::tagged;
use crate::problem::{Kind, Layer, Problem};

/// What happened to the packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// `+`: put into the queue of a link; `s`: sent by a layer of a wireless node.
    Enqueued,
    /// `-`: taken out of the queue; from here on the link carries it.
    Dequeued,
    /// `r`: received at the link's end, or by a layer of a wireless node.
    Received,
    /// `d`: dropped.
    Dropped,
    /// `h`, `f`: on its way.
    Passed,
}

/// A node and a port there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Socket {
    pub node: u32,
    pub port: u16,
}

/// Which protocol a packet type stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    Sctp,
    Tcp,
    Udp,
}

/// What a trace says of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChunkFields {
    /// The last of the flags: I, D, S, H, B, ...
    pub letter: u8,
    /// Chunks of the packet, one a line.
    pub of: u32,
    /// Of SACK: the cumulative TSN.
    pub tsn: Option<u32>,
    pub stream: u16,
    pub sequence: u16,
}

/// What a trace says of a TCP header beside the sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpFields {
    pub acknowledgement: i64,
    pub flags: u8,
    pub header_bytes: u32,
}

/// A line that tells of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    pub event: Event,
    pub time_ns: i64,
    /// The link, by its nodes; of a wireless event both are the node.
    pub from: u32,
    pub to: u32,
    /// Where a wireless node told of it: AGT, RTR, MAC, IFQ, ...
    pub layer: Option<&'a [u8]>,
    pub name: &'a [u8],
    pub bytes: u32,
    pub flow: i64,
    pub source: Socket,
    pub destination: Socket,
    pub number: i64,
    pub packet: u64,
    pub chunk: Option<ChunkFields>,
    pub tcp: Option<TcpFields>,
}

/// What a line is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read<'a> {
    Packet(Line<'a>),
    /// Something else that traces hold, and what.
    Other(&'static str),
}

/// IP and TCP header, as ns-2 counts them in a packet's size.
pub const TCP_HEADERS: u32 = 40;

impl Line<'_> {
    /// Whether the packet carries user data; of several chunks' lines, that of a DATA chunk says so.
    pub fn has_data(&self) -> bool {
        match self.protocol() {
            Some(Protocol::Sctp) => self.chunk.is_some_and(|chunk| chunk.letter == b'D'),
            Some(Protocol::Tcp) => {
                let headers = self.tcp.filter(|tcp| tcp.flags != 0).map(|tcp| tcp.header_bytes);
                self.bytes > headers.unwrap_or(TCP_HEADERS)
            }
            Some(Protocol::Udp) => true,
            None => false,
        }
    }

    /// The protocol of the packet, if it is one that is followed.
    pub fn protocol(&self) -> Option<Protocol> {
        match self.name {
            b"sctp" => Some(Protocol::Sctp),
            b"tcp" | b"ack" => Some(Protocol::Tcp),
            b"udp" | b"cbr" | b"exp" | b"pareto" | b"rtp" | b"audio" | b"video" => {
                Some(Protocol::Udp)
            }
            _ => None,
        }
    }
}

/// Columns of a line, each by its number.
pub(super) struct Columns<'a> {
    line: &'a [u8],
    next: usize,
    /// Where the column given last begins.
    pub at: usize,
}

impl<'a> Columns<'a> {
    pub fn new(line: &'a [u8]) -> Self {
        Columns { line, next: 0, at: 0 }
    }

    /// The next column: what stands before the next spaces.
    #[inline]
    pub fn next(&mut self) -> Option<&'a [u8]> {
        let rest = self.line.get(self.next..)?;
        let skipped = rest.iter().position(|byte| *byte != b' ')?;
        let rest = rest.get(skipped..)?;
        let length = rest.iter().position(|byte| *byte == b' ').unwrap_or(rest.len());
        self.at = self.next + skipped;
        self.next = self.at + length;
        rest.get(..length)
    }

    /// Where the line ends.
    pub fn end(&self) -> usize {
        self.line.len()
    }

    /// The next column as `read` takes it.
    #[inline]
    pub fn read<T>(
        &mut self,
        read: impl Fn(&[u8]) -> Option<T>,
        what: &'static str,
    ) -> Result<T, Problem> {
        let column = self.next();
        column.and_then(read).ok_or_else(|| self.problem(column.is_some(), what))
    }

    #[cold]
    fn problem(&self, is_there: bool, what: &'static str) -> Problem {
        let at = if is_there { self.at } else { self.line.len() };
        malformed(at, what)
    }
}

#[cold]
pub(super) fn malformed(at: usize, what: &'static str) -> Problem {
    Problem {
        kind: Kind::Malformed,
        layer: Layer::Record,
        offset: u32::try_from(at).unwrap_or(u32::MAX),
        needed: 0,
        available: 0,
        what,
    }
}

/// Reads a line, without its newline.
///
/// # Errors
/// What was expected, at which byte of the line.
pub fn read(line: &[u8]) -> Result<Read<'_>, Problem> {
    let mut columns = Columns::new(line);
    let event = match columns.next() {
        Some(b"+") => Event::Enqueued,
        Some(b"-") => Event::Dequeued,
        Some(b"r") => Event::Received,
        Some(b"d") => Event::Dropped,
        Some(b"h" | b"f") => Event::Passed,
        Some(b"s") => Event::Enqueued,
        Some(other) => return not_of_a_packet(other).map(Read::Other),
        None => return Ok(Read::Other("an empty line")),
    };
    let first = columns.next();
    if first == Some(b"-t") {
        return tagged::read(event, columns);
    }
    let time_ns = first.and_then(nanoseconds);
    let time_ns = time_ns.ok_or_else(|| malformed(columns.at, "expected a time in seconds"))?;
    let from = columns.read(whole, "expected the number of a node")?;
    let to = columns.read(whole, "expected the number of a node")?;
    let name = columns.next().ok_or_else(|| malformed(line.len(), "expected a packet type"))?;
    let bytes = columns.read(whole, "expected a number of bytes")?;
    let flags = columns.next().unwrap_or_default();
    let flow = columns.read(signed, "expected a flow's number")?;
    let source = columns.read(socket, "expected node.port")?;
    let destination = columns.read(socket, "expected node.port")?;
    let (Some(source), Some(destination)) = (source, destination) else {
        return Ok(Read::Other("a broadcast"));
    };
    let mut line = Line {
        event,
        time_ns,
        from,
        to,
        layer: None,
        name,
        bytes,
        flow,
        source,
        destination,
        number: 0,
        packet: 0,
        chunk: None,
        tcp: None,
    };
    let number = columns.read(signed, "expected a sequence number")?;
    let second = columns.read(signed, "expected a packet's number")?;
    let Some(third) = columns.next() else {
        line.number = number;
        line.packet = packet(second, columns.at)?;
        return Ok(Read::Packet(line));
    };
    let third = signed(third).ok_or_else(|| malformed(columns.at, "expected a number"))?;
    if name == b"sctp" {
        line.chunk = Some(ChunkFields {
            letter: flags.last().copied().unwrap_or(b'-'),
            of: u32::try_from(number).unwrap_or(1),
            tsn: u32::try_from(second).ok(),
            stream: columns.read(whole, "expected a stream's number")?,
            sequence: columns.read(whole, "expected a stream sequence number")?,
        });
        line.packet = packet(third, columns.at)?;
    } else {
        line.number = number;
        line.packet = packet(second, columns.at)?;
        line.tcp = Some(TcpFields {
            acknowledgement: third,
            flags: columns.read(hexadecimal, "expected TCP flags")?,
            header_bytes: columns.read(whole, "expected the length of a TCP header")?,
        });
    }
    Ok(Read::Packet(line))
}

fn packet(number: i64, at: usize) -> Result<u64, Problem> {
    u64::try_from(number).map_err(|_| malformed(at, "expected a packet's number"))
}

/// Lines that traces hold beside those of packets, by their first column.
fn not_of_a_packet(first: &[u8]) -> Result<&'static str, Problem> {
    match first {
        b"v" => Ok("a variable"),
        b"M" => Ok("a movement"),
        b"N" => Ok("a node's energy"),
        b"c" | b"E" | b"D" | b"x" => Ok("a collision"),
        _ if first.first().is_some_and(u8::is_ascii_digit) => Ok("a variable"),
        _ => Err(malformed(0, "expected an event of a packet: one of + - r d h s f")),
    }
}

/// `12.3`, or the broadcast address, whose node is negative (`None` inside).
pub(super) fn socket(column: &[u8]) -> Option<Option<Socket>> {
    let dot = column.iter().position(|byte| *byte == b'.')?;
    let (node, port) = (column.get(..dot)?, column.get(dot + 1..)?);
    if node.first() == Some(&b'-') {
        return signed(node).map(|_| None);
    }
    Some(Some(Socket { node: whole(node)?, port: whole(port)? }))
}

/// Decimal digits only, of a number that fits.
#[inline]
pub(super) fn whole<T: TryFrom<u64>>(digits: &[u8]) -> Option<T> {
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut value = 0_u64;
    for digit in digits {
        let digit = digit.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value = value * 10 + u64::from(digit);
    }
    T::try_from(value).ok()
}

#[inline]
pub(super) fn signed(column: &[u8]) -> Option<i64> {
    match column.split_first() {
        Some((b'-', digits)) => whole::<i64>(digits).map(|value| -value),
        _ => whole(column),
    }
}

fn hexadecimal(column: &[u8]) -> Option<u8> {
    let digits = std::str::from_utf8(column.strip_prefix(b"0x").unwrap_or(column)).ok()?;
    u8::from_str_radix(digits, 16).ok()
}

/// Digits of a time that are looked at; ns-2 prints at most 15.
const MOST_DIGITS: u32 = 18;

/// A time as ns-2 prints it, such as 10.010448 or 4.6e-05, in whole nanoseconds, the nearest.
pub(super) fn nanoseconds(column: &[u8]) -> Option<i64> {
    let (mut mantissa, mut digits, mut decimals) = (0_i64, 0_u32, 0_i32);
    let mut seen_point = false;
    let mut bytes = column.iter();
    let mut exponent = 0_i32;
    for byte in bytes.by_ref() {
        match byte {
            b'0'..=b'9' if digits < MOST_DIGITS => {
                mantissa = mantissa * 10 + i64::from(byte - b'0');
                digits += u32::from(mantissa != 0);
                decimals += i32::from(seen_point);
            }
            b'0'..=b'9' if seen_point => {}
            b'.' if !seen_point => seen_point = true,
            b'e' if !column.starts_with(b"e") => {
                let rest = bytes.as_slice();
                exponent = i32::try_from(signed(rest.strip_prefix(b"+").unwrap_or(rest))?).ok()?;
                break;
            }
            _ => return None,
        }
    }
    if !column.first().is_some_and(u8::is_ascii_digit) {
        return None;
    }
    let power = exponent.checked_sub(decimals)?.checked_add(9)?;
    let factor = 10_i64.checked_pow(power.unsigned_abs());
    if power >= 0 {
        return if mantissa == 0 { Some(0) } else { mantissa.checked_mul(factor?) };
    }
    let Some(factor) = factor else { return Some(0) };
    Some(mantissa / factor + i64::from(mantissa % factor >= factor / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(line: &str) -> Line<'_> {
        match read(line.as_bytes()) {
            Ok(Read::Packet(line)) => line,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_time_is_exact_to_the_nanosecond() {
        let cases = [
            ("10", 10_000_000_000),
            ("10.010448", 10_010_448_000),
            ("4.6e-05", 46_000),
            ("1e-9", 1),
            ("1.5e+01", 15_000_000_000),
            ("0.267662078", 267_662_078),
            ("0.0000000005", 1),
            ("0.00000000049", 0),
            ("999999.999999999999", 1_000_000_000_000_000),
            ("0", 0),
            ("1e-300", 0),
        ];
        for (text, ns) in cases {
            assert_eq!(nanoseconds(text.as_bytes()), Some(ns), "{text}");
        }
        for text in
            ["", ".", "-1", "1..2", "1.2.3", "e5", "1e", "1e400", "1e99999999999", "x", "1x"]
        {
            assert_eq!(nanoseconds(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn the_twelve_columns() {
        let line = packet("+ 30.5 7 0 cbr 1000 ------- 3 7.0 17.2 4 99");
        assert_eq!(line.event, Event::Enqueued);
        assert_eq!((line.time_ns, line.from, line.to, line.bytes), (30_500_000_000, 7, 0, 1000));
        assert_eq!(line.protocol(), Some(Protocol::Udp));
        assert_eq!(line.source, Socket { node: 7, port: 0 });
        assert_eq!(line.destination, Socket { node: 17, port: 2 });
        assert_eq!((line.flow, line.number, line.packet), (3, 4, 99));
        assert_eq!((line.chunk, line.tcp), (None, None));
        assert_eq!(packet("d 1 2 0 ack 40 ------- -1 2.0 3.0 -1 5").number, -1);
    }

    #[test]
    fn the_fifteen_columns_of_sctp() {
        let line = packet("r 0.3 1 10 sctp 1500 -------D 0 1.0 6.0 1 2 21 0 1");
        let chunk = ChunkFields { letter: b'D', of: 1, tsn: Some(2), stream: 0, sequence: 1 };
        assert_eq!((line.packet, line.chunk), (21, Some(chunk)));
        let line = packet("r 0.3 1 10 sctp 56 -------I 0 1.0 6.0 1 -1 8 65535 65535");
        assert_eq!(line.chunk.unwrap().tsn, None);
    }

    #[test]
    fn the_headers_of_tcp() {
        let line = packet("+ 1 2 0 tcp 1040 ------- 0 2.0 12.0 1001 7 501 0x10 40 0");
        let tcp = TcpFields { acknowledgement: 501, flags: 0x10, header_bytes: 40 };
        assert_eq!((line.number, line.packet, line.tcp), (1001, 7, Some(tcp)));
    }

    #[test]
    fn what_is_no_packet_is_told_apart_from_what_is_wrong() {
        for (line, what) in [
            ("v 0.5 eval {set sim_annotation {hello}}", "a variable"),
            ("0.00000 2 0 12 0 cwnd_ 1.000", "a variable"),
            ("M 0.0 0 (5.00, 2.00, 0.00), (5.00, 2.00), 0.00", "a movement"),
            ("", "an empty line"),
            ("+ 1 2 0 message 32 ------- 0 2.255 -1.255 -1 5", "a broadcast"),
        ] {
            assert_eq!(read(line.as_bytes()), Ok(Read::Other(what)), "{line}");
        }
        for (line, at) in [
            ("? 1 2 0 tcp 40 ------- 0 2.0 12.0 0 0", 0),
            ("+ one 2 0 tcp 40 ------- 0 2.0 12.0 0 0", 2),
            ("+ 1 2 0 tcp 40 ------- 0 2.0", 28),
            ("+ 1 2 0 tcp 40 ------- 0 2.0 12 0 0", 29),
            ("+ 1 2 0 tcp 99999999999 ------- 0 2.0 12.0 0 0", 12),
            ("+ 1 2 0 tcp 40 ------- 0 2.0 12.0 0 -7", 36),
            ("+ 1 2 0 sctp 56 -------I 0 1.0 6.0 1 -1 8", 41),
        ] {
            assert_eq!(read(line.as_bytes()).unwrap_err().offset, at, "{line}");
        }
    }
}
