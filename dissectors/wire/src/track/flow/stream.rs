//! Numbered datagrams: RTP (RFC 3550) and D-ITG, recognised by what several
//! packets in a row have in common, and what their numbers say of the way.

use crate::ledger::FlowDirectionRow;
use crate::sctp::Unwrap;
use crate::udp::{Ditg, Rtp};

/// Packets with one identifier and consecutive numbers that show a stream.
const IN_A_ROW: u32 = 8;
/// Packets after which a direction that has shown none is not looked at any more.
const PATIENCE: u32 = 64;
/// How far a D-ITG packet's sending time may go from the capture's between two packets.
const CLOCKS_APART_NS: i64 = 1_000_000_000;
/// Clock rates that a dynamic payload type is compared with.
const CLOCKS_HZ: [u32; 8] = [8_000, 11_025, 16_000, 22_050, 32_000, 44_100, 48_000, 90_000];
/// A measured rate must come this near to one of them.
const CLOCK_TOLERANCE: f64 = 0.05;
/// Least time over which a rate is measured.
const CLOCK_TIME_S: f64 = 0.5;

/// One direction of a UDP flow.
#[derive(Default)]
pub struct Stream {
    looked: u32,
    state: Option<Box<Candidates>>,
}

#[derive(Default)]
struct Candidates {
    rtp: Option<(Numbers, RtpClock)>,
    ditg: Option<(Numbers, DitgClock)>,
}

/// The number of a datagram whose stream has been recognised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbered {
    Rtp(Rtp),
    Ditg(Ditg),
}

impl Stream {
    /// Says what numbers this packet, once the stream has been recognised.
    pub fn packet(&mut self, payload: &[u8], time_ns: i64) -> Option<Numbered> {
        let shown = self.state.as_ref().is_some_and(|state| state.shown().is_some());
        if !shown {
            if self.looked >= PATIENCE {
                self.state = None;
                return None;
            }
            self.looked += 1;
        }
        let (rtp, ditg) = (Rtp::read(payload), Ditg::read(payload));
        if self.state.is_none() && rtp.is_none() && ditg.is_none() {
            return None;
        }
        let state = self.state.get_or_insert_default();
        let shown = state.shown();
        if shown != Some("d-itg")
            && let Some(rtp) = rtp
        {
            state.rtp(&rtp, time_ns);
        }
        if shown != Some("rtp")
            && let Some(ditg) = ditg
        {
            state.ditg(&ditg, time_ns);
        }
        state.numbered(rtp, ditg)
    }

    pub fn finish(&self, row: &mut FlowDirectionRow) {
        let Some(state) = &self.state else { return };
        let numbers = match (state.shown(), &state.rtp, &state.ditg) {
            (Some("rtp"), Some((numbers, clock)), _) => {
                let rate = clock.rate();
                row.payload_type = Some(clock.payload_type);
                row.clock_hz = rate;
                row.jitter_ns = rate.and_then(|rate| clock.jitter_ns(rate));
                numbers
            }
            (Some(_), _, Some((numbers, clock))) => {
                row.jitter_ns = Some(clock.jitter as u64);
                numbers
            }
            _ => return,
        };
        row.numbered_by = state.shown();
        row.stream = Some(numbers.id);
        row.numbered_packets = numbers.received;
        row.lost_packets = numbers.lost();
        row.reordered_packets = numbers.reordered;
        row.repeated_packets = numbers.repeated;
    }
}

impl Candidates {
    fn shown(&self) -> Option<&'static str> {
        if self.rtp.as_ref().is_some_and(|(numbers, _)| numbers.shown) {
            Some("rtp")
        } else if self.ditg.as_ref().is_some_and(|(numbers, _)| numbers.shown) {
            Some("d-itg")
        } else {
            None
        }
    }

    fn numbered(&self, rtp: Option<Rtp>, ditg: Option<Ditg>) -> Option<Numbered> {
        let has_shown = |numbers: &Numbers, id: u32| numbers.shown && numbers.id == id;
        match (&self.rtp, &self.ditg, rtp, ditg) {
            (Some((numbers, _)), _, Some(rtp), _) if has_shown(numbers, rtp.ssrc) => {
                Some(Numbered::Rtp(rtp))
            }
            (_, Some((numbers, _)), _, Some(ditg)) if has_shown(numbers, ditg.flow_id) => {
                Some(Numbered::Ditg(ditg))
            }
            _ => None,
        }
    }

    fn rtp(&mut self, rtp: &Rtp, time_ns: i64) {
        // The number's 16 bits at the top of 32 wrap where 32 bits do.
        let number = u32::from(rtp.sequence) << 16;
        match &mut self.rtp {
            Some((numbers, clock)) if numbers.takes(rtp.ssrc, number, 1 << 16) => {
                numbers.packet(number);
                clock.packet(rtp, time_ns);
            }
            Some((numbers, _)) if numbers.shown => {}
            slot => *slot = Some((Numbers::new(rtp.ssrc, number, 16), RtpClock::new(rtp, time_ns))),
        }
    }

    fn ditg(&mut self, ditg: &Ditg, time_ns: i64) {
        let clock = DitgClock { sent_ns: ditg.sent_ns, time_ns, jitter: 0.0 };
        match &mut self.ditg {
            Some((numbers, last))
                if numbers.takes(ditg.flow_id, ditg.sequence, 1)
                    && (numbers.shown || last.agrees(&clock)) =>
            {
                numbers.packet(ditg.sequence);
                last.packet(&clock);
            }
            Some((numbers, _)) if numbers.shown => {}
            slot => *slot = Some((Numbers::new(ditg.flow_id, ditg.sequence, 0), clock)),
        }
    }
}

