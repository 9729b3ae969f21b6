//! The streamed tables with a row for every frame, TCP segment and UDP datagram.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};
use crate::address::Address;

tables! {
    /// Every TCP segment, the innermost one of a tunnel's. Streamed, not kept.
    segments: SegmentRow {
        /// Frame number in the file; of a segment in IP fragments, the frame that completed it.
        frame: u64,
        /// Time of the packet.
        time_ns: i64,
        /// Interface name.
        interface: Option<String>,
        /// IP source address.
        source: Address,
        /// IP destination address.
        destination: Address,
        /// TCP source port.
        source_port: u16,
        /// TCP destination port.
        destination_port: u16,
        /// Flow number.
        flow: Option<u32>,
        /// Sender: a or b.
        sender: Option<&'static str>,
        /// Whether the segment repeats that of a recent frame, and it was not its sender who repeated it.
        duplicate_frame: bool,
        /// Sequence number as on the wire.
        sequence: u32,
        /// Acknowledgment number as on the wire; it means something only with ACK.
        acknowledgement: u32,
        /// The twelve bits after the data offset: four reserved ones, of which the last is AE, and the eight control bits.
        flags: u16,
        /// Those that are set: F(IN), S(YN), R(ST), P(SH), A(CK), U(RG), E(CE), C(WR), N for AE.
        flag_letters: String,
        /// Window as on the wire.
        window: u16,
        /// Window in bytes; absent where the scale is not known because the handshake is not in the capture.
        window_bytes: Option<u32>,
        /// Header length, options included.
        header_bytes: u8,
        /// Payload, as far as it was on the wire.
        payload_bytes: u32,
        /// Verdict on the checksum: valid, bad, partial (the sum of the pseudo-header alone: captured before the interface finished it), or unchecked (cut by the capture).
        checksum: &'static str,
        /// Urgent pointer.
        urgent: u16,
        /// Options as on the wire, in its order, separated by semicolons, without no-operation: mss=1460;sack-permitted;ts=7,0;ws=7. Others than those and MPTCP's are kind-KIND=HEX; those with an impossible length are left out, and reported as problems.
        options: Option<String>,
        /// What the sender's numbers make of it: new, out-of-order, keep-alive, window-probe, or the cause of a retransmission (fast, timeout, probe, unknown). Absent where it takes no sequence numbers, for RST, and for copies of a frame.
        sent_as: Option<&'static str>,
    }

    /// Every UDP datagram that is not read further, the innermost one of a tunnel's. Streamed, not kept.
    datagrams: DatagramRow {
        /// Frame number in the file; of a datagram in IP fragments, the frame that completed it.
        frame: u64,
        /// Time of the packet.
        time_ns: i64,
        /// Interface name.
        interface: Option<String>,
        /// IP source address.
        source: Address,
        /// IP destination address.
        destination: Address,
        /// UDP source port.
        source_port: u16,
        /// UDP destination port.
        destination_port: u16,
        /// Flow number.
        flow: Option<u32>,
        /// Sender: a or b.
        sender: Option<&'static str>,
        /// Whether the datagram repeats that of a recent frame, and it was not its sender who repeated it.
        duplicate_frame: bool,
        /// Length field as on the wire, header included; 0 in a jumbogram (RFC 2675).
        length: u16,
        /// Payload, as far as it was on the wire.
        payload_bytes: u32,
        /// Verdict on the checksum: valid, zero (the sender made none), bad, partial (the sum of the pseudo-header alone: captured before the interface finished it), or unchecked (cut by the capture).
        checksum: &'static str,
        /// Whose header numbers the datagram, once several in a row have shown it: rtp or d-itg. The columns below are absent until then.
        numbered_by: Option<&'static str>,
        /// SSRC of RTP, or flow number of D-ITG.
        stream: Option<u32>,
        /// Sequence number of RTP or D-ITG, as on the wire.
        number: Option<u32>,
        /// Payload type of RTP.
        payload_type: Option<u8>,
        /// Marker bit of RTP.
        marker: Option<bool>,
        /// Timestamp of RTP, in units of the payload type's clock.
        timestamp: Option<u32>,
        /// When it was sent, by the clock of D-ITG's sender.
        sent_ns: Option<i64>,
    }

    /// Every packet of SCTP, TCP and UDP that belongs to an association or a flow, as it is found again in a capture taken elsewhere. Damaged packets of SCTP are left out. Streamed, not kept.
    sightings: SightingRow {
        /// IP protocol number: 132, 6 or 17.
        protocol: u8,
        /// Association number of SCTP.
        association: Option<u32>,
        /// Flow number of TCP and UDP.
        flow: Option<u32>,
        /// Sender: a or b.
        sender: &'static str,
        /// Path number of SCTP; absent for copies of a frame.
        path: Option<u32>,
        /// Frame number in the file; of a packet in IP fragments, the frame that completed it.
        frame: u64,
        /// Time of the packet.
        time_ns: i64,
        /// Length of the frame on the wire.
        wire_bytes: u32,
        /// TSN of the first DATA or I-DATA chunk.
        tsn: Option<u32>,
        /// Of the DATA or I-DATA chunk sent the least often: 1 where the packet has the first sight of a TSN, 2 for a first retransmission, ...; 0 when the earlier ones are not known.
        transmission: Option<u32>,
        /// Whether the packet repeats that of a recent frame, and it was not its sender who repeated it.
        duplicate_frame: bool,
        /// Whether the capture cut the packet.
        truncated: bool,
        /// Of the transport packet as far as captured, without ports and checksum, and of a SYN without options: what is left is the same at both ends.
        digest: u64,
        /// Likewise of its length and its first 32 bytes alone, for captures of which one cuts packets.
        head_digest: u64,
    }

    /// Every frame of the capture, and what became of it. Streamed, not kept.
    frames: FrameRow {
        /// Frame number in the file.
        frame: u64,
        /// Time of the frame.
        time_ns: i64,
        /// Interface name.
        interface: Option<String>,
        /// Link type (LINKTYPE_ value).
        link_type: u16,
        /// Length of the frame on the wire.
        wire_bytes: u32,
        /// Bytes of it in the capture.
        captured_bytes: u32,
        /// What was read in it: sctp, tcp, udp or icmp; absent where it was skipped before that.
        protocol: Option<&'static str>,
        /// dissected, partial or skipped.
        outcome: &'static str,
        /// Why it was skipped.
        reason: Option<String>,
    }
}
