//! Packets on their way through the simulated network: where each waited, how
//! long links carried it, whether it arrived.

use hashbrown::HashMap;

use super::line::{Event, Line, Protocol, Socket};
use crate::address::Address;
use crate::ledger::{HopRow, LinkRow, RouteRow, Simulation, TransitRow};

/// Most rows of transits; the sums of hops and links go on.
const TRANSIT_ROWS: usize = 1_000_000;
/// Most packets on their way at a time, and most routes, hops and links. A trace beyond is followed no further.
const FLIGHTS: usize = 1 << 20;
const PLACES: usize = 1 << 20;

/// What an event was for its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Its source sends it: the first event of the packet.
    Sent,
    /// It is at its destination.
    Arrived,
    Between,
}

/// A packet between its source and its destination.
#[derive(Default)]
struct Flight {
    route: u32,
    /// Its row, if it has one.
    transit: Option<usize>,
    /// Rows of the link that it is on.
    hop: usize,
    link: usize,
    enqueued_ns: Option<i64>,
    dequeued_ns: Option<i64>,
    received_ns: Option<i64>,
}

#[derive(Default)]
pub struct Network {
    routes: HashMap<(Option<Protocol>, Socket, Socket), u32>,
    flights: HashMap<u64, Flight>,
    hops_by_link: HashMap<(u32, u32, u32), usize>,
    links_by_nodes: HashMap<(u32, u32), usize>,
    /// Whether agents tell of their packets: then theirs is the word on arrival.
    has_agents: bool,
    pub tables: Simulation,
    /// Packets without a row because the table was full.
    pub unlisted: u64,
    /// Packets first seen after their source had sent them.
    pub unsent: u64,
}

impl Network {
    /// What this line means for its packet; `None` beyond the limits.
    pub fn take(&mut self, line: &Line<'_>, has_data: bool, frame: u64) -> Option<Step> {
        if line.layer.is_some() {
            return self.take_wireless(line, has_data, frame);
        }
        match line.event {
            Event::Enqueued => self.enqueued(line, has_data, frame),
            Event::Dequeued => {
                let flight = self.flights.get_mut(&line.packet)?;
                flight.dequeued_ns = Some(line.time_ns);
                let since_ns = flight.enqueued_ns.unwrap_or(line.time_ns);
                let waited_ns = line.time_ns.saturating_sub(since_ns);
                if let Some(row) = self.tables.hops.get_mut(flight.hop) {
                    add(&mut row.queueing_sum_ns, waited_ns);
                    row.queueing_max_ns = row.queueing_max_ns.max(waited_ns);
                }
                if let Some(row) = transit(&mut self.tables.transits, flight) {
                    add(&mut row.queueing_ns, waited_ns);
                }
                Some(Step::Between)
            }
            Event::Received => self.received(line, frame),
            Event::Dropped => {
                let flight = self.flights.remove(&line.packet)?;
                if let Some(row) = self.tables.hops.get_mut(flight.hop) {
                    row.dropped += 1;
                }
                if let Some(row) = self.tables.links.get_mut(flight.link) {
                    row.dropped += 1;
                }
                self.lost(&flight, line, frame);
                Some(Step::Between)
            }
            Event::Passed => Some(Step::Between),
        }
    }

    fn enqueued(&mut self, line: &Line<'_>, has_data: bool, frame: u64) -> Option<Step> {
        let is_new = !self.flights.contains_key(&line.packet);
        let step = if is_new && line.from == line.source.node { Step::Sent } else { Step::Between };
        if is_new {
            self.start(line, frame, (step == Step::Sent).then_some(has_data))?;
        }
        let route = self.flights.get(&line.packet)?.route;
        let (hop, link) = (self.hop(route, line)?, self.link(line)?);
        let flight = self.flights.get_mut(&line.packet)?;
        (flight.hop, flight.link) = (hop, link);
        flight.enqueued_ns = Some(line.time_ns);
        let received_ns = flight.received_ns.take();
        if let Some(row) = transit(&mut self.tables.transits, flight) {
            row.hops = row.hops.saturating_add(1);
            let since_ns = received_ns.unwrap_or(line.time_ns);
            add(&mut row.processing_ns, line.time_ns.saturating_sub(since_ns));
        }
        if let Some(row) = self.tables.hops.get_mut(hop) {
            row.packets += 1;
        }
        if let Some(row) = self.tables.links.get_mut(link) {
            row.packets += 1;
        }
        Some(step)
    }

    fn received(&mut self, line: &Line<'_>, frame: u64) -> Option<Step> {
        let flight = self.flights.get_mut(&line.packet)?;
        let took_ns = flight.dequeued_ns.take().map(|since| line.time_ns.saturating_sub(since));
        flight.received_ns = Some(line.time_ns);
        let row = transit(&mut self.tables.transits, flight);
        if let Some(took_ns) = took_ns {
            if let Some(row) = row {
                add(&mut row.link_ns, took_ns);
            }
            if let Some(row) = self.tables.hops.get_mut(flight.hop) {
                row.arrived += 1;
                row.arrived_bytes += u64::from(line.bytes);
                add(&mut row.link_sum_ns, took_ns);
            }
            if let Some(row) = self.tables.links.get_mut(flight.link) {
                carried(row, line.bytes, took_ns);
            }
        }
        if line.to != line.destination.node {
            return Some(Step::Between);
        }
        self.arrived(line, frame);
        Some(Step::Arrived)
    }

