//! One association: its ends, addresses and paths, and its chunks in order.

mod transfer;

use super::authentication::Authentication;
use super::control;
use super::message::Messages;
use super::oddity::{CLOCK_STEP_NS, kind, note};
use super::path::{Path, Place};
use super::sender::Sender;
use super::signal::{Heartbeats, Reconfigurations};
use super::{End, Key, Moment, Seen};
use crate::address::Address;
use crate::ledger::{AddressRow, AssociationRow, Ledger, PathRow, push};
use crate::problem::Problem;
use crate::sctp::asconf::Asconf;
use crate::sctp::setup::Init;
use crate::sctp::{Chunk, chunk, param};
use transfer::Receiver;

/// Most paths of one association: 32 by 32 addresses. More is an attack or a broken capture.
const PATHS: usize = 1024;
/// Most answers to one INIT remembered: a sender gives up after 8 retransmissions (RFC 9260 section 16).
const INIT_ACKS: usize = 16;

/// What a chunk turned out to be.
#[derive(Default)]
pub struct Outcome {
    /// Transmission number of a DATA chunk.
    pub transmission: Option<u32>,
    pub problem: Option<Problem>,
    /// The association ended with this chunk.
    pub ended: bool,
}

pub struct Association {
    pub number: u32,
    pub ports: [u16; 2],
    /// Tags and ports that lead here.
    pub keys: Vec<Key>,
    pub paths: Vec<Path>,
    pub senders: [Sender; 2],
    addresses: [Vec<(Address, usize)>; 2],
    heartbeats: Heartbeats,
    reconfigurations: Reconfigurations,
    messages: [Messages; 2],
    /// Each end as a receiver, once it was sent DATA or sent a SACK.
    receivers: [Option<Box<Receiver>>; 2],
    authentication: Authentication,
    last_path: usize,
    /// INIT, INIT ACK, COOKIE ECHO, COOKIE ACK seen.
    handshake: [bool; 4],
    /// Tag and first TSN of each INIT ACK before COOKIE ECHO.
    init_acks: Vec<(u32, u32)>,
    pub ended: bool,
    pub last_ns: i64,
    /// Time of the packet before, which the clock may have been set after.
    previous_ns: i64,
    bin_ns: i64,
}

impl Association {
    /// `ports` are those of a and b; the row's other facts follow as they are seen. `ledger` is
    /// the association's own.
    pub fn new(
        number: u32,
        ports: [u16; 2],
        bin_ns: i64,
        seen: &Seen<'_>,
        ledger: &mut Ledger,
    ) -> Self {
        ledger.associations = vec![AssociationRow {
            association: number,
            a_port: ports[0],
            b_port: ports[1],
            start_ns: seen.moment.time_ns,
            start_frame: seen.moment.frame,
            end_ns: seen.moment.time_ns,
            end_frame: seen.moment.frame,
            end: "open",
            ..Default::default()
        }];
        Association {
            number,
            ports,
            keys: Vec::new(),
            paths: Vec::new(),
            senders: [Sender::new(End::A), Sender::new(End::B)],
            addresses: Default::default(),
            heartbeats: Heartbeats::default(),
            reconfigurations: Reconfigurations::default(),
            messages: End::BOTH.map(|end| Messages::new(number, end)),
            receivers: Default::default(),
            authentication: Authentication::default(),
            last_path: 0,
            handshake: [false; 4],
            init_acks: Vec::new(),
            ended: false,
            last_ns: seen.moment.time_ns,
            previous_ns: seen.moment.time_ns,
            bin_ns,
        }
    }

    /// Notes that a way has shown a right checksum; true for the first time.
    pub fn prove(&mut self, at: &Place) -> bool {
        let way = &mut self.paths[at.path as usize].ways[at.sender as usize];
        !std::mem::replace(&mut way.proven, true)
    }

