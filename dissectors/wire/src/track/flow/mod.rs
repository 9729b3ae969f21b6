//! Follows TCP and UDP flows, and ties ICMP errors to what they quote.
//!
//! A flow is a pair of addresses and ports from its first packet on. Its state
//! is what is outstanding; its rows are written when it ends, is forgotten to
//! make room, or the capture ends. The number of flows remembered, and of rows
//! kept, is bounded, so that a scan of ten million ports costs no more memory
//! than one of sixty-five thousand; what is left out is counted.

mod budget;
mod connection;
mod followed;
mod icmp;
mod key;
mod sender;
mod stream;
mod tcp;
mod way;

use hashbrown::HashMap;

pub use self::budget::Census;
use self::budget::{Budget, FLOW_ROWS, SMALL_FLOW_PACKETS};
use self::connection::Connections;
pub use self::followed::Followed;
use self::key::{Key, Protocol, Socket};
pub use self::stream::Numbered;
use self::stream::Stream;
use self::tcp::Tcp;
use self::way::Way;
use super::duplicate::Duplicates;
use super::{End, Moment};
use crate::ledger::{FlowIntervalRow, FlowRow, Ledger, TcpRetransmissionRow};
use crate::packet::Datagram;
use crate::{tcp as wire_tcp, udp as wire_udp};

/// Flows remembered at a time, unless the caller says otherwise.
pub const FLOWS: usize = 1 << 16;

/// A TCP, UDP or ICMP packet as the capture shows it.
#[derive(Clone, Copy)]
pub struct Sight<'a> {
    pub moment: Moment,
    /// Length of the record on the wire, link header included.
    pub wire_bytes: u32,
    pub interface: Option<&'a str>,
    /// Its bytes may be fewer than captured, but hold the headers that are followed.
    pub datagram: &'a Datagram<'a>,
    /// Of the whole packet as far as captured, its own checksum included.
    pub crc32c: u32,
    /// The capture kept less than all of it.
    pub is_cut: bool,
}

impl<'a> Sight<'a> {
    /// A packet that was found in a record of `wire_bytes`.
    pub fn of(
        datagram: &'a Datagram<'a>,
        moment: Moment,
        wire_bytes: u32,
        interface: Option<&'a str>,
    ) -> Self {
        let crc32c = crc_fast::crc32_iscsi(datagram.bytes);
        let is_cut = (datagram.bytes.len() as u64) < u64::from(datagram.length);
        Sight { moment, wire_bytes, interface, datagram, crc32c, is_cut }
    }
}

/// One flow: its rows, and what its protocol needs to go on.
pub struct Flow {
    key: Key,
    row: FlowRow,
    /// By sender.
    ways: [Way; 2],
    intervals: Vec<FlowIntervalRow>,
    retransmissions: Vec<TcpRetransmissionRow>,
    tcp: Option<Tcp>,
    /// What numbers the datagrams of a UDP flow, by sender.
    streams: [Stream; 2],
    /// Had a packet since the search for an idle flow last passed here.
    recent: bool,
}

impl Flow {
    fn sender(&self, source: Socket) -> End {
        if source == (self.row.a_address, self.row.a_port) { End::A } else { End::B }
    }

    fn packets(&self) -> u64 {
        self.ways.iter().map(|way| way.row.packets).sum()
    }
}

/// What a segment needs beside its flow.
struct Desk<'d> {
    moment: Moment,
    bin_ns: i64,
    budget: &'d mut Budget,
    connections: &'d mut Connections,
}

pub struct Flows {
    bin_ns: i64,
    capacity: usize,
    by_key: HashMap<Key, usize>,
    slots: Vec<Flow>,
    /// Where the search for an idle flow goes on.
    hand: usize,
    connections: Connections,
    duplicates: Duplicates,
    budget: Budget,
}

impl Flows {
    /// `capacity` is the number of flows remembered at a time, at least 1.
    pub fn new(bin_ns: i64, capacity: usize) -> Self {
        Flows {
            bin_ns,
            capacity: capacity.max(1),
            by_key: HashMap::new(),
            slots: Vec::new(),
            hand: 0,
            connections: Connections::default(),
            duplicates: Duplicates::default(),
            budget: Budget::default(),
        }
    }

    pub fn census(&self) -> Census {
        self.budget.census
    }

