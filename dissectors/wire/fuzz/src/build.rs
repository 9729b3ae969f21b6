//! Packets and a capture of them, written out field by field.

/// One of eight addresses of a family: the last byte tells them apart.
#[derive(Clone, Copy)]
pub struct Route {
    pub v6: bool,
    pub source: u8,
    pub destination: u8,
}

const SCTP: u8 = 132;
const SCTP_TUNNELING: u16 = 9899;

fn length(bytes: &[u8]) -> [u8; 2] {
    u16::try_from(bytes.len()).unwrap_or(u16::MAX).to_be_bytes()
}

/// An IP packet; `id` is the identification, in IPv4 only.
pub fn ip(route: Route, protocol: u8, id: u16, payload: &[u8]) -> Vec<u8> {
    if route.v6 {
        let [high, low] = length(payload);
        let mut bytes = vec![0x60, 0, 0, 0, high, low, protocol, 64];
        bytes.extend(address(true, route.source));
        bytes.extend(address(true, route.destination));
        bytes.extend_from_slice(payload);
        return bytes;
    }
    let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
    bytes[4..6].copy_from_slice(&id.to_be_bytes());
    bytes.extend(address(false, route.source));
    bytes.extend(address(false, route.destination));
    bytes.extend_from_slice(payload);
    let total = length(&bytes);
    bytes[2..4].copy_from_slice(&total);
    bytes
}

/// 10.0.0.`number`, or 2001:db8::`number`.
pub fn address(v6: bool, number: u8) -> Vec<u8> {
    if v6 {
        [&[0x20, 1, 0x0d, 0xb8][..], &[0; 11], &[number]].concat()
    } else {
        vec![10, 0, 0, number]
    }
}

pub fn udp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len() + 8).unwrap_or(u16::MAX);
    let header = [source, destination, length, 0].map(u16::to_be_bytes).concat();
    [&header, payload].concat()
}

pub fn tcp(ports: (u16, u16), fields: Tcp, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let mut options = options.to_vec();
    options.truncate(40);
    options.resize(options.len().next_multiple_of(4), 0);
    let words = u8::try_from(5 + options.len() / 4).unwrap_or(15);
    let mut bytes = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
    bytes.extend(fields.sequence.to_be_bytes());
    bytes.extend(fields.acknowledgement.to_be_bytes());
    bytes.extend([words << 4, fields.flags]);
    bytes.extend(fields.window.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend(options);
    bytes.extend_from_slice(payload);
    bytes
}

#[derive(Clone, Copy)]
pub struct Tcp {
    pub sequence: u32,
    pub acknowledgement: u32,
    pub flags: u8,
    pub window: u16,
}

/// What an SCTP packet's checksum field holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    Right,
    Zero,
    Wrong,
}

pub fn sctp(ports: (u16, u16), tag: u32, sum: Sum, chunks: &[u8]) -> Vec<u8> {
    let mut bytes = [ports.0.to_be_bytes(), ports.1.to_be_bytes()].concat();
    bytes.extend(tag.to_be_bytes());
    bytes.extend([0; 4]);
    bytes.extend_from_slice(chunks);
    let field = match sum {
        Sum::Right => crc_fast::crc32_iscsi(&bytes),
        Sum::Zero => 0,
        Sum::Wrong => 0xdead_beef,
    };
    bytes[8..12].copy_from_slice(&field.to_le_bytes());
    bytes
}

/// SCTP as IP's payload, or in UDP: the protocol, and the payload.
pub fn carried(encapsulated: bool, sctp: Vec<u8>) -> (u8, Vec<u8>) {
    if encapsulated { (17, udp(SCTP_TUNNELING, SCTP_TUNNELING, &sctp)) } else { (SCTP, sctp) }
}

/// A chunk, parameter or cause: two bytes, a length, a value, padding.
pub fn tlv(head: [u8; 2], value: &[u8]) -> Vec<u8> {
    let length = u16::try_from(value.len() + 4).unwrap_or(u16::MAX).to_be_bytes();
    let mut bytes = [&head, &length, value].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

pub fn parameter(kind: u16, value: &[u8]) -> Vec<u8> {
    tlv(kind.to_be_bytes(), value)
}

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const RAW: u16 = 101;

/// A pcapng file with two interfaces of raw IP in nanoseconds: the first counts from 1970, the
/// second from 1700, so that times of all the range can be told.
pub struct Pcapng(Vec<u8>);

const OFFSETS_S: [i64; 2] = [0, -8_500_000_000];

impl Default for Pcapng {
    fn default() -> Self {
        let mut file = Pcapng(Vec::new());
        let magic_and_version = [&0x1a2b_3c4d_u32.to_le_bytes()[..], &[1, 0, 0, 0]].concat();
        file.block(SECTION, &[&magic_and_version[..], &[0xff; 8]].concat());
        for offset_s in OFFSETS_S {
            let mut body = [&RAW.to_le_bytes()[..], &[0; 6]].concat();
            body.extend([9, 0, 1, 0, 9, 0, 0, 0, 14, 0, 8, 0]);
            body.extend(offset_s.to_le_bytes());
            file.block(INTERFACE, &body);
        }
        file
    }
}

impl Pcapng {
    fn block(&mut self, kind: u32, body: &[u8]) {
        let length = u32::try_from(body.len() + 12).unwrap_or(u32::MAX).to_le_bytes();
        self.0.extend(kind.to_le_bytes());
        self.0.extend(length);
        self.0.extend_from_slice(body);
        self.0.extend(length);
    }

    /// `units` counts nanoseconds on the interface's clock; `missing` bytes were not kept.
    pub fn packet(&mut self, interface: u32, units: u64, bytes: &[u8], missing: usize) {
        let kept = &bytes[..bytes.len().saturating_sub(missing)];
        // The high half comes first, whatever the byte order.
        let [low, high] = [units & 0xffff_ffff, units >> 32];
        let mut body = interface.to_le_bytes().to_vec();
        for field in [high, low, kept.len() as u64, bytes.len() as u64] {
            body.extend(u32::try_from(field).unwrap_or(u32::MAX).to_le_bytes());
        }
        body.extend_from_slice(kept);
        body.resize(body.len().next_multiple_of(4), 0);
        self.block(PACKET, &body);
    }

    pub fn bytes(self) -> Vec<u8> {
        self.0
    }
}
