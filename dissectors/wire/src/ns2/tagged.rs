//! Lines of ns-2's new wireless format: every value behind its tag.
//!
//! `-t` time; `-Hs`, `-Ni` the node that tells; `-Nl` its layer; `-Is`, `-Id` source and
//! destination (node.port); `-It` packet type, `-Il` bytes, `-If` flow, `-Ii` packet number; `-Ps`,
//! `-Pi` sequence numbers of TCP and CBR; `-Pnc`, `-Pct`, `-Ptsn`, `-Psid`, `-Pssn` of SCTP.

use super::line::{
    ChunkFields, Columns, Event, Line, Read, Socket, malformed, nanoseconds, signed, socket, whole,
};
use crate::problem::Problem;

/// Reads on behind the `-t` of a line.
///
/// # Errors
/// As [`super::line::read`].
pub(super) fn read<'a>(event: Event, mut columns: Columns<'a>) -> Result<Read<'a>, Problem> {
    let time_ns = columns.read(nanoseconds, "expected a time in seconds")?;
    let mut seen = Seen::default();
    while let Some(tag) = columns.next() {
        seen.value(tag, &mut columns)?;
    }
    let end = columns.end();
    let missing = |what| malformed(end, what);
    let (source, destination) = match (seen.source, seen.destination) {
        (Some(Some(source)), Some(Some(destination))) => (source, destination),
        (Some(_), Some(_)) => return Ok(Read::Other("a broadcast")),
        // Frames of the link layer itself, such as RTS, have no addresses of the network layer.
        _ => return Ok(Read::Other("a frame of the link layer")),
    };
    let node = seen.node.ok_or_else(|| missing("expected the tag -Ni of a node"))?;
    let chunk = (seen.name == b"sctp").then(|| ChunkFields {
        letter: seen.letter.unwrap_or(b'-'),
        of: seen.of.unwrap_or(1),
        tsn: seen.tsn.and_then(|tsn| u32::try_from(tsn).ok()),
        stream: seen.stream.unwrap_or(0),
        sequence: seen.sequence.unwrap_or(0),
    });
    Ok(Read::Packet(Line {
        event,
        time_ns,
        from: node,
        to: node,
        layer: Some(seen.layer),
        name: seen.name,
        bytes: seen.bytes.ok_or_else(|| missing("expected the tag -Il of the packet's bytes"))?,
        flow: seen.flow.unwrap_or(0),
        source,
        destination,
        number: seen.number.unwrap_or(0),
        packet: seen
            .packet
            .ok_or_else(|| missing("expected the tag -Ii of the packet's number"))?,
        chunk,
        tcp: None,
    }))
}

/// What the tags of a line said.
#[derive(Default)]
struct Seen<'a> {
    node: Option<u32>,
    layer: &'a [u8],
    name: &'a [u8],
    bytes: Option<u32>,
    flow: Option<i64>,
    source: Option<Option<Socket>>,
    destination: Option<Option<Socket>>,
    packet: Option<u64>,
    number: Option<i64>,
    letter: Option<u8>,
    of: Option<u32>,
    tsn: Option<i64>,
    stream: Option<u16>,
    sequence: Option<u16>,
}

impl<'a> Seen<'a> {
    fn value(&mut self, tag: &[u8], columns: &mut Columns<'a>) -> Result<(), Problem> {
        const NUMBER: &str = "expected a number";
        match tag {
            b"-Ni" => self.node = Some(columns.read(whole, NUMBER)?),
            b"-Nl" => self.layer = columns.next().unwrap_or_default(),
            b"-Is" => self.source = Some(columns.read(socket, "expected node.port")?),
            b"-Id" => self.destination = Some(columns.read(socket, "expected node.port")?),
            b"-It" => self.name = columns.next().unwrap_or_default(),
            b"-Il" => self.bytes = Some(columns.read(whole, NUMBER)?),
            b"-If" => self.flow = Some(columns.read(signed, NUMBER)?),
            b"-Ii" => self.packet = Some(columns.read(whole, NUMBER)?),
            b"-Ps" | b"-Pi" => self.number = Some(columns.read(signed, NUMBER)?),
            b"-Pnc" => self.of = Some(columns.read(whole, NUMBER)?),
            b"-Pct" => self.letter = columns.next().and_then(|kind| kind.last().copied()),
            b"-Ptsn" => self.tsn = Some(columns.read(signed, NUMBER)?),
            b"-Psid" => self.stream = columns.next().and_then(whole),
            b"-Pssn" => self.sequence = columns.next().and_then(whole),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::line::{Protocol, read};
    use super::*;

    #[test]
    fn a_packet_of_cbr() {
        let line =
            b"s -t 10.000000000 -Hs 0 -Hd -2 -Ni 0 -Nx 5.00 -Ny 2.00 -Nz 0.00 -Ne -1.000000 \
            -Nl AGT -Nw --- -Ma 0 -Md 0 -Ms 0 -Mt 0 -Is 0.0 -Id 1.0 -It cbr -Il 512 -If 2 -Ii 6 \
            -Iv 32 -Pn cbr -Pi 3 -Pf 0 -Po 0";
        let Ok(Read::Packet(line)) = read(line) else { panic!() };
        assert_eq!((line.event, line.time_ns), (Event::Enqueued, 10_000_000_000));
        assert_eq!(
            (line.from, line.layer, line.protocol()),
            (0, Some(&b"AGT"[..]), Some(Protocol::Udp))
        );
        assert_eq!((line.source.node, line.destination.node), (0, 1));
        assert_eq!((line.bytes, line.flow, line.packet, line.number), (512, 2, 6, 3));
    }

    #[test]
    fn what_a_line_lacks_is_told() {
        let link = b"s -t 1 -Hs 0 -Hd -2 -Ni 0 -Nl MAC -Nw --- -Ma 0 -Md 0 -Ms 0 -Mt 0";
        assert_eq!(read(link), Ok(Read::Other("a frame of the link layer")));
        let broadcast = b"s -t 1 -Ni 0 -Nl RTR -Is 0.255 -Id -1.255 -It AODV -Il 48 -Ii 0";
        assert_eq!(read(broadcast), Ok(Read::Other("a broadcast")));
        assert!(read(b"s -t 1 -Ni 0 -Nl AGT -Is 0.0 -Id 1.0 -It cbr -Ii 6").is_err());
        assert!(read(b"s -t 1 -Ni x -Nl AGT -Is 0.0 -Id 1.0 -It cbr -Il 1 -Ii 6").is_err());
    }
}
