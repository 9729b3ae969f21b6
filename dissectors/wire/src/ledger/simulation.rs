//! The tables that only a simulator's trace fills: it knows both ends of every packet, and all between.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{Field, Schema, SchemaRef};

use super::column::{Cell, tables};
use super::{describe, sentence};
use crate::address::Address;

/// The tables of one trace.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Simulation {
    pub routes: Vec<RouteRow>,
    pub transits: Vec<TransitRow>,
    pub hops: Vec<HopRow>,
    pub links: Vec<LinkRow>,
}

tables! {
    /// Packets of one protocol from one node and port to another, in a simulator's trace.
    routes: RouteRow {
        /// Number of the route, from 0 in order of first sight.
        route: u32,
        /// sctp, tcp or udp; absent for a packet type that is not followed.
        protocol: Option<&'static str>,
        /// The simulator's packet type of the first packet: sctp, tcp, ack, cbr, ...
        packet_type: String,
        /// Source node.
        source: Address,
        /// Source port.
        source_port: u16,
        /// Destination node.
        destination: Address,
        /// Destination port.
        destination_port: u16,
        /// The simulator's flow number of the first packet.
        flow_id: i64,
    }

    /// One packet from its source to its destination, in a simulator's trace; the first 1,000,000, in sending order.
    transits: TransitRow {
        /// Its route.
        route: u32,
        /// The simulator's number of the packet.
        packet: u64,
        /// Bytes on the wire.
        wire_bytes: u32,
        /// Whether it carries user data: DATA of SCTP, payload of TCP, any datagram of UDP.
        has_data: bool,
        /// Line of the sending: the first queue it was put into, at its source.
        frame: u64,
        /// That time.
        sent_ns: i64,
        /// Line of the arrival at its destination; absent when it did not arrive.
        arrival_frame: Option<u64>,
        /// That time.
        arrived_ns: Option<i64>,
        /// Line of its drop.
        drop_frame: Option<u64>,
        /// That time.
        dropped_ns: Option<i64>,
        /// Node at which the link begins that dropped it, or the wireless node that did.
        drop_from: Option<Address>,
        /// Node at which that link ends.
        drop_to: Option<Address>,
        /// Links that carried it.
        hops: u16,
        /// Time in their queues: from put in to taken out.
        queueing_ns: i64,
        /// Time on the links, transmission and propagation: from taken out of the queue to received.
        link_ns: i64,
        /// Time in the nodes between: from received to put into the next queue.
        processing_ns: i64,
    }

    /// Packets of one route over one link, in a simulator's trace.
    hops: HopRow {
        /// The route.
        route: u32,
        /// Node at which the link begins.
        from: Address,
        /// Node at which it ends.
        to: Address,
        /// Packets put into its queue.
        packets: u64,
        /// Of them, those received at its end.
        arrived: u64,
        /// Of them, those dropped by the queue or behind it.
        dropped: u64,
        /// Bytes of those that arrived.
        arrived_bytes: u64,
        /// Sum of the times in the queue of those that left it.
        queueing_sum_ns: i64,
        /// Longest of those times.
        queueing_max_ns: i64,
        /// Sum of the times on the link of those that arrived.
        link_sum_ns: i64,
    }

    /// One direction of a link of a simulated network. From its smallest and largest packets follow its rate and its delay.
    links: LinkRow {
        /// Node at which the link begins.
        from: Address,
        /// Node at which it ends.
        to: Address,
        /// Packets put into its queue.
        packets: u64,
        /// Of them, those dropped by the queue or behind it.
        dropped: u64,
        /// Bytes of the smallest packet that it carried.
        smallest_bytes: u32,
        /// Packets of that size.
        smallest_count: u64,
        /// Sum of their times on the link.
        smallest_sum_ns: i64,
        /// Bytes of the largest packet that it carried.
        largest_bytes: u32,
        /// Packets of that size.
        largest_count: u64,
        /// Sum of their times on the link.
        largest_sum_ns: i64,
    }
}