    /// One TCP segment.
    pub fn tcp(
        &mut self,
        sight: &Sight<'_>,
        segment: &wire_tcp::Segment<'_>,
        ledger: &mut Ledger,
    ) -> Followed {
        let header = &segment.header;
        let source = (sight.datagram.source, header.source_port);
        let destination = (sight.datagram.destination, header.destination_port);
        let key = Key::new(Protocol::Tcp, source, destination);
        // A pure ACK can rightly be the same as the last one; a segment that takes sequence
        // numbers cannot be within a round trip.
        let takes =
            segment.payload_length > 0 || header.flags & (wire_tcp::SYN | wire_tcp::FIN) != 0;
        if let Some((flow, sender)) = self.copy(sight, key, source, takes) {
            let window_bytes = flow.tcp.as_ref().and_then(|tcp| tcp.window_bytes(sender, header));
            return Followed { window_bytes, ..Followed::copy_in(flow.row.flow, sender) };
        }
        let known = self.by_key.get(&key).copied();
        let index = match known {
            None => self.open(key, source, destination, sight, ledger),
            Some(index) if self.is_restarted(index, source, header) => {
                self.restart(index, source, destination, sight, ledger)
            }
            Some(index) => index,
        };
        let Flows { slots, connections, budget, bin_ns, .. } = self;
        let Some(flow) = slots.get_mut(index) else { return Followed::default() };
        let sender = flow.sender(source);
        count(flow, sender, sight, segment.payload_length, *bin_ns, budget);
        let mut desk = Desk { moment: sight.moment, bin_ns: *bin_ns, budget, connections };
        tcp::segment(flow, sender, segment, &mut desk)
    }

    /// One UDP datagram.
    pub fn udp(
        &mut self,
        sight: &Sight<'_>,
        udp: &wire_udp::Datagram<'_>,
        ledger: &mut Ledger,
    ) -> Followed {
        let source = (sight.datagram.source, udp.source_port);
        let destination = (sight.datagram.destination, udp.destination_port);
        let key = Key::new(Protocol::Udp, source, destination);
        if let Some((flow, sender)) = self.copy(sight, key, source, false) {
            return Followed::copy_in(flow.row.flow, sender);
        }
        let index = match self.by_key.get(&key) {
            Some(&index) => index,
            None => self.open(key, source, destination, sight, ledger),
        };
        let Some(flow) = self.slots.get_mut(index) else { return Followed::default() };
        let sender = flow.sender(source);
        count(flow, sender, sight, udp.payload_length, self.bin_ns, &mut self.budget);
        // No number of UDP's own tells a datagram sent again from a new one.
        let bytes = u64::from(udp.payload_length);
        let way = &mut flow.ways[sender as usize];
        way.row.new_bytes += bytes;
        if let Some(bin) = way.open_bin(&mut flow.intervals) {
            bin.new_bytes += bytes;
        }
        let numbered = flow.streams[sender as usize].packet(udp.payload, sight.moment.time_ns);
        Followed { place: Some((flow.row.flow, sender)), numbered, ..Followed::default() }
    }

    /// Writes the rows of the flows that are still remembered, and puts all in order.
    pub fn finish(mut self, ledger: &mut Ledger) -> Census {
        for flow in std::mem::take(&mut self.slots) {
            self.close(flow, ledger);
        }
        ledger.of_flows_mut().flows.sort_unstable_by_key(|row| row.flow);
        // Both are in time order within a flow and direction, which a stable sort keeps.
        ledger.of_flows_mut().flow_directions.sort_by_key(|row| row.flow);
        ledger.of_flows_mut().flow_intervals.sort_by_key(|row| row.flow);
        ledger.of_flows_mut().tcp_retransmissions.sort_by_key(|row| row.flow);
        self.budget.census
    }

    /// The flow and sender of a packet that the capture holds twice. `certain`: no sender repeats such a
    /// packet at once; else only an equal IPv4 identification tells, or copies seen in the same flow.
    fn copy(
        &mut self,
        sight: &Sight<'_>,
        key: Key,
        source: Socket,
        certain: bool,
    ) -> Option<(&Flow, End)> {
        if !self.duplicates.is_copy_of(sight) {
            return None;
        }
        let flow = self.by_key.get(&key).and_then(|&index| self.slots.get_mut(index))?;
        let identified = sight.datagram.ip_id.is_some_and(|id| id != 0);
        if !(certain || identified || flow.row.duplicate_frames > 0) {
            return None;
        }
        flow.row.duplicate_frames += 1;
        flow.row.duplicate_frame.get_or_insert(sight.moment.frame);
        Some((flow, flow.sender(source)))
    }

    fn is_restarted(&self, index: usize, source: Socket, header: &wire_tcp::Header) -> bool {
        self.slots.get(index).is_some_and(|flow| {
            let sender = flow.sender(source);
            flow.tcp.as_ref().is_some_and(|tcp| tcp.is_restarted_by(sender, header, &flow.row))
        })
    }

    /// Gives a new flow a slot: a free one while there are any, else that of an idle flow.
    fn open(
        &mut self,
        key: Key,
        source: Socket,
        destination: Socket,
        sight: &Sight<'_>,
        ledger: &mut Ledger,
    ) -> usize {
        let flow = self.begin(key, source, destination, sight, None);
        let index = if self.slots.len() < self.capacity {
            self.slots.push(flow);
            self.slots.len() - 1
        } else {
            self.make_room(flow, ledger)
        };
        self.by_key.insert(key, index);
        index
    }

