//! What the peer's ACKs say of what was sent: acknowledged, SACKed (RFC 2018),
//! received twice (RFC 2883), and the round trips they give (RFC 6298, RFC 7323).

use super::{Again, BEYOND_WINDOWS, REMEMBERED, Sender, Sent};
use crate::ledger::{FlowDirectionRow, TcpRetransmissionRow};
use crate::sctp::{Tsn, Unwrap};
use crate::tcp::Sack;

/// Acknowledged segments remembered, so that one sent again in vain still finds its first.
const HISTORY: usize = 8;

/// The ACK of the peer.
pub struct Acknowledgement<'a> {
    pub number: u32,
    pub sack: Option<Sack<'a>>,
    /// TSecr.
    pub echo: Option<u32>,
    /// Without payload, SYN and FIN.
    pub bare: bool,
    pub same_window: bool,
    pub time_ns: i64,
}

/// What an ACK turned out to say.
#[derive(Default)]
pub struct Acknowledged {
    pub bytes: u64,
    pub rtt_ns: Option<u64>,
    pub duplicate: bool,
}

impl Sender {
    /// Counts the peer's ACK in the sender's `row`.
    pub fn acknowledged(
        &mut self,
        ack: &Acknowledgement<'_>,
        row: &mut FlowDirectionRow,
        rows: &mut [TcpRetransmissionRow],
    ) -> Acknowledged {
        self.begin(ack.number);
        let Some(line) = self.line else { return Acknowledged::default() };
        let number = line.near(ack.number);
        if number > self.next {
            if number - self.next > BEYOND_WINDOWS {
                return Acknowledged::default();
            }
            // The capture has not all that arrived.
            self.advance(number, ack.number, 0);
        }
        self.heard_ns = Some(ack.time_ns);
        let mut found = Acknowledged::default();
        if number > self.floor {
            self.rise(number, ack, row, &mut found);
        } else if number == self.floor && ack.bare && self.floor < self.next {
            let reports = ack.sack.is_some_and(|sack| !only_dsack(sack, ack.number));
            if reports || (ack.sack.is_none() && ack.same_window) {
                self.duplicate_acks = self.duplicate_acks.saturating_add(1);
                found.duplicate = true;
            }
        }
        if let Some(sack) = ack.sack {
            self.selective(&line, sack, number, row, rows);
        }
        found
    }

    /// The cumulative acknowledgement rises to `number`.
    fn rise(
        &mut self,
        number: u64,
        ack: &Acknowledgement<'_>,
        row: &mut FlowDirectionRow,
        found: &mut Acknowledged,
    ) {
        let mut seen = 0;
        let mut newest: Option<i64> = None;
        let mut repeated = false;
        while let Some(front) = self.sent.front_mut()
            && front.start < number
        {
            if front.end > number {
                seen += number - front.start;
                front.start = number;
                break;
            }
            let Some(sent) = self.sent.pop_front() else { break };
            seen += sent.end - sent.start;
            repeated |= sent.count > 1;
            // What was SACKed before arrived before.
            if !self.is_sacked(&sent) {
                newest = Some(sent.first.time_ns);
            }
            if self.history.len() >= HISTORY {
                self.history.pop_front();
            }
            self.history.push_back(sent);
        }
        let units = number - self.floor;
        let fin = self.fin.is_some_and(|fin| self.floor < fin && fin <= number);
        found.bytes = units.saturating_sub(u64::from(fin));
        row.acked_bytes += found.bytes;
        row.unseen_bytes += units.saturating_sub(seen);
        // Karn's rule: an ACK that covers a repeated segment may be for either transmission.
        if let Some(first_ns) = newest.filter(|_| !repeated) {
            found.rtt_ns = self.rtt.sample(ack.time_ns.saturating_sub(first_ns));
        }
        self.echoed(ack);
        self.floor = number;
        self.duplicate_acks = 0;
        self.sacked.retain_mut(|stretch| {
            stretch.0 = stretch.0.max(number);
            stretch.0 < stretch.1
        });
        self.recovery = self.recovery.filter(|&(point, _)| number < point);
    }

    fn is_sacked(&self, sent: &Sent) -> bool {
        let index = self.sacked.partition_point(|&(_, end)| end <= sent.start);
        self.sacked.get(index).is_some_and(|&(start, _)| start <= sent.start)
    }

    /// RTT by the timestamps option: of ACKs of new data only (RFC 7323 section 4.1).
    fn echoed(&mut self, ack: &Acknowledgement<'_>) {
        let Some(echo) = ack.echo else { return };
        while let Some(&(value, sent_ns)) = self.timestamps.front()
            && !Tsn(echo).before(Tsn(value))
        {
            self.timestamps.pop_front();
            if value == echo {
                self.timestamp_rtt.sample(ack.time_ns.saturating_sub(sent_ns));
            }
        }
    }

    fn selective(
        &mut self,
        line: &Unwrap,
        sack: Sack<'_>,
        number: u64,
        row: &mut FlowDirectionRow,
        rows: &mut [TcpRetransmissionRow],
    ) {
        let place = |(left, right): (u32, u32)| (line.near(left), line.near(right));
        let second = sack.blocks().nth(1).map(place);
        for (index, (left, right)) in sack.blocks().map(place).enumerate() {
            if left >= right {
                continue;
            }
            let inside = second.is_some_and(|(from, to)| from <= left && right <= to);
            if index == 0 && (right <= number || inside) {
                self.arrived_twice(left, right, row, rows);
            } else if right <= self.next && left >= self.floor {
                self.insert_sacked(left, right);
            }
        }
    }

    /// RFC 2883: the receiver has these numbers twice, so one transmission was in vain.
    fn arrived_twice(
        &mut self,
        left: u64,
        right: u64,
        row: &mut FlowDirectionRow,
        rows: &mut [TcpRetransmissionRow],
    ) {
        let overlaps = |again: &Again| again.start < right && left < again.end;
        let Some(index) = self.again.iter().position(overlaps) else { return };
        let Some(again) = self.again.remove(index) else { return };
        row.spurious_retransmissions += 1;
        if let Some(row) = again.row.and_then(|index| rows.get_mut(index)) {
            row.spurious = true;
        }
    }

    fn insert_sacked(&mut self, left: u64, right: u64) {
        let from = self.sacked.partition_point(|&(_, end)| end < left);
        let to = self.sacked.partition_point(|&(start, _)| start <= right);
        let joined = self.sacked.get(from..to).unwrap_or_default();
        let (left, right) = joined
            .iter()
            .fold((left, right), |(left, right), &(start, end)| (left.min(start), right.max(end)));
        if from == to && self.sacked.len() >= REMEMBERED {
            return;
        }
        self.sacked.splice(from..to, [(left, right)]);
    }
}

/// Whether a SACK option reports nothing but a duplicate.
fn only_dsack(sack: Sack<'_>, number: u32) -> bool {
    let mut blocks = sack.blocks();
    match (blocks.next(), blocks.next()) {
        (Some((_, right)), None) => !Tsn(number).before(Tsn(right)),
        _ => false,
    }
}
