//! Packets other than SCTP for a script: TCP segments with options, RTP, ICMP errors.

use arbitrary::{Result, Unstructured};

use crate::build::{Tcp, address, tcp, udp};

/// Sequence numbers begin shortly before they wrap.
const FIRST_SEQUENCE: u32 = 0xffff_fc00;

fn near(input: &mut Unstructured<'_>) -> Result<u32> {
    Ok(FIRST_SEQUENCE.wrapping_add(u32::from(input.arbitrary::<u16>()?) & 0xfff))
}

/// A segment between `ports`, from either side.
pub fn segment(input: &mut Unstructured<'_>, ports: (u16, u16)) -> Result<Vec<u8>> {
    let fields = Tcp {
        sequence: near(input)?,
        acknowledgement: near(input)?,
        flags: input.arbitrary()?,
        window: u16::from(input.arbitrary::<u8>()?),
    };
    let mut options = Vec::new();
    for _ in 0..input.arbitrary::<u8>()? % 4 {
        options.extend(option(input)?);
    }
    let payload = vec![0; usize::from(input.arbitrary::<u8>()?)];
    Ok(tcp(ports, fields, &options, &payload))
}

fn option(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let fixed = |kind: u8, value: &[u8]| {
        let length = u8::try_from(value.len() + 2).unwrap_or(u8::MAX);
        [&[kind, length], value].concat()
    };
    Ok(match input.arbitrary::<u8>()? % 8 {
        0 => fixed(2, &[5, 0xb4]),
        1 => fixed(3, &[input.arbitrary::<u8>()? & 15]),
        2 => fixed(4, &[]),
        3 => fixed(5, &[near(input)?, near(input)?].map(u32::to_be_bytes).concat()),
        4 => {
            let (value, echo): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
            fixed(8, &[0, 0, 0, value, 0, 0, 0, echo])
        }
        // MPTCP: the subtype, its flags, and as much as follows.
        5 | 6 => {
            let length = usize::from(input.arbitrary::<u8>()? % 27);
            fixed(30, input.bytes(length)?)
        }
        _ => vec![input.arbitrary()?, input.arbitrary()?],
    })
}

/// A datagram: RTP, D-ITG's header, or nothing that is known.
pub fn datagram(input: &mut Unstructured<'_>, ports: (u16, u16)) -> Result<Vec<u8>> {
    let number: u8 = input.arbitrary()?;
    let payload = match input.arbitrary::<u8>()? % 3 {
        0 => [&[0x80, 0, 0xff, number, 0, 0, number, 0, 0, 0, 0, 1][..], &[0; 20]].concat(),
        1 => [0, 1, u32::from(number), 7, 9].map(u32::to_be_bytes).concat()[4..].to_vec(),
        _ => vec![number; usize::from(number)],
    };
    Ok(udp(ports.0, ports.1, &payload))
}

/// An error, or any other message, that quotes the beginning of a packet.
pub fn icmp(input: &mut Unstructured<'_>, v6: bool, quoted: &[u8]) -> Result<Vec<u8>> {
    let (kind, code): (u8, u8) = (input.arbitrary()?, input.arbitrary()?);
    let kept = usize::from(input.arbitrary::<u8>()?).min(quoted.len());
    let kind = kind % if v6 { 5 } else { 13 };
    Ok([&[kind, code & 15, 0, 0, 0, 0, 5, 0][..], &quoted[..kept]].concat())
}

/// An IPv4 or IPv6 Address parameter's type and value.
pub fn address_parameter(v6: bool, number: u8) -> (u16, Vec<u8>) {
    (if v6 { 6 } else { 5 }, address(v6, number))
}