    /// Puts `flow` in the place of one that had no packet since the search last passed it.
    fn make_room(&mut self, flow: Flow, ledger: &mut Ledger) -> usize {
        // Every flow loses its mark when passed, so the second round finds one at the latest.
        loop {
            let index = self.hand % self.slots.len();
            self.hand = index + 1;
            let slot = &mut self.slots[index];
            if std::mem::take(&mut slot.recent) && slot.row.end == "open" {
                continue;
            }
            let mut old = std::mem::replace(slot, flow);
            self.by_key.remove(&old.key);
            if old.row.end == "open" {
                old.row.end = "idle";
            }
            self.budget.census.evicted += 1;
            self.close(old, ledger);
            return index;
        }
    }

    /// A new flow between the same sockets.
    fn restart(
        &mut self,
        index: usize,
        source: Socket,
        destination: Socket,
        sight: &Sight<'_>,
        ledger: &mut Ledger,
    ) -> usize {
        let key = Key::new(Protocol::Tcp, source, destination);
        let old = self.slots.get(index).map(|flow| flow.row.flow);
        let flow = self.begin(key, source, destination, sight, old);
        if let Some(slot) = self.slots.get_mut(index) {
            let mut old = std::mem::replace(slot, flow);
            if old.row.end == "open" {
                old.row.end = "restart";
            }
            self.close(old, ledger);
        }
        index
    }

    fn begin(
        &mut self,
        key: Key,
        source: Socket,
        destination: Socket,
        sight: &Sight<'_>,
        restart_of: Option<u32>,
    ) -> Flow {
        let number = self.budget.census.flows;
        self.budget.census.flows += 1;
        let tcp = (key.protocol == Protocol::Tcp).then(Tcp::default);
        // SYN ACK comes from the end that was called.
        let answers = tcp.is_some() && is_syn_ack(sight.datagram.bytes);
        let (a, b) = if answers { (destination, source) } else { (source, destination) };
        // Beyond four thousand million flows the numbers say no more than "later".
        let flow = u32::try_from(number).unwrap_or(u32::MAX);
        Flow {
            key,
            row: FlowRow {
                flow,
                protocol: key.protocol.name(),
                a_address: a.0,
                b_address: b.0,
                a_port: a.1,
                b_port: b.1,
                interface: sight.interface.map(str::to_string),
                start_ns: sight.moment.time_ns,
                start_frame: sight.moment.frame,
                end: "open",
                restart_of,
                ..FlowRow::default()
            },
            ways: [Way::new(flow, End::A), Way::new(flow, End::B)],
            intervals: Vec::new(),
            retransmissions: Vec::new(),
            tcp,
            streams: Default::default(),
            recent: true,
        }
    }

    /// Writes a flow's rows. When half the table is full, flows of a few packets are only counted:
    /// they are what a scan consists of.
    fn close(&mut self, mut flow: Flow, ledger: &mut Ledger) {
        if let Some(tcp) = flow.tcp.take() {
            self.budget.remembered(tcp.remembered(), 0);
            tcp.finish(&mut flow);
        }
        let listed = ledger.of_flows().flows.len();
        let small = flow.packets() < SMALL_FLOW_PACKETS && listed >= FLOW_ROWS / 2;
        if small || listed >= FLOW_ROWS {
            self.budget.census.unlisted += 1;
            self.budget.give_back(flow.intervals.len(), flow.retransmissions.len());
            return;
        }
        for (way, stream) in flow.ways.iter_mut().zip(&flow.streams) {
            stream.finish(&mut way.row);
        }
        ledger.of_flows_mut().flow_directions.extend(flow.ways.into_iter().filter_map(Way::finish));
        ledger.of_flows_mut().flow_intervals.append(&mut flow.intervals);
        ledger.of_flows_mut().tcp_retransmissions.append(&mut flow.retransmissions);
        ledger.of_flows_mut().flows.push(flow.row);
    }
}

fn is_syn_ack(bytes: &[u8]) -> bool {
    let both = wire_tcp::SYN | wire_tcp::ACK;
    bytes.get(13).is_some_and(|flags| flags & both == both)
}

/// Counts a packet in its flow, direction and bin.
fn count(
    flow: &mut Flow,
    sender: End,
    sight: &Sight<'_>,
    payload_bytes: u32,
    bin_ns: i64,
    budget: &mut Budget,
) {
    flow.recent = true;
    flow.row.end_ns = sight.moment.time_ns;
    flow.row.end_frame = sight.moment.frame;
    if sight.is_cut {
        flow.row.truncated_packets += 1;
        flow.row.truncated_frame.get_or_insert(sight.moment.frame);
    }
    let way = &mut flow.ways[sender as usize];
    way.packet(sight, payload_bytes);
    if let Some(bin) = way.bin(&mut flow.intervals, sight.moment.time_ns, bin_ns, budget) {
        bin.packets += 1;
        bin.wire_bytes += u64::from(sight.wire_bytes);
        bin.payload_bytes += u64::from(payload_bytes);
    }
}

#[cfg(test)]
mod tests;
