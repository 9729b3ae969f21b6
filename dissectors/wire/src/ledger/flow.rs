//! The tables of TCP and UDP flows, MPTCP subflows, and ICMP errors.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};
use crate::address::Address;

/// TCP and UDP flows, and what ICMP says of them.
#[derive(Default)]
pub struct FlowTables {
    pub flows: Vec<FlowRow>,
    pub flow_directions: Vec<FlowDirectionRow>,
    pub flow_intervals: Vec<FlowIntervalRow>,
    pub tcp_retransmissions: Vec<TcpRetransmissionRow>,
    pub icmp: Vec<IcmpRow>,
}

impl FlowTables {
    pub(super) const fn new() -> Self {
        FlowTables {
            flows: Vec::new(),
            flow_directions: Vec::new(),
            flow_intervals: Vec::new(),
            tcp_retransmissions: Vec::new(),
            icmp: Vec::new(),
        }
    }
}

tables! {
    /// One TCP or UDP flow: a pair of addresses and ports, from its first packet on. An MPTCP subflow is a TCP flow with a connection.
    flows: FlowRow {
        /// Number of the flow, from 0 in order of first sight.
        flow: u32,
        /// tcp or udp.
        protocol: &'static str,
        /// Address of end a, which sent SYN or was seen first.
        a_address: Address,
        /// Address of end b.
        b_address: Address,
        /// Port of end a.
        a_port: u16,
        /// Port of end b.
        b_port: u16,
        /// pcapng name of the interface of the first packet.
        interface: Option<String>,
        /// First packet.
        start_ns: i64,
        /// First packet.
        start_frame: u64,
        /// Last packet.
        end_ns: i64,
        /// Last packet.
        end_frame: u64,
        /// Whether SYN, SYN ACK and the ACK of it are all in the capture.
        seen_handshake: bool,
        /// The ACK of SYN ACK, after however many SYNs.
        established_ns: Option<i64>,
        /// The ACK of SYN ACK.
        established_frame: Option<u64>,
        /// SYN to SYN ACK; absent where one of them was sent again.
        syn_rtt_ns: Option<u64>,
        /// SYN ACK to the ACK of it; absent likewise.
        syn_ack_rtt_ns: Option<u64>,
        /// SYN to the ACK of SYN ACK: the whole round trip, wherever the capture was taken.
        handshake_rtt_ns: Option<u64>,
        /// How it ended: fin (both ends sent one), half-closed (one did), rst, restart (the ports were used anew), idle (forgotten to make room) or open (the capture ended first).
        end: &'static str,
        /// Who sent the RST or the first FIN: a or b.
        ended_by: Option<&'static str>,
        /// The RST or the first FIN.
        closed_ns: Option<i64>,
        /// The RST or the first FIN.
        closed_frame: Option<u64>,
        /// The reason that an RST gave (MP_TCPRST of RFC 8684).
        reset_reason: Option<&'static str>,
        /// The flow whose addresses and ports this one uses anew, if any.
        restart_of: Option<u32>,
        /// Frames that repeat a recent frame (the capture's copies, not the sender's), in no other number.
        duplicate_frames: u64,
        /// The first of them.
        duplicate_frame: Option<u64>,
        /// Packets cut by the capture's snap length.
        truncated_packets: u64,
        /// The first of them.
        truncated_frame: Option<u64>,
        /// ICMP errors that quote a packet of this flow.
        icmp_errors: u64,
        /// MPTCP connection number: subflows with the same one belong together.
        connection: Option<u32>,
        /// Version of MPTCP: 1 (RFC 8684) or 0 (RFC 6824).
        mptcp_version: Option<u8>,
        /// How the subflow came to its connection: capable (it opened it) or join.
        subflow: Option<&'static str>,
        /// Which end of the connection this subflow's end a is: a, which opened the connection, or b.
        connection_end: Option<&'static str>,
        /// Whether MP_JOIN or MP_PRIO made the subflow a backup.
        backup: bool,
    }

    /// What one end of a flow sent. There is a row for each end that sent something.
    flow_directions: FlowDirectionRow {
        /// Flow number.
        flow: u32,
        /// Sender: a or b.
        sender: &'static str,
        /// First packet.
        start_ns: i64,
        /// Last packet.
        end_ns: i64,
        /// Packets, duplicated frames left out.
        packets: u64,
        /// Bytes on the wire of those packets, link headers included.
        wire_bytes: u64,
        /// TCP or UDP payload, retransmissions included.
        payload_bytes: u64,
        /// Payload sent for the first time, as far as the capture shows.
        new_bytes: u64,
        /// Payload that the peer acknowledged.
        acked_bytes: u64,
        /// Payload that the peer acknowledged though the capture does not have it.
        unseen_bytes: u64,
        /// TCP segments that take sequence numbers: with payload, SYN or FIN.
        segments: u64,
        /// Of segments: those that repeat sequence numbers, SYN and FIN included.
        retransmitted_packets: u64,
        /// Payload in them that was sent before.
        retransmitted_bytes: u64,
        /// Of retransmitted_packets: after three duplicate ACKs, or with later data SACKed.
        fast_retransmissions: u64,
        /// Of retransmitted_packets: after a retransmission time-out, and the segments sent again in its wake.
        timeout_retransmissions: u64,
        /// Of retransmitted_packets: the last segment, too early for a time-out (tail loss probe, RFC 8985).
        probe_retransmissions: u64,
        /// Of retransmitted_packets: for none of these reasons that the capture shows.
        unknown_retransmissions: u64,
        /// Of retransmitted_packets: reported as received twice by a DSACK (RFC 2883).
        spurious_retransmissions: u64,
        /// Segments that arrived at the capture after later ones, sent once.
        out_of_order_packets: u64,
        /// Payload in them.
        out_of_order_bytes: u64,
        /// Segments that ask an idle peer for a sign of life: at most one byte, already acknowledged.
        keep_alives: u64,
        /// Segments of at most one byte into a zero window.
        window_probes: u64,
        /// ACKs that repeat the last one while data was outstanding (RFC 5681).
        duplicate_acks: u64,
        /// Maximum segment size that this end announced.
        mss: Option<u16>,
        /// Window scale shift that this end announced.
        window_scale: Option<u8>,
        /// Whether this end announced SACK.
        sack_permitted: bool,
        /// Whether this end sent the timestamps option.
        timestamps: bool,
        /// Least receive window that this end advertised after its SYN; absent where its scale is not known.
        window_min_bytes: Option<u32>,
        /// Greatest such window.
        window_max_bytes: Option<u32>,
        /// Times that this end closed its receive window.
        zero_windows: u64,
        /// The first packet that closed it.
        zero_window_frame: Option<u64>,
        /// How long it was closed, together.
        zero_window_ns: u64,
        /// Most sequence numbers outstanding.
        flight_max_bytes: u64,
        /// RTT samples of segments sent once (Karn's rule), from the capture to the peer and back.
        rtt_count: u64,
        /// Least of them.
        rtt_min_ns: Option<u64>,
        /// Mean of them.
        rtt_mean_ns: Option<u64>,
        /// Standard deviation of them (n - 1).
        rtt_sd_ns: Option<u64>,
        /// Greatest of them.
        rtt_max_ns: Option<u64>,
        /// RTT samples by the timestamps option (RFC 7323), retransmitted segments included.
        timestamp_rtt_count: u64,
        /// Least of them.
        timestamp_rtt_min_ns: Option<u64>,
        /// Mean of them.
        timestamp_rtt_mean_ns: Option<u64>,
        /// Greatest of them.
        timestamp_rtt_max_ns: Option<u64>,
        /// Mean time between packets.
        gap_mean_ns: Option<u64>,
        /// Standard deviation of the time between packets (n - 1).
        gap_sd_ns: Option<u64>,
        /// What numbers the packets of a UDP flow: rtp or d-itg; absent where neither was recognised.
        numbered_by: Option<&'static str>,
        /// SSRC of RTP, flow identifier of D-ITG.
        stream: Option<u32>,
        /// Payload type of RTP.
        payload_type: Option<u8>,
        /// Clock of RTP: by its static payload type, else the common rate nearest to what was seen.
        clock_hz: Option<u32>,
        /// Numbered packets.
        numbered_packets: u64,
        /// Numbers between the first and the highest that did not arrive.
        lost_packets: u64,
        /// Numbered packets that came after a higher number (RFC 4737).
        reordered_packets: u64,
        /// Numbered packets that came again.
        repeated_packets: u64,
        /// Interarrival jitter J of RFC 3550 section 6.4.1 at the last packet.
        jitter_ns: Option<u64>,
        /// Data sequence numbers that this end mapped on the subflow for the first time (MPTCP DSS).
        mapped_bytes: u64,
        /// Data sequence numbers that this end had mapped on another subflow before (reinjection).
        reinjected_bytes: u64,
        /// MPTCP address identifier of this end.
        address_id: Option<u8>,
    }

    /// What one end of a flow sent in a time bin.
    flow_intervals: FlowIntervalRow {
        /// Flow number.
        flow: u32,
        /// Sender of the packets: a or b.
        sender: &'static str,
        /// Start of the bin; bins begin at multiples of their width.
        start_ns: i64,
        /// Packets.
        packets: u64,
        /// Bytes on the wire.
        wire_bytes: u64,
        /// Payload bytes.
        payload_bytes: u64,
        /// Payload bytes sent for the first time.
        new_bytes: u64,
        /// Payload bytes sent again.
        retransmitted_bytes: u64,
        /// Payload bytes that an ACK in this bin acknowledged.
        acked_bytes: u64,
        /// RTT samples (Karn) that ACKs in this bin gave.
        rtt_count: u64,
        /// Sum of those samples.
        rtt_sum_ns: u64,
        /// Least of those samples.
        rtt_min_ns: Option<u64>,
        /// Greatest of those samples.
        rtt_max_ns: Option<u64>,
        /// Most sequence numbers outstanding.
        flight_max_bytes: u64,
        /// Least receive window that the sender of these packets advertised.
        window_min_bytes: Option<u32>,
    }

    /// One TCP segment that was sent again.
    tcp_retransmissions: TcpRetransmissionRow {
        /// Flow number.
        flow: u32,
        /// Sender: a or b.
        sender: &'static str,
        /// The retransmission.
        frame: u64,
        /// The retransmission.
        time_ns: i64,
        /// Sequence number as on the wire.
        sequence: u32,
        /// Payload bytes in it that were sent before.
        bytes: u32,
        /// First transmission of its first byte; absent where the capture has none or it is forgotten.
        first_frame: Option<u64>,
        /// First transmission of its first byte.
        first_ns: Option<i64>,
        /// The transmission before this one.
        previous_ns: Option<i64>,
        /// Which transmission this is: 2 for the first retransmission; 0 when the earlier ones are not known.
        transmission: u32,
        /// fast, timeout, probe or unknown.
        cause: &'static str,
        /// Whether the capture shows that the peer had acknowledged all of it before.
        acknowledged: bool,
        /// Whether a DSACK reported that it arrived twice.
        spurious: bool,
    }

    /// One ICMP or ICMPv6 error, and the flow or association whose packet it quotes.
    icmp: IcmpRow {
        /// Frame of the error.
        frame: u64,
        /// Time of the error.
        time_ns: i64,
        /// Who sent the error.
        source: Address,
        /// To whom.
        destination: Address,
        /// IP version: 4 or 6.
        version: u8,
        /// ICMP type.
        icmp_type: u8,
        /// ICMP code.
        code: u8,
        /// The error in the RFC's words.
        name: &'static str,
        /// Next hop's MTU, where the error says it.
        mtu_bytes: Option<u32>,
        /// Source of the quoted packet.
        quoted_source: Option<Address>,
        /// Destination of the quoted packet.
        quoted_destination: Option<Address>,
        /// IP protocol of the quoted packet.
        quoted_protocol: Option<u8>,
        /// Source port of the quoted packet.
        quoted_source_port: Option<u16>,
        /// Destination port of the quoted packet.
        quoted_destination_port: Option<u16>,
        /// Verification tag of a quoted SCTP packet; of one inside UDP (RFC 6951) when its association is known.
        quoted_tag: Option<u32>,
        /// Flow of the quoted packet.
        flow: Option<u32>,
        /// SCTP association of the quoted packet.
        association: Option<u32>,
        /// End that sent the quoted packet: a or b.
        sender: Option<&'static str>,
    }
}