    /// Source and destination of every way that has shown a right checksum.
    pub fn proven(&self) -> impl Iterator<Item = (Address, Address)> + '_ {
        self.paths.iter().flat_map(|path| {
            let ends = [(path.a, path.b), (path.b, path.a)];
            ends.into_iter().zip(&path.ways).filter_map(|(ends, way)| way.proven.then_some(ends))
        })
    }

    /// The one row of its kind in an association's own ledger.
    pub fn row<'l>(&self, ledger: &'l mut Ledger) -> &'l mut AssociationRow {
        &mut ledger.associations[0]
    }

    pub fn has_address(&self, end: End, address: Address) -> bool {
        self.addresses[end as usize].iter().any(|&(known, _)| known == address)
    }

    pub fn addresses_of(&self, end: End) -> impl Iterator<Item = Address> + '_ {
        self.addresses[end as usize].iter().map(|&(address, _)| address)
    }

    /// COOKIE ECHO has not been sent: the peer's tag is not settled yet.
    pub fn is_being_set_up(&self) -> bool {
        self.handshake[0] && !self.handshake[2] && !self.ended
    }

    pub fn was_answered(&self) -> bool {
        !self.handshake[0] || self.handshake[1..].contains(&true)
    }

    fn learn(
        &mut self,
        end: End,
        address: Address,
        source: &'static str,
        at: Moment,
        ledger: &mut Ledger,
    ) {
        if address.is_wildcard()
            || self.has_address(end, address)
            || self.addresses[end as usize].len() >= PATHS
        {
            return;
        }
        let row = ledger.keep(AddressRow {
            association: self.number,
            endpoint: end.name(),
            address,
            source,
            first_ns: at.time_ns,
            first_frame: at.frame,
            left_ns: None,
            left_frame: None,
        });
        // An address without a row is no address: the ledger's numbers and the tracker's agree.
        if let Some(row) = row {
            push(&mut self.addresses[end as usize], (address, row));
        }
    }

    fn forget(&mut self, end: End, address: Address, at: Moment, ledger: &mut Ledger) {
        let known = &mut self.addresses[end as usize];
        if let Some(index) = known.iter().position(|&(known, _)| known == address) {
            let (_, row) = known.swap_remove(index);
            ledger.addresses[row].left_ns = Some(at.time_ns);
            ledger.addresses[row].left_frame = Some(at.frame);
        }
    }

    /// The path of a packet, made when it is the first there. None beyond the limit.
    fn path_of(&mut self, sender: End, seen: &Seen<'_>, ledger: &mut Ledger) -> Option<usize> {
        let (source, destination) = (seen.source, seen.destination);
        let (a, b) = match sender {
            End::A => (source, destination),
            End::B => (destination, source),
        };
        let is_it = |path: &Path| path.a == a && path.b == b;
        if self.paths.get(self.last_path).is_some_and(is_it) {
            return Some(self.last_path);
        }
        if let Some(index) = self.paths.iter().position(is_it) {
            self.last_path = index;
            return Some(index);
        }
        if self.paths.len() >= PATHS {
            return None;
        }
        self.learn(End::A, a, "packet", seen.moment, ledger);
        self.learn(End::B, b, "packet", seen.moment, ledger);
        let row = PathRow {
            association: self.number,
            path: self.paths.len() as u32,
            a_address: a,
            b_address: b,
            interface: seen.interface.map(str::to_string),
            first_ns: seen.moment.time_ns,
            first_frame: seen.moment.frame,
            last_ns: seen.moment.time_ns,
            last_frame: seen.moment.frame,
        };
        let row = ledger.keep_with(row, size_of::<Path>())?;
        push(&mut self.paths, Path::new(a, b, row));
        self.last_path = self.paths.len() - 1;
        Some(self.last_path)
    }

    /// Counts a packet. The place of its chunks; None when the association has too many paths.
    pub fn packet(
        &mut self,
        sender: End,
        seen: &Seen<'_>,
        first: Option<&Chunk<'_>>,
        ledger: &mut Ledger,
    ) -> Option<Place> {
        // INIT's own address list comes before its source address, which it implies.
        if let Some(first) = first
            && matches!(first.kind, chunk::INIT | chunk::INIT_ACK)
            && let Ok(init) = first.init()
        {
            self.addresses_of_init(sender, first.kind, &init, seen, ledger);
        }
        let path = self.path_of(sender, seen, ledger)?;
        self.last_ns = self.last_ns.max(seen.moment.time_ns);
        if self.previous_ns.saturating_sub(seen.moment.time_ns) > CLOCK_STEP_NS {
            note(kind::CLOCK_STEP, sender, Some(path as u32), seen.moment, ledger);
        }
        self.previous_ns = seen.moment.time_ns;
        let row = self.row(ledger);
        row.packets += 1;
        row.end_ns = row.end_ns.max(seen.moment.time_ns);
        row.end_frame = seen.moment.frame;
        let path_row = &mut ledger.paths[self.paths[path].row];
        path_row.last_ns = path_row.last_ns.max(seen.moment.time_ns);
        path_row.last_frame = seen.moment.frame;
        let place = Place {
            association: self.number,
            path: path as u32,
            sender,
            moment: seen.moment,
            wire_bytes: seen.wire_bytes,
            bin_ns: self.bin_ns,
        };
        let first_chunk = first.map_or("none", |first| chunk::name(first.kind));
        self.paths[path].ways[sender as usize].packet(&place, first_chunk, ledger);
        Some(place)
    }

    /// One chunk of a packet that [`Association::packet`] placed.
    pub fn chunk(
        &mut self,
        chunk: &Chunk<'_>,
        at: &Place,
        seen: &Seen<'_>,
        ledger: &mut Ledger,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        self.authentication.chunk(chunk, at, ledger);
        let result = match chunk.kind {
            chunk::DATA | chunk::I_DATA => {
                chunk.data().map(|data| self.data(&data, chunk.offset, at, ledger, &mut outcome))
            }
            chunk::SACK | chunk::NR_SACK => chunk.sack().map(|sack| {
                let a_rwnd = (!seen.is_simulated()).then_some(sack.a_rwnd);
                self.sack(&sack, a_rwnd, chunk.offset, at, ledger, &mut outcome);
            }),
            chunk::HEARTBEAT => {
                chunk.heartbeat_info().map(|info| self.heartbeats.sent(info, at, ledger))
            }
            chunk::HEARTBEAT_ACK => chunk
                .heartbeat_info()
                .map(|info| self.heartbeats.answered(info, at, &mut self.paths, ledger)),
            chunk::ASCONF => {
                chunk.asconf().map(|asconf| self.asconf(&asconf, at, seen, ledger, &mut outcome))
            }
            chunk::ASCONF_ACK => chunk.asconf_ack().map(|ack| {
                outcome.problem = ack.responses.clone().find_map(Result::err);
                let settled = self.reconfigurations.answered(&ack, at, ledger);
                self.apply(at, settled, ledger);
            }),
            _ => self.control(chunk, at, seen, ledger, &mut outcome),
        };
        if let Err(problem) = result {
            outcome.problem = Some(problem);
        }
        outcome
    }

    fn asconf(
        &mut self,
        asconf: &Asconf<'_>,
        at: &Place,
        seen: &Seen<'_>,
        ledger: &mut Ledger,
        outcome: &mut Outcome,
    ) {
        let source = seen.source;
        if let Err(problem) = self.reconfigurations.asked(asconf, source, at, ledger) {
            outcome.problem = Some(problem);
        }
        let deleted =
            asconf.requests.clone().flatten().filter(|r| r.kind == param::DELETE_IP_ADDRESS);
        for address in deleted.filter_map(|request| request.address) {
            let paths = self.paths.iter_mut().filter(|path| path.a == address || path.b == address);
            paths.flat_map(|path| &mut path.ways).for_each(|way| way.withdrawn = true);
        }
    }

    /// Acknowledged ADD and DELETE change the asker's address set.
    fn apply(&mut self, at: &Place, rows: Vec<usize>, ledger: &mut Ledger) {
        // The ASCONF-ACK comes from the other end.
        let asker = at.sender.other();
        for row in rows {
            let Some(row) = ledger.asconf.get(row) else { continue };
            let (Some(address), "success") = (row.address, row.outcome) else { continue };
            match row.request.as_str() {
                "add" => self.learn(asker, address, "asconf-add", at.moment, ledger),
                // A wildcard deletes all but the source of the ASCONF (RFC 5061 section 4.2.2).
                "delete" if address.is_wildcard() => {
                    let Some(path) = self.paths.get(row.path as usize) else { continue };
                    let source = if asker == End::A { path.a } else { path.b };
                    let others: Vec<_> =
                        self.addresses_of(asker).filter(|other| *other != source).collect();
                    for other in others {
                        self.forget(asker, other, at.moment, ledger);
                    }
                }
                "delete" => self.forget(asker, address, at.moment, ledger),
                _ => {}
            }
        }
    }

    fn addresses_of_init(
        &mut self,
        sender: End,
        kind: u8,
        init: &Init<'_>,
        seen: &Seen<'_>,
        ledger: &mut Ledger,
    ) {
        let source = if kind == chunk::INIT { "init" } else { "init-ack" };
        self.learn(sender, seen.source, source, seen.moment, ledger);
        for param in init.params.clone().flatten() {
            if let Some(address) = param.address() {
                self.learn(sender, address, source, seen.moment, ledger);
            }
        }
    }

    fn control(
        &mut self,
        chunk: &Chunk<'_>,
        at: &Place,
        seen: &Seen<'_>,
        ledger: &mut Ledger,
        outcome: &mut Outcome,
    ) -> Result<(), Problem> {
        match chunk.kind {
            chunk::INIT | chunk::INIT_ACK => {
                let init = chunk.init()?;
                let is_answer = chunk.kind == chunk::INIT_ACK;
                self.handshake[usize::from(is_answer)] = true;
                // Once a cookie was echoed, INIT ACK is discarded (RFC 9260 section 5.2.3).
                if seen.is_simulated() {
                    if !is_answer {
                        self.row(ledger).init_ns.get_or_insert(at.moment.time_ns);
                    }
                } else if !is_answer || !self.handshake[2] {
                    self.senders[at.sender as usize].starts_at(init.initial_tsn);
                    control::record_init(&init, chunk.kind, at, self.row(ledger));
                    self.authentication.init(&init, at, ledger);
                }
                let settles = is_answer && !seen.is_simulated();
                if settles && !self.handshake[2] && self.init_acks.len() < INIT_ACKS {
                    self.init_acks.push((init.tag, init.initial_tsn));
                }
            }
            chunk::COOKIE_ECHO => {
                self.handshake[2] = true;
                self.take_up(at.sender.other(), seen.header.verification_tag, ledger);
            }
            chunk::COOKIE_ACK => {
                self.handshake[3] = true;
                let complete = self.handshake == [true; 4];
                let row = self.row(ledger);
                row.seen_handshake |= complete;
                row.established_ns.get_or_insert(at.moment.time_ns);
                row.established_frame.get_or_insert(at.moment.frame);
            }
            chunk::FORWARD_TSN | chunk::I_FORWARD_TSN => {
                let forward = chunk.forward_tsn()?;
                let sender = &mut self.senders[at.sender as usize];
                sender.forward_tsn(&forward, at, ledger);
                self.messages[at.sender as usize].forward(&forward, sender, ledger);
            }
            chunk::SHUTDOWN => {
                // It acknowledges like a SACK without blocks (RFC 9260 section 9.2).
                let tsn = chunk.shutdown()?;
                let sender = &mut self.senders[at.sender.other() as usize];
                sender.acknowledged_to(tsn, at, &mut self.paths, ledger);
            }
            chunk::SHUTDOWN_COMPLETE => self.end("shutdown", outcome, ledger),
            chunk::SHUTDOWN_ACK if !self.ended => self.row(ledger).end = "shutdown",
            chunk::ABORT => self.end("abort", outcome, ledger),
            _ => {}
        }
        control::record(chunk, at, seen.is_simulated(), ledger)
    }

    /// A responder that keeps no state answers each INIT with another tag and TSN;
    /// COOKIE ECHO carries the tag of the answer that counts.
    fn take_up(&mut self, responder: End, tag: u32, ledger: &mut Ledger) {
        let Some(&(_, tsn)) = self.init_acks.iter().find(|(own, _)| *own == tag) else { return };
        self.senders[responder as usize].starts_at(tsn);
        let row = self.row(ledger);
        match responder {
            End::A => row.a_initial_tsn = Some(tsn),
            End::B => row.b_initial_tsn = Some(tsn),
        }
    }

    fn end(&mut self, how: &'static str, outcome: &mut Outcome, ledger: &mut Ledger) {
        if !self.ended {
            self.row(ledger).end = how;
        }
        self.ended = true;
        outcome.ended = true;
    }

    /// Summaries that are complete only when nothing more comes.
    pub fn finish(&mut self, ledger: &mut Ledger) {
        for (messages, sender) in self.messages.iter_mut().zip(&self.senders) {
            messages.finish(sender, ledger);
        }
        for end in End::BOTH {
            if let Some(receiver) = &mut self.receivers[end as usize] {
                receiver.acknowledging.finish(self.number, end, ledger);
            }
        }
        let unanswered = !self.was_answered();
        let row = self.row(ledger);
        if unanswered && row.end == "open" {
            row.end = "no-answer";
        }
        for (number, path) in self.paths.iter().enumerate() {
            for sender in End::BOTH {
                let way = &path.ways[sender as usize];
                let row =
                    |rtt: &super::rtt::Rtt, kind| rtt.row(self.number, number as u32, sender, kind);
                let rows = [row(&way.sack_rtt, "sack"), row(&way.heartbeat_rtt, "heartbeat")];
                for row in rows.into_iter().flatten() {
                    ledger.keep(row);
                }
            }
        }
    }
}