/// The numbers of one stream on a line that does not wrap.
struct Numbers {
    id: u32,
    line: Unwrap,
    /// Bits by which the wire's number is shifted up.
    shift: u32,
    first: u64,
    highest: u64,
    last: u32,
    /// Bit n: number `highest - n` has arrived.
    arrived: u64,
    in_a_row: u32,
    shown: bool,
    received: u64,
    reordered: u64,
    repeated: u64,
}

impl Numbers {
    fn new(id: u32, number: u32, shift: u32) -> Self {
        let line = Unwrap::new(number);
        let first = line.highest() >> shift;
        Numbers {
            id,
            line,
            shift,
            first,
            highest: first,
            last: number,
            arrived: 1,
            in_a_row: 1,
            shown: false,
            received: 1,
            reordered: 0,
            repeated: 0,
        }
    }

    /// Whether a packet goes on with this stream: once that is shown, any packet with its
    /// identifier does.
    fn takes(&self, id: u32, number: u32, step: u32) -> bool {
        id == self.id && (self.shown || number == self.last.wrapping_add(step))
    }

    fn packet(&mut self, number: u32) {
        self.last = number;
        self.in_a_row = self.in_a_row.saturating_add(1);
        self.shown |= self.in_a_row >= IN_A_ROW;
        self.received += 1;
        let place = self.line.extend(number) >> self.shift;
        if place > self.highest {
            let step = u32::try_from(place - self.highest).unwrap_or(u32::MAX);
            self.arrived = self.arrived.checked_shl(step).unwrap_or(0) | 1;
            self.highest = place;
            return;
        }
        let back = u32::try_from(self.highest - place).unwrap_or(u32::MAX);
        // Older numbers than the bits reach count as reordered.
        let bit = 1_u64.checked_shl(back).unwrap_or(0);
        if self.arrived & bit != 0 {
            self.repeated += 1;
        } else {
            self.reordered += 1;
            self.arrived |= bit;
            self.first = self.first.min(place);
        }
    }

    fn lost(&self) -> u64 {
        let expected = self.highest.saturating_sub(self.first).saturating_add(1);
        expected.saturating_sub(self.received.saturating_sub(self.repeated))
    }
}

/// RTP's timestamps against the capture's time. The clock rate of a dynamic payload
/// type is only known at the end, so J is kept for every rate that it may be.
struct RtpClock {
    payload_type: u8,
    first_ns: i64,
    last_ns: i64,
    last: u32,
    elapsed: i64,
    /// In seconds, by rate.
    jitter: [f64; CLOCKS_HZ.len()],
}

impl RtpClock {
    fn new(rtp: &Rtp, time_ns: i64) -> Self {
        RtpClock {
            payload_type: rtp.payload_type,
            first_ns: time_ns,
            last_ns: time_ns,
            last: rtp.timestamp,
            elapsed: 0,
            jitter: [0.0; CLOCKS_HZ.len()],
        }
    }

    fn packet(&mut self, rtp: &Rtp, time_ns: i64) {
        // The sign is the point: packets may come out of order.
        let units = i64::from(rtp.timestamp.wrapping_sub(self.last) as i32);
        let arrival = time_ns.saturating_sub(self.last_ns) as f64 / 1e9;
        for (jitter, rate) in self.jitter.iter_mut().zip(CLOCKS_HZ) {
            let difference = arrival - units as f64 / f64::from(rate);
            *jitter += (difference.abs() - *jitter) / 16.0;
        }
        self.elapsed = self.elapsed.saturating_add(units);
        (self.last, self.last_ns) = (rtp.timestamp, time_ns);
    }

    fn rate(&self) -> Option<u32> {
        Rtp::clock_hz(self.payload_type).or_else(|| {
            let seconds = self.last_ns.saturating_sub(self.first_ns) as f64 / 1e9;
            let measured = self.elapsed as f64 / seconds;
            let near = |rate: &u32| (measured / f64::from(*rate) - 1.0).abs() <= CLOCK_TOLERANCE;
            CLOCKS_HZ.into_iter().find(|rate| seconds >= CLOCK_TIME_S && near(rate))
        })
    }

    fn jitter_ns(&self, rate: u32) -> Option<u64> {
        let index = CLOCKS_HZ.iter().position(|&known| known == rate)?;
        self.jitter.get(index).map(|seconds| (seconds * 1e9).round() as u64)
    }
}

/// D-ITG's sending times against the capture's time, in nanoseconds.
struct DitgClock {
    sent_ns: i64,
    time_ns: i64,
    jitter: f64,
}

impl DitgClock {
    /// Whether the sender's clock went on as the capture's did.
    fn agrees(&self, next: &DitgClock) -> bool {
        self.difference(next).saturating_abs() < CLOCKS_APART_NS && next.sent_ns >= self.sent_ns
    }

    fn difference(&self, next: &DitgClock) -> i64 {
        let arrival = next.time_ns.saturating_sub(self.time_ns);
        arrival.saturating_sub(next.sent_ns.saturating_sub(self.sent_ns))
    }

    fn packet(&mut self, next: &DitgClock) {
        let difference = self.difference(next).saturating_abs() as f64;
        self.jitter += (difference - self.jitter) / 16.0;
        (self.sent_ns, self.time_ns) = (next.sent_ns, next.time_ns);
    }
}
