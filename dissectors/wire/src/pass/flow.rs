//! Frames of TCP, UDP and ICMP into the flow tracker.

use std::collections::BTreeMap;

use super::{Whole, reason, report};
use crate::container::Record;
use crate::icmp;
use crate::packet::Datagram;
use crate::problem::Problem;
use crate::track::flow::{Flows, Sight};
use crate::track::{Moment, Tracker};
use crate::{tcp, udp};

type Counts = BTreeMap<String, u64>;

pub(super) fn sight<'a>(datagram: &'a Datagram<'a>, record: &'a Record<'_>) -> Sight<'a> {
    Sight {
        moment: Moment { time_ns: record.time_ns, frame: record.frame },
        wire_bytes: record.wire_length,
        interface: record.interface_name,
        datagram,
    }
}

pub(super) fn tcp(
    flows: &mut Flows,
    tracker: &mut Tracker,
    problems: &mut Counts,
    sight: &Sight<'_>,
) -> Whole {
    match tcp::parse(sight.datagram.bytes, sight.datagram.length) {
        Ok(segment) => match flows.tcp(sight, &segment, &mut tracker.ledger) {
            None => Whole::Yes,
            Some(problem) => {
                say(tracker, problems, sight, problem);
                Whole::Partly
            }
        },
        Err(problem) => nothing(tracker, problems, sight, problem),
    }
}

pub(super) fn udp(
    flows: &mut Flows,
    tracker: &mut Tracker,
    problems: &mut Counts,
    sight: &Sight<'_>,
) -> Whole {
    match udp::parse(sight.datagram.bytes, sight.datagram.length) {
        Ok(datagram) => {
            flows.udp(sight, &datagram, &mut tracker.ledger);
            Whole::Yes
        }
        Err(problem) => nothing(tracker, problems, sight, problem),
    }
}

pub(super) fn icmp(
    flows: &mut Flows,
    tracker: &mut Tracker,
    problems: &mut Counts,
    sight: &Sight<'_>,
) -> Whole {
    let v6 = !sight.datagram.source.is_v4();
    let message = match icmp::parse(v6, sight.datagram.bytes, sight.datagram.length) {
        Ok(message) if message.is_error() => message,
        Ok(_) => return Whole::Yes,
        Err(problem) => return nothing(tracker, problems, sight, problem),
    };
    let quoted = message.quoted();
    let association = quoted.as_ref().ok().and_then(|quoted| tracker.quoted(quoted));
    flows.icmp(sight, &message, quoted.as_ref().ok(), association, &mut tracker.ledger);
    match quoted {
        Ok(_) => Whole::Yes,
        Err(problem) => {
            say(tracker, problems, sight, problem);
            Whole::Partly
        }
    }
}

fn nothing(
    tracker: &mut Tracker,
    problems: &mut Counts,
    sight: &Sight<'_>,
    problem: Problem,
) -> Whole {
    let reason = reason(&problem);
    say(tracker, problems, sight, problem);
    Whole::No(reason)
}

fn say(tracker: &mut Tracker, problems: &mut Counts, sight: &Sight<'_>, problem: Problem) {
    report(tracker, problems, &problem.at(sight.datagram.offset as usize), sight.moment);
}
