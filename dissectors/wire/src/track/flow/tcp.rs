//! One TCP connection or MPTCP subflow: handshake, windows, end (RFC 9293);
//! what is outstanding is the work of its two [`Sender`]s.

use super::sender::{Acknowledgement, Sender, Sending};
use super::{Desk, Flow, Followed};
use crate::ledger::FlowRow;
use crate::problem::Problem;
use crate::tcp::option::MAXIMUM_SHIFT;
use crate::tcp::{ACK, FIN, Header, Mptcp, Opt, RST, SYN, Sack, Segment, mptcp};
use crate::track::{End, Moment};

#[derive(Default)]
pub struct Tcp {
    /// By end.
    senders: [Sender; 2],
    windows: [Window; 2],
    syn: Handshake,
    syn_ack: Handshake,
    acked_ns: Option<i64>,
    /// Who sent a FIN.
    fin: [bool; 2],
}

/// SYN or SYN ACK.
#[derive(Default)]
struct Handshake {
    first_ns: Option<i64>,
    sequence: u32,
    count: u32,
}

impl Handshake {
    fn seen(&mut self, sequence: u32, time_ns: i64) {
        if self.first_ns.is_none() {
            (self.first_ns, self.sequence) = (Some(time_ns), sequence);
        }
        self.count += 1;
    }

    /// When it was sent, if it was sent once (Karn's rule).
    fn once_ns(&self) -> Option<i64> {
        self.first_ns.filter(|_| self.count == 1)
    }
}

/// The receive window that an end advertises.
#[derive(Default)]
struct Window {
    /// Announced by the end's own SYN.
    shift: Option<u8>,
    closed_ns: Option<i64>,
    last: u16,
}

/// What the options of one segment say.
#[derive(Default)]
struct Said<'a> {
    mss: Option<u16>,
    shift: Option<u8>,
    sack_permitted: bool,
    sack: Option<Sack<'a>>,
    /// TSval and TSecr.
    timestamps: Option<(u32, u32)>,
}

impl Tcp {
    /// Segments held in memory.
    pub fn remembered(&self) -> usize {
        self.senders.iter().map(Sender::remembered).sum()
    }

    /// Whether `header` begins a new connection between the sockets of this one: a SYN with
    /// another initial sequence number than the one this connection began with.
    pub fn is_restarted_by(&self, sender: End, header: &Header, row: &FlowRow) -> bool {
        if !header.has(SYN) || header.flags & (ACK | RST) != 0 {
            return false;
        }
        match (sender, self.syn.first_ns) {
            (End::A, Some(_)) => header.sequence != self.syn.sequence,
            // Both ends may open at once (RFC 9293 section 3.5), but not after the end.
            (End::B, Some(_)) => self.syn_ack.first_ns.is_some() || row.end != "open",
            // The capture began in the middle of the old connection.
            (_, None) => true,
        }
    }

    /// Whether both ends scale, as far as the capture shows: then the shifts hold.
    fn shift_of(&self, end: End) -> Option<u8> {
        if self.syn.first_ns.is_none() || self.syn_ack.first_ns.is_none() {
            return None;
        }
        let [a, b] = [self.windows[0].shift, self.windows[1].shift];
        Some(match (a, b, end) {
            (Some(shift), Some(_), End::A) | (Some(_), Some(shift), End::B) => shift,
            _ => 0,
        })
    }

    /// The window that a segment advertises: scaled, but for SYN's (RFC 7323 section 2.2).
    pub fn window_bytes(&self, sender: End, header: &Header) -> Option<u32> {
        let shift = if header.has(SYN) { 0 } else { self.shift_of(sender)? };
        Some(u32::from(header.window) << shift)
    }

    /// The whole round trip: of the handshake, else of the two directions' smoothed samples,
    /// each of which goes from the capture to one end and back.
    fn round_trip_ns(&self) -> Option<i64> {
        let handshake = || Some(self.acked_ns?.saturating_sub(self.syn.once_ns()?));
        let halves = self.senders.iter().filter_map(|sender| sender.rtt.smoothed());
        halves.reduce(i64::saturating_add).or_else(handshake)
    }

