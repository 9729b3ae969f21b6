//! A few bytes become a capture: each event takes a route, a time and a packet out of a small
//! world, so that packets often belong together and the trackers have something to follow.
//!
//! Bytes are taken from the front only, one or two at a time, so that seeds can be written.

use arbitrary::{Result, Unstructured};

use crate::build::{Pcapng, Route, Sum, carried, ip, parameter, sctp, tlv};
use crate::segment::{address_parameter, datagram, icmp, segment};

const MILLISECOND: i64 = 1_000_000;
const SECOND: i64 = 1_000 * MILLISECOND;
const START_NS: i64 = 1_700_000_000 * SECOND;
/// Of the second interface's clock.
const EARLIEST_NS: i64 = -8_500_000_000 * SECOND;
/// TSNs begin shortly before they wrap.
const FIRST_TSN: u32 = 0xffff_ffc0;
const MOST_EVENTS: usize = 512;

/// What one event's packet was: the next may quote or repeat it.
#[derive(Default)]
struct Last {
    v6: bool,
    bytes: Vec<u8>,
}

/// Reads events until the bytes are used up; the capture of them is a pcapng file.
pub fn capture(input: &mut Unstructured<'_>) -> Vec<u8> {
    let mut file = Pcapng::default();
    let mut time_ns = START_NS;
    let mut last = Last::default();
    for _ in 0..MOST_EVENTS {
        // An event that the bytes do not complete is left out.
        if event(input, &mut file, &mut time_ns, &mut last).is_err() || input.is_empty() {
            break;
        }
    }
    file.bytes()
}

fn event(
    input: &mut Unstructured<'_>,
    file: &mut Pcapng,
    time_ns: &mut i64,
    last: &mut Last,
) -> Result<()> {
    *time_ns = step(*time_ns, input.arbitrary()?);
    let way: u8 = input.arbitrary()?;
    let from_b = way & 1 != 0;
    let (a, b) = (1 + (way >> 1 & 3), 5 + (way >> 3 & 3));
    let (source, destination) = if from_b { (b, a) } else { (a, b) };
    let route = Route { v6: way & 0x20 != 0, source, destination };
    let transport: u8 = input.arbitrary()?;
    let ports = ports(from_b, transport >> 4);
    let (protocol, payload) = match transport & 15 {
        0..=8 => carried(transport & 15 == 8, association(input, from_b, ports)?),
        9..=11 => (6, segment(input, ports)?),
        12 | 13 => (17, datagram(input, ports)?),
        14 => (if route.v6 { 58 } else { 1 }, icmp(input, route.v6, &last.bytes)?),
        _ => {
            let length = usize::from(input.arbitrary::<u8>()?);
            (input.arbitrary()?, input.bytes(length.min(input.len()))?.to_vec())
        }
    };
    // A frame captured twice, unless something is to be quoted.
    if way & 0x40 == 0 || last.bytes.is_empty() {
        let id = u16::from(input.arbitrary::<u8>().unwrap_or_default());
        *last = Last { v6: route.v6, bytes: ip(route, protocol, id, &payload) };
    }
    let missing = if way & 0x80 != 0 { input.arbitrary::<u8>()?.into() } else { 0 };
    let interface = u32::from(*time_ns < 0 || last.v6 && way & 0xc0 == 0xc0);
    let since = if interface == 0 { *time_ns } else { time_ns.saturating_sub(EARLIEST_NS) };
    file.packet(interface, since.cast_unsigned(), &last.bytes, missing);
    Ok(())
}

/// Most steps are milliseconds; a clock may be set, and a capture may be long.
fn step(time_ns: i64, step: u8) -> i64 {
    match step {
        0..200 => time_ns.saturating_add(i64::from(step) * MILLISECOND),
        200..230 => time_ns.saturating_add(i64::from(step - 199) * 10 * SECOND),
        230..245 => time_ns.saturating_sub(i64::from(step - 229) * SECOND),
        245..250 => EARLIEST_NS + i64::from(step),
        250..255 => i64::MAX - i64::from(step),
        255 => START_NS,
    }
}

fn ports(from_b: bool, which: u8) -> (u16, u16) {
    let (a, b) = match which & 7 {
        0..=4 => (1000, 2000),
        5 => (1000, 1000),
        6 => (2000, 3000),
        _ => (0, 2000),
    };
    if from_b { (b, a) } else { (a, b) }
}

/// An SCTP packet of one of a few associations.
fn association(input: &mut Unstructured<'_>, from_b: bool, ports: (u16, u16)) -> Result<Vec<u8>> {
    let how: u8 = input.arbitrary()?;
    let of = |end_b: bool| 0x1000 + u32::from(how >> 2 & 3) * 2 + u32::from(end_b);
    let tag = match how & 3 {
        0 | 1 => of(!from_b),
        2 => 0,
        _ => of(from_b),
    };
    let sum = match how >> 4 {
        0..=11 => Sum::Right,
        12 | 13 => Sum::Wrong,
        _ => Sum::Zero,
    };
    let mut chunks = Vec::new();
    for _ in 0..=input.arbitrary::<u8>()? % 4 {
        chunks.extend(chunk(input, of(from_b))?);
    }
    Ok(sctp(ports, tag, sum, &chunks))
}

fn tsn(input: &mut Unstructured<'_>) -> Result<u32> {
    Ok(match input.arbitrary::<u8>()? {
        far @ 252.. => FIRST_TSN.wrapping_add(u32::from(far - 251) << 29),
        near => FIRST_TSN.wrapping_add(u32::from(near)),
    })
}

