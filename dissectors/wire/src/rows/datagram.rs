//! One row of the streamed table of UDP datagrams.

use etherparse::ip_number;

use crate::checksum::{Checksum, PseudoHeader};
use crate::ledger::DatagramRow;
use crate::packet::bytes::clamp;
use crate::track::flow::{Followed, Numbered, Sight};
use crate::udp::{Datagram, HEADER};

/// Everything the datagram says, and what following its flow tells about it.
pub fn datagram_row(sight: &Sight<'_>, udp: &Datagram<'_>, followed: &Followed) -> DatagramRow {
    let datagram = sight.datagram;
    let row = DatagramRow {
        frame: sight.moment.frame,
        time_ns: sight.moment.time_ns,
        interface: sight.interface.map(str::to_string),
        source: datagram.source,
        destination: datagram.destination,
        source_port: udp.source_port,
        destination_port: udp.destination_port,
        flow: followed.place.map(|(flow, _)| flow),
        sender: followed.place.map(|(_, sender)| sender.name()),
        duplicate_frame: followed.copy,
        length: udp.length,
        payload_bytes: udp.payload_length,
        checksum: verdict(sight, udp).name(),
        ..Default::default()
    };
    match followed.numbered {
        Some(Numbered::Rtp(rtp)) => DatagramRow {
            numbered_by: Some("rtp"),
            stream: Some(rtp.ssrc),
            number: Some(u32::from(rtp.sequence)),
            payload_type: Some(rtp.payload_type),
            marker: Some(rtp.marker),
            timestamp: Some(rtp.timestamp),
            ..row
        },
        Some(Numbered::Ditg(ditg)) => DatagramRow {
            numbered_by: Some("d-itg"),
            stream: Some(ditg.flow_id),
            number: Some(ditg.sequence),
            sent_ns: Some(ditg.sent_ns),
            ..row
        },
        None => row,
    }
}

fn verdict(sight: &Sight<'_>, udp: &Datagram<'_>) -> Checksum {
    if udp.checksum == 0 {
        return Checksum::Absent;
    }
    let pseudo = PseudoHeader {
        source: sight.datagram.source,
        destination: sight.datagram.destination,
        protocol: ip_number::UDP.0,
    };
    // What follows the datagram in its IP packet is not summed.
    let length = udp.payload_length.saturating_add(clamp(HEADER));
    let bytes = sight.datagram.bytes;
    let covered = bytes.get(..length as usize).unwrap_or(bytes);
    pseudo.verify(covered, length, udp.checksum)
}