    fn handshake(&mut self, sender: End, header: &Header, row: &mut FlowRow, now: Moment) {
        let time_ns = now.time_ns;
        let (syn, ack) = (header.has(SYN), header.has(ACK));
        match (syn, ack) {
            (true, false) => self.syn.seen(header.sequence, time_ns),
            (true, true) => {
                self.syn_ack.seen(header.sequence, time_ns);
                if let (Some(sent_ns), 1) = (self.syn.once_ns(), self.syn_ack.count) {
                    row.syn_rtt_ns = u64::try_from(time_ns.saturating_sub(sent_ns)).ok();
                }
            }
            (false, true)
                if sender == End::A
                    && self.acked_ns.is_none()
                    && self.syn_ack.first_ns.is_some()
                    && header.acknowledgement == self.syn_ack.sequence.wrapping_add(1) =>
            {
                self.acked_ns = Some(time_ns);
                row.seen_handshake = self.syn.first_ns.is_some();
                (row.established_ns, row.established_frame) = (Some(time_ns), Some(now.frame));
                let since =
                    |sent_ns: Option<i64>| u64::try_from(time_ns.saturating_sub(sent_ns?)).ok();
                row.syn_ack_rtt_ns = since(self.syn_ack.once_ns());
                row.handshake_rtt_ns =
                    since(self.syn.once_ns().filter(|_| self.syn_ack.count == 1));
            }
            _ => {}
        }
        if syn && self.syn.count > 1 {
            row.syn_rtt_ns = None;
        }
    }

    fn ended(&mut self, sender: End, header: &Header, row: &mut FlowRow, now: Moment) {
        let closed = (Some(now.time_ns), Some(now.frame));
        if header.has(RST) {
            if matches!(row.end, "open" | "half-closed") {
                (row.end, row.ended_by) = ("rst", Some(sender.name()));
                (row.closed_ns, row.closed_frame) = closed;
            }
        } else if header.has(FIN) && row.end != "rst" {
            self.fin[sender as usize] = true;
            if row.ended_by.is_none() {
                row.ended_by = Some(sender.name());
                (row.closed_ns, row.closed_frame) = closed;
            }
            row.end = if self.fin == [true; 2] { "fin" } else { "half-closed" };
        }
    }

    /// Writes what only the end of the flow tells.
    pub fn finish(self, flow: &mut Flow) {
        let end_ns = flow.row.end_ns;
        for ((sender, window), way) in
            self.senders.into_iter().zip(self.windows).zip(&mut flow.ways)
        {
            let row = &mut way.row;
            if let Some(closed_ns) = window.closed_ns {
                row.zero_window_ns += length(closed_ns, end_ns);
            }
            row.rtt_count = sender.rtt.count;
            row.rtt_min_ns = sender.rtt.min();
            row.rtt_mean_ns = sender.rtt.mean();
            row.rtt_sd_ns = sender.rtt.sd();
            row.rtt_max_ns = sender.rtt.max();
            row.timestamp_rtt_count = sender.timestamp_rtt.count;
            row.timestamp_rtt_min_ns = sender.timestamp_rtt.min();
            row.timestamp_rtt_mean_ns = sender.timestamp_rtt.mean();
            row.timestamp_rtt_max_ns = sender.timestamp_rtt.max();
        }
    }
}

/// From `from_ns` to `to_ns`; 0 when the clock stepped back.
fn length(from_ns: i64, to_ns: i64) -> u64 {
    u64::try_from(to_ns.saturating_sub(from_ns)).unwrap_or(0)
}