fn chunk(input: &mut Unstructured<'_>, own_tag: u32) -> Result<Vec<u8>> {
    const OTHERS: [u8; 12] = [6, 7, 8, 9, 11, 12, 13, 14, 15, 130, 192, 194];
    let (what, flags): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
    let (kind, value) = match what % 20 {
        0..=4 => (0, [&tsn(input)?.to_be_bytes()[..], &[0, flags & 1, 0, 0, 0, 0, 0, 9]].concat()),
        5 => (64, [&tsn(input)?.to_be_bytes()[..], &[0; 12]].concat()),
        6..=9 => (if what & 0x80 == 0 { 3 } else { 16 }, sack(input, what & 0x80 != 0)?),
        10 | 11 => (1 + what % 2, init(input, own_tag)?),
        12 | 13 => (4 + what % 2, parameter(1, &[input.arbitrary::<u8>()? % 8; 8])),
        14 => (10, vec![1; 8]),
        15 => (193, asconf(input)?),
        16 => (128, asconf_ack(input)?),
        17 => {
            let kind = OTHERS[usize::from(flags) % OTHERS.len()];
            (kind, [&tsn(input)?.to_be_bytes()[..], &[0, 1, 0, 2]].concat())
        }
        18 => (OTHERS[usize::from(flags) % OTHERS.len()], Vec::new()),
        _ => {
            let length = usize::from(input.arbitrary::<u8>()? % 64);
            (input.arbitrary()?, input.bytes(length.min(input.len()))?.to_vec())
        }
    };
    let mut bytes = tlv([kind, flags], &value);
    if kind == 0 && flags & 0x10 != 0 {
        // User data, as the length says.
        bytes = tlv([kind, flags], &[value, vec![0; usize::from(flags)]].concat());
    }
    Ok(bytes)
}

fn sack(input: &mut Unstructured<'_>, non_renegable: bool) -> Result<Vec<u8>> {
    let cumulative = tsn(input)?;
    let counts: u8 = input.arbitrary()?;
    let (gaps, duplicates) = (counts & 3, counts >> 2 & 1);
    let mut value = [cumulative, 1000].map(u32::to_be_bytes).concat();
    value.extend([0, gaps, 0]);
    value.extend(if non_renegable { vec![0, 0, duplicates, 0, 0] } else { vec![duplicates] });
    for _ in 0..gaps {
        let (start, more): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
        value.extend([0, start, 0, start.wrapping_add(more % 8)]);
    }
    for _ in 0..duplicates {
        value.extend(tsn(input)?.to_be_bytes());
    }
    Ok(value)
}

fn init(input: &mut Unstructured<'_>, tag: u32) -> Result<Vec<u8>> {
    let mut value = [tag, 1000, 0x000a_000a, tsn(input)?].map(u32::to_be_bytes).concat();
    for _ in 0..input.arbitrary::<u8>()? % 4 {
        let which: u8 = input.arbitrary()?;
        let (kind, address) = address_parameter(which & 0x80 != 0, which & 7);
        value.extend(parameter(kind, &address));
    }
    Ok(value)
}

/// Serial number, address, and some requests for an address.
fn asconf(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut value = vec![0, 0, 0, input.arbitrary::<u8>()? % 8];
    let own: u8 = input.arbitrary()?;
    let (kind, address) = address_parameter(own & 0x80 != 0, own & 7);
    value.extend(parameter(kind, &address));
    for _ in 0..own >> 3 & 3 {
        let which: u8 = input.arbitrary()?;
        let (kind, address) = address_parameter(which & 0x80 != 0, which & 7);
        let request = 0xc001 + u16::from(which >> 3 & 3);
        value.extend(parameter(
            request,
            &[&[0, 0, 0, which][..], &parameter(kind, &address)].concat(),
        ));
    }
    Ok(value)
}

fn asconf_ack(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let mut value = vec![0, 0, 0, input.arbitrary::<u8>()? % 8];
    for _ in 0..input.arbitrary::<u8>()? % 3 {
        let which: u8 = input.arbitrary()?;
        let correlation = [0, 0, 0, which & 0x7f];
        if which & 0x80 == 0 {
            value.extend(parameter(0xc005, &correlation));
        } else {
            value.extend(parameter(0xc003, &[&correlation[..], &parameter(0xa0, &[])].concat()));
        }
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use pathscope_wire::container::CaptureSet;
    use pathscope_wire::ledger::Ledger;
    use pathscope_wire::pass::{Options, Pass};

    use super::*;
    use crate::records;

    fn ledger(seed: &[u8]) -> Ledger {
        let file = capture(&mut Unstructured::new(&seed[1..]));
        let capture = CaptureSet::from(records::open(&file, 4096, Some(0)).unwrap());
        let mut pass = Pass::over(capture, Options { flows: true, ..Options::default() });
        assert!(!pass.step(MOST_EVENTS + 1).unwrap());
        pass.finish().1.ledger
    }

    #[test]
    fn seeds_are_what_they_are_called() {
        let lossy = ledger(include_bytes!("../seeds/tracker/lossy"));
        assert_eq!((lossy.associations.len(), lossy.associations[0].seen_handshake), (1, true));
        assert_eq!(lossy.retransmissions.len(), 1);
        assert_eq!(lossy.retransmissions[0].cause, "fast");
        let handover = ledger(include_bytes!("../seeds/tracker/handover"));
        assert_eq!((handover.paths.len(), handover.runs.len()), (2, 2));
        assert!(handover.heartbeats[0].ack_ns.is_some());
        let asconf = ledger(include_bytes!("../seeds/tracker/asconf"));
        assert_eq!((asconf.asconf.len(), asconf.asconf[0].outcome), (1, "success"));
        assert_eq!(asconf.associations.len(), 2);
        let flows = ledger(include_bytes!("../seeds/tracker/flows"));
        assert_eq!((flows.of_flows().flows.len(), flows.of_flows().icmp.len()), (2, 1));
    }
}
