//! TCP segments for tests, written out field by field.

/// A segment from port 1001 to 2002; `options` are padded to four bytes.
pub(crate) fn segment(
    sequence: u32,
    acknowledgement: u32,
    flags: u8,
    window: u16,
    options: &[u8],
    payload: &[u8],
) -> Vec<u8> {
    let mut options = options.to_vec();
    options.resize(options.len().next_multiple_of(4), 0);
    let mut bytes = vec![0x03, 0xe9, 0x07, 0xd2];
    bytes.extend(sequence.to_be_bytes());
    bytes.extend(acknowledgement.to_be_bytes());
    bytes.extend([(((20 + options.len()) / 4) << 4) as u8, flags]);
    bytes.extend(window.to_be_bytes());
    bytes.extend([0xab, 0xcd, 0, 0]);
    bytes.extend(options);
    bytes.extend_from_slice(payload);
    bytes
}

/// An option with its length.
pub(crate) fn option(kind: u8, value: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind, value.len() as u8 + 2];
    bytes.extend_from_slice(value);
    bytes
}
