//! SCTP packets where they stand (RFC 9260): ports, the addresses in chunks, CRC32c.

use std::ops::Range;

use pathscope_wire::sctp::chunk::{
    ABORT, ASCONF, ASCONF_ACK, AUTH, COOKIE_ECHO, ERROR, HEARTBEAT, HEARTBEAT_ACK, INIT, INIT_ACK,
};
use pathscope_wire::sctp::param::STATE_COOKIE;
use pathscope_wire::sctp::{COMMON_HEADER, crc32c};

use super::Rewriter;
use super::change::Change;
use super::job::Job;
use super::outcome::{Note, Reason};
use super::tlv::{Tlv, tlvs};

const CHECKSUM: usize = 8;
/// Initiate Tag, window, streams, Initial TSN.
const INIT_FIELDS: usize = 16;
/// The Sequence Number of ASCONF and ASCONF-ACK.
const SERIAL: usize = 4;

impl Rewriter {
    /// Rewrites the SCTP packet in `over`; of one in fragments this is the first.
    pub(super) fn sctp(
        &self,
        packet: &mut [u8],
        over: Range<usize>,
        is_fragment: bool,
        change: &mut Change,
        job: &mut Job,
    ) -> Result<(), Reason> {
        let bytes = packet.get(over.clone()).unwrap_or_default();
        let Some(header) = bytes.first_chunk::<COMMON_HEADER>() else {
            job.note(Note::TransportMalformed);
            return Ok(());
        };
        let [_, _, _, _, _, _, _, _, a, b, c, d] = *header;
        let field = u32::from_le_bytes([a, b, c, d]);
        let may_change =
            self.rules.maps_ports() || self.rules.maps_addresses() && may_hold_addresses(bytes);
        // Of what stays as it is the sum afterwards is the sum before.
        let before = if may_change && !is_fragment { crc32c(bytes) } else { field };
        let mut changed = false;
        if may_change {
            changed = self.ports(packet, over.start, change, job);
            changed |= self.chunks(packet, over.clone(), change, job);
        }
        if is_fragment {
            job.note_if(!job.keep_bad, Note::ChecksumNotVerified);
            return if changed { Err(Reason::SctpFragment) } else { Ok(()) };
        }
        if job.keep_bad && !changed {
            return Ok(());
        }
        let after = crc32c(packet.get(over.clone()).unwrap_or_default());
        let right = if may_change { before } else { after };
        let settled = if job.keep_bad { after ^ right ^ field } else { after };
        if settled != field {
            job.note_if(field != right && !job.keep_bad, Note::ChecksumRepaired);
            change.write(packet, over.start + CHECKSUM, &settled.to_le_bytes());
        }
        Ok(())
    }

    /// Maps the addresses in chunks; says whether that changed any.
    fn chunks(
        &self,
        packet: &mut [u8],
        over: Range<usize>,
        change: &mut Change,
        job: &mut Job,
    ) -> bool {
        let (mut signed, mut changed) = (false, false);
        let mut at = over.start + COMMON_HEADER;
        while let Some(chunk) = Tlv::read(packet, at, over.end) {
            let [kind, _] = chunk.kind.to_be_bytes();
            let mapped = self.chunk(packet, kind, &chunk, change, job);
            job.note_if(mapped, Note::Mapped);
            job.note_if(mapped && signed, Note::AuthBroken);
            signed |= kind == AUTH;
            changed |= mapped;
            at = chunk.next;
        }
        changed
    }

    fn chunk(
        &self,
        packet: &mut [u8],
        kind: u8,
        chunk: &Tlv,
        change: &mut Change,
        job: &mut Job,
    ) -> bool {
        let Range { start, end } = chunk.value.clone();
        match kind {
            INIT | INIT_ACK => {
                let over = start + INIT_FIELDS..end;
                let cookie = tlvs(packet, over.clone()).any(|one| one.kind == STATE_COOKIE);
                job.note_if(cookie && self.rules.maps_addresses(), Note::OpaqueLeft);
                self.parameters(packet, over, change)
            }
            ASCONF | ASCONF_ACK => self.parameters(packet, start + SERIAL..end, change),
            ERROR | ABORT => self.causes(packet, start..end, change),
            COOKIE_ECHO | HEARTBEAT | HEARTBEAT_ACK => {
                job.note_if(self.rules.maps_addresses(), Note::OpaqueLeft);
                false
            }
            _ => false,
        }
    }
}

/// Whether any chunk may hold an address, where it can be found or where it cannot.
fn may_hold_addresses(bytes: &[u8]) -> bool {
    tlvs(bytes, COMMON_HEADER..bytes.len()).any(|chunk| {
        let [kind, _] = chunk.kind.to_be_bytes();
        matches!(kind, INIT | INIT_ACK | ASCONF | ASCONF_ACK | ERROR | ABORT)
            || matches!(kind, COOKIE_ECHO | HEARTBEAT | HEARTBEAT_ACK)
    })
}
