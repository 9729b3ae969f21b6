//! Frames of TCP, UDP and ICMP into the flow tracker.

use std::collections::BTreeMap;

use super::work::{Whole, reason, report};
use etherparse::{IpNumber, ip_number};

use crate::digest::Digests;
use crate::icmp;
use crate::ledger::Streamed;
use crate::problem::Problem;
use crate::rows::{datagram_row, segment_row, sighting_of_flow};
use crate::track::flow::{Flows, Followed, Sight};
use crate::track::{Moment, Tracker};
use crate::{tcp, udp};

/// Reads one packet of TCP, UDP or ICMP.
pub(super) struct FlowReader<'w> {
    pub flows: &'w mut Flows,
    pub tracker: &'w mut Tracker,
    pub problems: &'w mut BTreeMap<String, u64>,
    pub streamed: &'w mut Option<Streamed>,
    /// Of the packet, where somebody asks for them.
    pub digests: Option<Digests>,
}

impl FlowReader<'_> {
    pub fn tcp(&mut self, sight: &Sight<'_>) -> Whole {
        let segment = match tcp::parse(sight.datagram.bytes, sight.datagram.length) {
            Ok(segment) => segment,
            Err(problem) => return self.nothing(sight, problem),
        };
        let followed = self.flows.tcp(sight, &segment, &mut self.tracker.ledger);
        if let Some(Streamed::Segments(rows)) = self.streamed {
            rows.push(segment_row(sight, &segment, &followed));
        }
        self.sighting(ip_number::TCP, sight, &followed);
        match followed.problem {
            None => Whole::Yes,
            Some(problem) => {
                self.say(sight, problem);
                Whole::Partly
            }
        }
    }

    pub fn udp(&mut self, sight: &Sight<'_>) -> Whole {
        let datagram = match udp::parse(sight.datagram.bytes, sight.datagram.length) {
            Ok(datagram) => datagram,
            Err(problem) => return self.nothing(sight, problem),
        };
        let followed = self.flows.udp(sight, &datagram, &mut self.tracker.ledger);
        if let Some(Streamed::Datagrams(rows)) = self.streamed {
            rows.push(datagram_row(sight, &datagram, &followed));
        }
        self.sighting(ip_number::UDP, sight, &followed);
        Whole::Yes
    }

    pub fn icmp(&mut self, sight: &Sight<'_>) -> Whole {
        let v6 = !sight.datagram.source.is_v4();
        let message = match icmp::parse(v6, sight.datagram.bytes, sight.datagram.length) {
            Ok(message) if message.is_error() => message,
            Ok(_) => return Whole::Yes,
            Err(problem) => return self.nothing(sight, problem),
        };
        let quoted = message.quoted();
        let association = quoted.as_ref().ok().and_then(|quoted| self.tracker.quoted(quoted));
        let ledger = &mut self.tracker.ledger;
        self.flows.icmp(sight, &message, quoted.as_ref().ok(), association, ledger);
        match quoted {
            Ok(_) => Whole::Yes,
            Err(problem) => {
                self.say(sight, problem);
                Whole::Partly
            }
        }
    }

    fn sighting(&mut self, protocol: IpNumber, sight: &Sight<'_>, followed: &Followed) {
        if let (Some(digests), Some(Streamed::Sightings(rows))) = (self.digests, &mut self.streamed)
        {
            rows.extend(sighting_of_flow(protocol.0, sight, followed, &digests));
        }
    }

    fn nothing(&mut self, sight: &Sight<'_>, problem: Problem) -> Whole {
        let reason = reason(&problem);
        self.say(sight, problem);
        Whole::No(reason.into())
    }

    fn say(&mut self, sight: &Sight<'_>, problem: Problem) {
        let problem = problem.at(sight.datagram.offset as usize);
        let Moment { time_ns, frame } = sight.moment;
        report(self.tracker, self.problems, &problem, frame, Some(time_ns));
    }
}
