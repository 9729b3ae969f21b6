//! Carriers of SCTP packets for tests, written out field by field.

/// 10.0.0.1 to 10.0.0.2, identification 7, ECT(0), TTL 64.
pub(crate) fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    ipv4_fragment(protocol, 7, 0, false, payload)
}

/// As [`ipv4`]; `offset` in bytes.
pub(crate) fn ipv4_fragment(
    protocol: u8,
    id: u16,
    offset: u16,
    more: bool,
    payload: &[u8],
) -> Vec<u8> {
    let total = u16::try_from(20 + payload.len()).unwrap().to_be_bytes();
    let more_fragments = if more { 0x2000 } else { 0 };
    let field = (more_fragments | (offset / 8)).to_be_bytes();
    let id = id.to_be_bytes();
    let mut bytes =
        vec![0x45, 2, total[0], total[1], id[0], id[1], field[0], field[1], 64, protocol, 0, 0];
    bytes.extend([10, 0, 0, 1, 10, 0, 0, 2]);
    bytes.extend_from_slice(payload);
    bytes
}

/// 2001:db8::1 to 2001:db8::2, ECT(1), hop limit 63.
pub(crate) fn ipv6(next_header: u8, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(payload.len()).unwrap().to_be_bytes();
    let mut bytes = vec![0x60, 0x10, 0, 0, length[0], length[1], next_header, 63];
    for last in [1, 2] {
        bytes.extend([0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, last]);
    }
    bytes.extend_from_slice(payload);
    bytes
}

/// A fragment header (RFC 8200 section 4.5) and a piece; `offset` in bytes.
pub(crate) fn fragment(next_header: u8, id: u32, offset: u16, more: bool, piece: &[u8]) -> Vec<u8> {
    let field = (offset | u16::from(more)).to_be_bytes();
    let mut bytes = vec![next_header, 0, field[0], field[1]];
    bytes.extend(id.to_be_bytes());
    bytes.extend_from_slice(piece);
    bytes
}

pub(crate) fn udp(source: u16, destination: u16, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(8 + payload.len()).unwrap();
    let mut bytes = Vec::new();
    for field in [source, destination, length, 0] {
        bytes.extend(field.to_be_bytes());
    }
    bytes.extend_from_slice(payload);
    bytes
}

pub(crate) fn ethernet(ether_type: u16, payload: &[u8]) -> Vec<u8> {
    let mut bytes = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1];
    bytes.extend(ether_type.to_be_bytes());
    bytes.extend_from_slice(payload);
    bytes
}
