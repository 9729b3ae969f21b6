//! The tables of SCTP associations: who took part, over which paths, and what steered them.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};
use crate::address::Address;

tables! {
    /// One SCTP association (RFC 9260). A restart begins a new row.
    associations: AssociationRow {
        /// Number of the association, from 0 in order of first sight; associations that are not listed have numbers too.
        association: u32,
        /// SCTP port of end a.
        a_port: u16,
        /// SCTP port of end b.
        b_port: u16,
        /// Verification tag in packets to a (the Initiate Tag a chose); absent while a was sent nothing.
        a_tag: Option<u32>,
        /// Verification tag in packets to b; absent while b was sent nothing.
        b_tag: Option<u32>,
        /// First packet.
        start_ns: i64,
        /// First packet.
        start_frame: u64,
        /// Last packet.
        end_ns: i64,
        /// Last packet.
        end_frame: u64,
        /// Whether INIT, INIT ACK, COOKIE ECHO and COOKIE ACK are all in the capture.
        seen_handshake: bool,
        /// First INIT.
        init_ns: Option<i64>,
        /// First COOKIE ACK.
        established_ns: Option<i64>,
        /// First COOKIE ACK.
        established_frame: Option<u64>,
        /// How it ended: shutdown, abort, restart, no-answer (INIT never answered), idle (forgotten to make room for others, being idle longest), or open (the capture ended first).
        end: &'static str,
        /// The association that this one restarted (RFC 9260 section 5.2.4), if any.
        restart_of: Option<u32>,
        /// Outbound streams that a asked for in INIT or INIT ACK.
        a_outbound_streams: Option<u16>,
        /// Most inbound streams that a allows.
        a_inbound_streams: Option<u16>,
        /// Outbound streams that b asked for.
        b_outbound_streams: Option<u16>,
        /// Most inbound streams that b allows.
        b_inbound_streams: Option<u16>,
        /// Receiver window that a advertised in INIT or INIT ACK.
        a_initial_rwnd_bytes: Option<u32>,
        /// Receiver window that b advertised in INIT or INIT ACK.
        b_initial_rwnd_bytes: Option<u32>,
        /// First TSN that a said it would use.
        a_initial_tsn: Option<u32>,
        /// First TSN that b said it would use.
        b_initial_tsn: Option<u32>,
        /// Parameters and chunk types beyond the base protocol that a announced, comma list.
        a_extensions: String,
        /// Parameters and chunk types beyond the base protocol that b announced, comma list.
        b_extensions: String,
        /// Error detection method under which a takes packets without a checksum (RFC 9653; 1 is SCTP over DTLS); absent when a announced none.
        a_zero_checksum_method: Option<u32>,
        /// Error detection method under which b takes packets without a checksum.
        b_zero_checksum_method: Option<u32>,
        /// UDP port that a used, when encapsulated (RFC 6951).
        a_udp_port: Option<u16>,
        /// UDP port that b used, when encapsulated (RFC 6951).
        b_udp_port: Option<u16>,
        /// SCTP packets, duplicated frames and damaged packets left out.
        packets: u64,
        /// Frames whose SCTP packet repeats that of a recent frame, checksum field aside (the capture's copies, not the sender's).
        duplicate_frames: u64,
        /// Of packets, those with a wrong checksum from a sender and on a path that have not shown a right one.
        bad_checksums: u64,
        /// Packets with a wrong checksum after right ones: damaged on the way and discarded by their receiver, so in no other number.
        damaged_packets: u64,
        /// Packets whose checksum field is zero (offload, or RFC 9653).
        zero_checksums: u64,
        /// Of zero_checksums, packets of a that RFC 9653 does not allow: b had not announced a method before, or INIT or COOKIE ECHO is in the packet.
        a_uncovered_zero_checksums: u64,
        /// Of zero_checksums, packets of b that RFC 9653 does not allow.
        b_uncovered_zero_checksums: u64,
        /// Packets with the Adler-32 of RFC 2960.
        adler32_checksums: u64,
        /// Packets cut by the capture's snap length.
        truncated_packets: u64,
    }

    /// An address entering (and leaving) an association.
    addresses: AddressRow {
        /// Association number.
        association: u32,
        /// Whose address: a or b.
        endpoint: &'static str,
        /// The address.
        address: Address,
        /// How it became known: init, init-ack, asconf-add, or packet (seen as source or destination).
        source: &'static str,
        /// When it became known.
        first_ns: i64,
        /// When it became known.
        first_frame: u64,
        /// When ASCONF DELETE of it was acknowledged.
        left_ns: Option<i64>,
        /// When ASCONF DELETE of it was acknowledged.
        left_frame: Option<u64>,
    }

    /// A pair of addresses that carried packets of an association.
    paths: PathRow {
        /// Association number.
        association: u32,
        /// Path number within the association, from 0 in order of first sight.
        path: u32,
        /// Address of end a.
        a_address: Address,
        /// Address of end b.
        b_address: Address,
        /// pcapng name of the interface of the path's first packet.
        interface: Option<String>,
        /// First packet on the path.
        first_ns: i64,
        /// First packet on the path.
        first_frame: u64,
        /// Last packet on the path.
        last_ns: i64,
        /// Last packet on the path.
        last_frame: u64,
    }

    /// One request parameter of an ASCONF chunk (RFC 5061) with its outcome.
    asconf: AsconfRow {
        /// Association number.
        association: u32,
        /// Sender of the ASCONF.
        sender: &'static str,
        /// Path of the first ASCONF.
        path: u32,
        /// ASCONF serial number.
        serial: u32,
        /// What is asked: add, set-primary, delete, or the parameter's type.
        request: String,
        /// The address in question (a wildcard is replaced by the packet's source; in delete it stands, for all but that source).
        address: Option<Address>,
        /// ASCONF-Request Correlation ID.
        correlation: u32,
        /// First ASCONF with this serial number.
        time_ns: i64,
        /// First ASCONF with this serial number.
        frame: u64,
        /// How often the ASCONF was sent.
        transmissions: u32,
        /// ASCONF-ACK.
        ack_ns: Option<i64>,
        /// ASCONF-ACK.
        ack_frame: Option<u64>,
        /// success, error, or pending.
        outcome: &'static str,
        /// Error cause code in the ASCONF-ACK.
        cause: Option<u16>,
        /// Error cause in words.
        cause_name: Option<&'static str>,
    }

    /// One chunk that steers an association: INIT, INIT ACK, COOKIE ECHO, COOKIE ACK, ABORT, ERROR, SHUTDOWN*, ECNE, CWR, RE-CONFIG, FORWARD-TSN, I-FORWARD-TSN.
    control: ControlRow {
        /// Association number.
        association: u32,
        /// Sender of the chunk.
        sender: &'static str,
        /// Path of the packet.
        path: u32,
        /// Time of the packet.
        time_ns: i64,
        /// Frame of the packet.
        frame: u64,
        /// Chunk type, by its RFC name.
        chunk: &'static str,
        /// Error cause codes, or parameter types of RE-CONFIG, comma list.
        codes: String,
        /// What it says, in words.
        detail: String,
    }

    /// What one end announced of AUTH (RFC 4895) and how it kept to what its peer announced. No row for an end that did neither announce nor send AUTH.
    authentication: AuthenticationRow {
        /// Association number.
        association: u32,
        /// The end.
        sender: &'static str,
        /// Bytes of its Random parameter, which should be 32; absent when it sent none.
        random_bytes: Option<u16>,
        /// HMAC Identifiers that it accepts, the preferred one first, by name, comma list.
        hmacs: String,
        /// Chunk types that it wants to receive authenticated only, comma list.
        chunks: String,
        /// AUTH chunks that it sent.
        auth_chunks: u64,
        /// First AUTH chunk that it sent.
        first_auth_frame: Option<u64>,
        /// HMAC Identifiers that it used, by name, comma list.
        used_hmacs: String,
        /// Shared Key Identifiers that it used, comma list; at most 64.
        used_keys: String,
        /// Chunks that it sent without AUTH before them in the packet though its peer wants their type authenticated: the peer discards them (RFC 4895 section 6.3).
        unauthenticated_chunks: u64,
        /// Types of these chunks, comma list.
        unauthenticated_types: String,
        /// First of these chunks.
        first_unauthenticated_frame: Option<u64>,
    }
}
