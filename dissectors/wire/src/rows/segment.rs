//! One row of the streamed table of TCP segments.

use etherparse::ip_number;

use super::{list, option};
use crate::checksum::PseudoHeader;
use crate::ledger::SegmentRow;
use crate::tcp::{FLAG_LETTERS, Header, Segment};
use crate::track::flow::{Followed, Sight};

/// Everything the segment says, and what following its flow tells about it.
pub fn segment_row(sight: &Sight<'_>, segment: &Segment<'_>, followed: &Followed) -> SegmentRow {
    let (datagram, header) = (sight.datagram, &segment.header);
    let pseudo = PseudoHeader {
        source: datagram.source,
        destination: datagram.destination,
        protocol: ip_number::TCP.0,
    };
    SegmentRow {
        frame: sight.moment.frame,
        time_ns: sight.moment.time_ns,
        interface: sight.interface.map(str::to_string),
        source: datagram.source,
        destination: datagram.destination,
        source_port: header.source_port,
        destination_port: header.destination_port,
        flow: followed.place.map(|(flow, _)| flow),
        sender: followed.place.map(|(_, sender)| sender.name()),
        duplicate_frame: followed.copy,
        sequence: header.sequence,
        acknowledgement: header.acknowledgement,
        flags: flags(header),
        flag_letters: letters(flags(header)),
        window: header.window,
        window_bytes: followed.window_bytes,
        header_bytes: segment.header_length,
        payload_bytes: segment.payload_length,
        checksum: pseudo.verify(datagram.bytes, datagram.length, header.checksum).name(),
        urgent: header.urgent,
        options: list(segment.options.clone().flatten().map(|one| option::text(&one)), ";"),
        sent_as: followed.sent_as,
    }
}

fn flags(header: &Header) -> u16 {
    u16::from(header.reserved) << 8 | u16::from(header.flags)
}

fn letters(flags: u16) -> String {
    let set = |&(bit, _): &(usize, char)| flags >> bit & 1 == 1;
    FLAG_LETTERS.chars().enumerate().filter(set).map(|(_, letter)| letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_the_flags_from_the_lowest_bit() {
        assert_eq!(letters(0), "");
        assert_eq!(letters(0x012), "SA");
        assert_eq!(letters(0x1ff), "FSRPAUECN");
        assert_eq!(letters(0xe10), "A");
    }
}