    /// A wireless node tells of what its layers do; which link carries a packet, it does not.
    fn take_wireless(&mut self, line: &Line<'_>, has_data: bool, frame: u64) -> Option<Step> {
        let at_agent = line.layer == Some(b"AGT");
        self.has_agents |= at_agent;
        let is_new = !self.flights.contains_key(&line.packet);
        if line.event == Event::Enqueued && is_new && line.from == line.source.node {
            self.start(line, frame, Some(has_data))?;
            return Some(Step::Sent);
        }
        let flight = self.flights.get(&line.packet)?;
        match line.event {
            Event::Received
                if line.to == line.destination.node
                    && (at_agent || (!self.has_agents && line.layer == Some(b"RTR"))) =>
            {
                self.arrived(line, frame);
                return Some(Step::Arrived);
            }
            // Not the last word: routing may send it again.
            Event::Dropped => {
                let transit = flight.transit;
                self.lost(&Flight { transit, ..Flight::default() }, line, frame);
            }
            _ => {}
        }
        Some(Step::Between)
    }

    /// `sent` is whether the packet has user data, if its source sends it here.
    fn start(&mut self, line: &Line<'_>, frame: u64, sent: Option<bool>) -> Option<()> {
        if self.flights.len() >= FLIGHTS {
            return None;
        }
        let route = self.route(line)?;
        let transits = &mut self.tables.transits;
        let mut transit = None;
        match sent {
            Some(has_data) if transits.len() < TRANSIT_ROWS => {
                transit = Some(transits.len());
                transits.push(TransitRow {
                    route,
                    packet: line.packet,
                    wire_bytes: line.bytes,
                    has_data,
                    frame,
                    sent_ns: line.time_ns,
                    ..TransitRow::default()
                });
            }
            Some(_) => self.unlisted += 1,
            None => self.unsent += 1,
        }
        self.flights.insert(line.packet, Flight { route, transit, ..Flight::default() });
        Some(())
    }

    fn arrived(&mut self, line: &Line<'_>, frame: u64) {
        let Some(flight) = self.flights.remove(&line.packet) else { return };
        if let Some(row) = transit(&mut self.tables.transits, &flight) {
            (row.arrival_frame, row.arrived_ns) = (Some(frame), Some(line.time_ns));
            (row.drop_frame, row.dropped_ns) = (None, None);
            (row.drop_from, row.drop_to) = (None, None);
        }
    }

    fn lost(&mut self, flight: &Flight, line: &Line<'_>, frame: u64) {
        if let Some(row) = transit(&mut self.tables.transits, flight) {
            (row.drop_frame, row.dropped_ns) = (Some(frame), Some(line.time_ns));
            row.drop_from = Some(Address::node(line.from));
            row.drop_to = line.layer.is_none().then(|| Address::node(line.to));
        }
    }

    fn route(&mut self, line: &Line<'_>) -> Option<u32> {
        let protocol = line.protocol();
        let key = (protocol, line.source, line.destination);
        if let Some(route) = self.routes.get(&key) {
            return Some(*route);
        }
        let rows = &mut self.tables.routes;
        if rows.len() >= PLACES {
            return None;
        }
        let route = u32::try_from(rows.len()).ok()?;
        rows.push(RouteRow {
            route,
            protocol: protocol.map(Protocol::name),
            packet_type: String::from_utf8_lossy(line.name).into_owned(),
            source: Address::node(line.source.node),
            source_port: line.source.port,
            destination: Address::node(line.destination.node),
            destination_port: line.destination.port,
            flow_id: line.flow,
        });
        self.routes.insert(key, route);
        Some(route)
    }

    fn hop(&mut self, route: u32, line: &Line<'_>) -> Option<usize> {
        let key = (route, line.from, line.to);
        if let Some(hop) = self.hops_by_link.get(&key) {
            return Some(*hop);
        }
        let rows = &mut self.tables.hops;
        if rows.len() >= PLACES {
            return None;
        }
        let (from, to) = (Address::node(line.from), Address::node(line.to));
        rows.push(HopRow { route, from, to, ..HopRow::default() });
        self.hops_by_link.insert(key, rows.len() - 1);
        Some(rows.len() - 1)
    }

    fn link(&mut self, line: &Line<'_>) -> Option<usize> {
        let key = (line.from, line.to);
        if let Some(link) = self.links_by_nodes.get(&key) {
            return Some(*link);
        }
        let rows = &mut self.tables.links;
        if rows.len() >= PLACES {
            return None;
        }
        let (from, to) = (Address::node(line.from), Address::node(line.to));
        rows.push(LinkRow { from, to, ..LinkRow::default() });
        self.links_by_nodes.insert(key, rows.len() - 1);
        Some(rows.len() - 1)
    }
}

fn transit<'t>(rows: &'t mut [TransitRow], flight: &Flight) -> Option<&'t mut TransitRow> {
    rows.get_mut(flight.transit?)
}

fn add(sum: &mut i64, more: i64) {
    *sum = sum.saturating_add(more);
}

/// The smallest and the largest packets of a link tell its rate and its delay.
fn carried(row: &mut LinkRow, bytes: u32, took_ns: i64) {
    if row.smallest_count == 0 || bytes < row.smallest_bytes {
        (row.smallest_bytes, row.smallest_count, row.smallest_sum_ns) = (bytes, 0, 0);
    }
    if bytes == row.smallest_bytes {
        row.smallest_count += 1;
        add(&mut row.smallest_sum_ns, took_ns);
    }
    if bytes > row.largest_bytes {
        (row.largest_bytes, row.largest_count, row.largest_sum_ns) = (bytes, 0, 0);
    }
    if bytes == row.largest_bytes {
        row.largest_count += 1;
        add(&mut row.largest_sum_ns, took_ns);
    }
}

impl Protocol {
    pub fn name(self) -> &'static str {
        match self {
            Protocol::Sctp => "sctp",
            Protocol::Tcp => "tcp",
            Protocol::Udp => "udp",
        }
    }
}
