//! Addresses in TCP's options: ADD_ADDR of Multipath TCP (RFC 8684 section 3.4.1, RFC 6824).

use std::ops::Range;

use pathscope_wire::address::Address;
use pathscope_wire::tcp::option::{END_OF_LIST, MULTIPATH, NO_OPERATION};

use super::change::Change;
use super::job::Job;
use super::mapping::Rules;
use super::outcome::Note;

const ADD_ADDR: u8 = 3;
/// Kind, length, subtype with flags, address ID.
const BEFORE_ADDRESS: usize = 4;

/// Maps the addresses that the options in `over` add, where no HMAC signs them.
pub(super) fn add_addresses(
    rules: &Rules,
    packet: &mut [u8],
    over: Range<usize>,
    change: &mut Change,
    job: &mut Job,
) {
    let mut at = over.start;
    while at < over.end && rules.maps_anything() {
        let option = packet.get(at..over.end).unwrap_or_default();
        let length = match *option {
            [NO_OPERATION, ..] => 1,
            [END_OF_LIST, ..] | [] | [_] | [_, 0 | 1, ..] => return,
            [MULTIPATH, length, subtype, ..] if subtype >> 4 == ADD_ADDR => {
                let length = usize::from(length);
                if let Some(option) = packet.get_mut(at..over.end.min(at + length)) {
                    // The sum is over whole words of the packet, not of the option.
                    let written = add_address(rules, option, at % 2, job);
                    *change = change.and(written);
                }
                length
            }
            [_, length, ..] => usize::from(length),
        };
        at += length;
    }
}

/// One option; `odd` is what its place leaves when halved.
fn add_address(rules: &Rules, option: &mut [u8], odd: usize, job: &mut Job) -> Change {
    let port_at = match option.len() {
        8 | 20 => None,
        10 => Some(8),
        22 => Some(20),
        16 | 18 => return signed::<4>(rules, option, job),
        28 | 30 => return signed::<16>(rules, option, job),
        _ => return Change::default(),
    };
    // A copy that begins at an even place.
    let mut copy = [0; 24];
    let whole = odd..odd + option.len();
    let Some(place) = copy.get_mut(whole.clone()) else { return Change::default() };
    place.copy_from_slice(option);
    let mut change = Change::default();
    let at = odd + BEFORE_ADDRESS;
    let mut mapped = if option.len() < 20 {
        rules.write_address::<4>(&mut copy, at, &mut change)
    } else {
        rules.write_address::<16>(&mut copy, at, &mut change)
    };
    if let Some(port_at) = port_at {
        mapped |= rules.write_port(&mut copy, odd + port_at, &mut change);
    }
    job.note_if(mapped, Note::Mapped);
    if let Some(copy) = copy.get(whole) {
        option.copy_from_slice(copy);
    }
    change
}

/// The HMAC's key is not in the segment, so it cannot be made again for another address.
fn signed<const SIZE: usize>(rules: &Rules, option: &[u8], job: &mut Job) -> Change {
    let address = option.get(BEFORE_ADDRESS..BEFORE_ADDRESS + SIZE).and_then(Address::from_bytes);
    let would_map = address.is_some_and(|address| rules.address(address).is_some());
    job.note_if(would_map, Note::SignedAddressLeft);
    Change::default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> Rules {
        let json = r#"{"addresses": [["10.0.0.0/8", "11.0.0.0/8"], ["fd00::/16", "fe00::/16"]],
            "ports": [[5, 6]]}"#;
        Rules::new(&serde_json::from_str(json).unwrap()).unwrap()
    }

    fn mapped(options: &[u8]) -> (Vec<u8>, Change, Job) {
        let mut bytes = options.to_vec();
        let (mut change, mut job) = (Change::default(), Job::default());
        let over = 0..bytes.len();
        add_addresses(&rules(), &mut bytes, over, &mut change, &mut job);
        (bytes, change, job)
    }

    #[test]
    fn an_address_at_an_odd_place() {
        let options = [1, 30, 10, 0x30, 2, 10, 0, 0, 9, 0, 5, 1];
        let (bytes, change, job) = mapped(&options);
        assert_eq!(bytes, [1, 30, 10, 0x30, 2, 11, 0, 0, 9, 0, 6, 1]);
        assert!(job.notes.has(Note::Mapped));
        let mut again = options;
        let mut other = Change::default();
        other.write(&mut again, 5, &[11, 0, 0, 9, 0, 6]);
        assert_eq!(change, other);
    }

    #[test]
    fn version_6_and_what_is_signed() {
        let v6 = [&[30, 20, 0x31, 2, 0xfd, 0][..], &[7; 14]].concat();
        assert_eq!(mapped(&v6).0[4..6], [0xfe, 0]);
        let signed = [&[30, 16, 0x30, 2, 10, 0, 0, 9][..], &[7; 8]].concat();
        let (bytes, change, job) = mapped(&signed);
        assert!(bytes == signed && change.is_none() && job.notes.has(Note::SignedAddressLeft));
    }

    #[test]
    fn lengths_that_lie_end_the_walk() {
        for options in [&[30, 0, 0x30][..], &[30, 8, 0x30, 2, 10], &[8, 40, 1], &[30]] {
            let (bytes, change, _) = mapped(options);
            assert!(bytes == options && change.is_none());
        }
    }
}