/// Reads one segment into its flow.
pub fn segment(
    flow: &mut Flow,
    sender: End,
    segment: &Segment<'_>,
    desk: &mut Desk<'_>,
) -> Followed {
    let mut followed = Followed { place: Some((flow.row.flow, sender)), ..Followed::default() };
    let Some(mut tcp) = flow.tcp.take() else { return followed };
    let header = &segment.header;
    let (said, problem) = options(flow, sender, segment, desk);
    followed.problem = problem;
    let before = tcp.remembered();
    announce(&mut tcp, flow, sender, header, &said);
    tcp.handshake(sender, header, &mut flow.row, desk.moment);
    if header.has(RST) {
        // What an RST carries is no data, and its numbers may be anything (RFC 9293 section 3.5.2).
        tcp.ended(sender, header, &mut flow.row, desk.moment);
    } else {
        followed.sent_as = transmit(&mut tcp, flow, sender, segment, &said, desk);
        if header.has(ACK) {
            acknowledge(&mut tcp, flow, sender, segment, &said, desk);
        }
        tcp.ended(sender, header, &mut flow.row, desk.moment);
        window(&mut tcp, flow, sender, header, desk);
    }
    followed.window_bytes = tcp.window_bytes(sender, header);
    desk.budget.remembered(before, tcp.remembered());
    flow.tcp = Some(tcp);
    followed
}

fn options<'a>(
    flow: &mut Flow,
    sender: End,
    segment: &Segment<'a>,
    desk: &mut Desk<'_>,
) -> (Said<'a>, Option<Problem>) {
    let mut said = Said::default();
    let mut problem = None;
    for option in segment.options.clone() {
        match option {
            Ok(Opt::MaximumSegmentSize(mss)) => said.mss = Some(mss),
            Ok(Opt::WindowScale(shift)) => said.shift = Some(shift.min(MAXIMUM_SHIFT)),
            Ok(Opt::SackPermitted) => said.sack_permitted = true,
            Ok(Opt::Sack(sack)) => said.sack = Some(sack),
            Ok(Opt::Timestamps { value, echo }) => said.timestamps = Some((value, echo)),
            Ok(Opt::Multipath(option)) => multipath(flow, sender, &segment.header, &option, desk),
            Ok(Opt::Other { .. }) => {}
            Err(found) => problem = problem.or(Some(found)),
        }
    }
    (said, problem)
}

fn multipath(
    flow: &mut Flow,
    sender: End,
    header: &Header,
    option: &Mptcp<'_>,
    desk: &mut Desk<'_>,
) {
    if let Mptcp::Reset { reason, .. } = option
        && header.has(RST)
    {
        flow.row.reset_reason = Some(mptcp::reset_reason(*reason));
    }
    desk.connections.option(flow, sender, header, option);
}

fn announce(tcp: &mut Tcp, flow: &mut Flow, sender: End, header: &Header, said: &Said<'_>) {
    let row = &mut flow.ways[sender as usize].row;
    row.timestamps |= said.timestamps.is_some();
    if header.has(SYN) {
        row.mss = said.mss.or(row.mss);
        row.window_scale = said.shift.or(row.window_scale);
        row.sack_permitted |= said.sack_permitted;
        let window = &mut tcp.windows[sender as usize];
        window.shift = said.shift.or(window.shift);
    }
}

fn transmit(
    tcp: &mut Tcp,
    flow: &mut Flow,
    sender: End,
    segment: &Segment<'_>,
    said: &Said<'_>,
    desk: &mut Desk<'_>,
) -> Option<&'static str> {
    let header = &segment.header;
    let count = if header.has(ACK) { tcp.syn_ack.count } else { tcp.syn.count };
    let sending = Sending {
        sequence: header.sequence,
        length: segment.payload_length,
        syn: header.has(SYN),
        syn_again: header.has(SYN) && count > 1,
        fin: header.has(FIN),
        timestamp: said.timestamps.map(|(value, _)| value),
        into_zero_window: tcp.windows[sender.other() as usize].closed_ns.is_some(),
        round_trip_ns: tcp.round_trip_ns(),
        moment: desk.moment,
    };
    let way = &mut flow.ways[sender as usize];
    if sending.length > 0 || sending.syn || sending.fin {
        way.row.segments += 1;
    }
    let retransmissions = &mut flow.retransmissions;
    let sender = &mut tcp.senders[sender as usize];
    let sent = sender.send(&sending, &mut way.row, retransmissions, desk.budget);
    if let Some(bin) = way.open_bin(&mut flow.intervals) {
        bin.new_bytes += sent.new_bytes;
        bin.retransmitted_bytes += sent.retransmitted_bytes;
        bin.flight_max_bytes = bin.flight_max_bytes.max(sender.flight());
    }
    way.row.flight_max_bytes = way.row.flight_max_bytes.max(sender.flight());
    sent.sent_as
}

/// The ACK that `sender` sent, for what the other end sent.
fn acknowledge(
    tcp: &mut Tcp,
    flow: &mut Flow,
    sender: End,
    segment: &Segment<'_>,
    said: &Said<'_>,
    desk: &mut Desk<'_>,
) {
    let header = &segment.header;
    let window = &mut tcp.windows[sender as usize];
    let ack = Acknowledgement {
        number: header.acknowledgement,
        sack: said.sack,
        echo: said.timestamps.map(|(_, echo)| echo),
        bare: segment.payload_length == 0 && header.flags & (SYN | FIN) == 0,
        same_window: header.window == window.last,
        time_ns: desk.moment.time_ns,
    };
    window.last = header.window;
    let [a, b] = &mut flow.ways;
    let (own, other) = match sender {
        End::A => (a, b),
        End::B => (b, a),
    };
    let peer = &mut tcp.senders[sender.other() as usize];
    let found = peer.acknowledged(&ack, &mut other.row, &mut flow.retransmissions);
    own.row.duplicate_acks += u64::from(found.duplicate);
    if found.bytes == 0 && found.rtt_ns.is_none() {
        return;
    }
    let time_ns = desk.moment.time_ns;
    if let Some(bin) = other.bin(&mut flow.intervals, time_ns, desk.bin_ns, desk.budget) {
        bin.acked_bytes += found.bytes;
        if let Some(rtt_ns) = found.rtt_ns {
            bin.rtt_count += 1;
            bin.rtt_sum_ns += rtt_ns;
            bin.rtt_min_ns = Some(bin.rtt_min_ns.map_or(rtt_ns, |min| min.min(rtt_ns)));
            bin.rtt_max_ns = Some(bin.rtt_max_ns.map_or(rtt_ns, |max| max.max(rtt_ns)));
        }
    }
}

fn window(tcp: &mut Tcp, flow: &mut Flow, sender: End, header: &Header, desk: &mut Desk<'_>) {
    if header.has(SYN) || !header.has(ACK) {
        return;
    }
    let bytes = tcp.window_bytes(sender, header);
    let window = &mut tcp.windows[sender as usize];
    let way = &mut flow.ways[sender as usize];
    let time_ns = desk.moment.time_ns;
    match (header.window, window.closed_ns) {
        (0, None) => {
            window.closed_ns = Some(time_ns);
            way.row.zero_windows += 1;
            way.row.zero_window_frame = way.row.zero_window_frame.or(Some(desk.moment.frame));
        }
        (0, Some(_)) | (_, None) => {}
        (_, Some(closed_ns)) => {
            window.closed_ns = None;
            way.row.zero_window_ns += length(closed_ns, time_ns);
        }
    }
    let Some(bytes) = bytes else { return };
    let least = |least: Option<u32>| Some(least.map_or(bytes, |least| least.min(bytes)));
    let row = &mut way.row;
    row.window_min_bytes = least(row.window_min_bytes);
    row.window_max_bytes = Some(row.window_max_bytes.map_or(bytes, |most| most.max(bytes)));
    if let Some(bin) = way.open_bin(&mut flow.intervals) {
        bin.window_min_bytes = least(bin.window_min_bytes);
    }
}
