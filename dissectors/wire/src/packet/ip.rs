//! IPv4 (RFC 791) and IPv6 (RFC 8200): from the IP header to the transport
//! header, over the extension headers.
//!
//! Header layouts are `etherparse`'s. Its own walk over extension headers is not
//! used because it also walks the payload of fragments that are not the first.

use etherparse::err::{ip_auth, ipv4, ipv6};
use etherparse::{
    IpAuthHeaderSlice, IpNumber, Ipv4HeaderSlice, Ipv6FragmentHeaderSlice, Ipv6HeaderSlice,
    Ipv6RawExtHeaderSlice, ip_number,
};

use super::bytes::{Extent, Span, malformed};
use crate::address::Address;
use crate::problem::{Layer, Problem};

/// What a packet keeps of its IP header.
#[derive(Clone, Copy)]
pub(super) struct Header {
    pub source: Address,
    pub destination: Address,
    /// Identification; IPv4 only.
    pub id: Option<u16>,
    pub hop_limit: u8,
    pub ecn: u8,
}

/// What is above the headers read so far.
#[derive(Clone, Copy)]
pub(super) struct Upper<'a> {
    pub protocol: IpNumber,
    /// As far as captured.
    pub bytes: &'a [u8],
    /// Of `bytes` in what is being read.
    pub offset: usize,
    /// On the wire.
    pub length: usize,
}

/// The fields by which `Upper` is one piece of a larger datagram.
#[derive(Clone, Copy)]
pub(super) struct Fragment {
    pub id: u32,
    /// Of this piece in the datagram's payload, in bytes.
    pub offset: usize,
    pub more: bool,
}

pub(super) struct Ip<'a> {
    pub header: Header,
    pub upper: Upper<'a>,
    pub fragment: Option<Fragment>,
}

impl<'a> Upper<'a> {
    pub fn extent(&self) -> Extent {
        Extent { captured: self.bytes.len(), wire: self.length }
    }

    pub fn span(self) -> Span<'a> {
        Span { bytes: self.bytes, offset: self.offset, length: self.length }
    }

    /// What follows a header of `size` bytes, all of them captured.
    pub fn after(self, size: usize, protocol: IpNumber) -> Self {
        let Span { bytes, offset, length } = self.span().after(size);
        Upper { protocol, bytes, offset, length }
    }
}

/// Reads the IP packet at the start of `packet`. Inlined because it runs for
/// every packet, and handing its result over through memory costs as much.
#[inline(always)]
pub(super) fn read(packet: Span<'_>) -> Result<Ip<'_>, Problem> {
    let Span { bytes, offset: at, .. } = packet;
    let extent = packet.extent();
    match bytes.first().map(|first| first >> 4) {
        Some(4) => read_v4(bytes, at, extent),
        Some(6) => read_v6(bytes, at, extent),
        Some(_) => Err(malformed(Layer::Ip, at, 1, 1, "IP version 4 or 6")),
        None => Err(extent.short(Layer::Ip, at, 1, "IP header")),
    }
}

#[inline(always)]
fn read_v4(bytes: &[u8], at: usize, extent: Extent) -> Result<Ip<'_>, Problem> {
    let fields = Ipv4HeaderSlice::from_slice(bytes).map_err(|error| match error {
        ipv4::HeaderSliceError::Len(error) => {
            extent.short(Layer::Ip, at, error.required_len, "IPv4 header")
        }
        ipv4::HeaderSliceError::Content(_) => {
            let claimed = bytes.first().map_or(0, |first| 4 * usize::from(first & 15));
            malformed(Layer::Ip, at, 20, claimed, "IPv4 header length of at least 20")
        }
    })?;
    let total = usize::from(fields.total_len());
    let upper = payload(bytes, at, extent, fields.slice().len(), total, fields.protocol())?;
    let id = fields.identification();
    let header = Header {
        source: Address::v4(fields.source()),
        destination: Address::v4(fields.destination()),
        id: Some(id),
        hop_limit: fields.ttl(),
        ecn: fields.ecn().value(),
    };
    if fields.is_fragmenting_payload() {
        let fragment = Fragment {
            id: u32::from(id),
            offset: usize::from(fields.fragments_offset().byte_offset()),
            more: fields.more_fragments(),
        };
        return Ok(Ip { header, upper, fragment: Some(fragment) });
    }
    // The other extension headers of IPv6 mean something else, or nothing, here.
    if upper.protocol == ip_number::AUTH {
        let (upper, fragment) = skip_extensions(upper)?;
        return Ok(Ip { header, upper, fragment });
    }
    Ok(Ip { header, upper, fragment: None })
}

fn read_v6(bytes: &[u8], at: usize, extent: Extent) -> Result<Ip<'_>, Problem> {
    let fields = Ipv6HeaderSlice::from_slice(bytes).map_err(|error| match error {
        ipv6::HeaderSliceError::Len(error) => {
            extent.short(Layer::Ip, at, error.required_len, "IPv6 header")
        }
        ipv6::HeaderSliceError::Content(_) => malformed(Layer::Ip, at, 1, 1, "IP version 6"),
    })?;
    let size = fields.slice().len();
    let total = match fields.payload_length() {
        0 => 0,
        length => size + usize::from(length),
    };
    let upper = payload(bytes, at, extent, size, total, fields.next_header())?;
    let header = Header {
        source: Address::v6(fields.source()),
        destination: Address::v6(fields.destination()),
        id: None,
        hop_limit: fields.hop_limit(),
        ecn: fields.ecn().value(),
    };
    let (upper, fragment) = skip_extensions(upper)?;
    Ok(Ip { header, upper, fragment })
}

/// Cuts `bytes` to `total` bytes, so that what the link padded is gone. A
/// length of 0 is left by segmentation offload and by jumbograms (RFC 2675):
/// then the packet is all there is.
fn payload(
    bytes: &[u8],
    at: usize,
    extent: Extent,
    header: usize,
    total: usize,
    protocol: IpNumber,
) -> Result<Upper<'_>, Problem> {
    let total = match total {
        0 => extent.wire,
        total if total < header => {
            return Err(malformed(Layer::Ip, at, header, total, "IP length below its header"));
        }
        total if total > extent.wire => {
            let what = "IP length beyond the packet";
            return Err(malformed(Layer::Ip, at, total, extent.wire, what));
        }
        total => total,
    };
    let bytes = bytes.get(..total).unwrap_or(bytes);
    Ok(Upper { protocol, bytes, offset: at, length: total }.after(header, protocol))
}

/// Walks extension headers up to the transport header, or up to the payload of
/// a fragment. Every header takes at least 8 bytes, so the walk ends.
pub(super) fn skip_extensions(
    mut upper: Upper<'_>,
) -> Result<(Upper<'_>, Option<Fragment>), Problem> {
    loop {
        let short = |needed| upper.extent().short(Layer::Ip, upper.offset, needed, "IP extension");
        let (size, next) = match upper.protocol {
            ip_number::IPV6_HOP_BY_HOP
            | ip_number::IPV6_ROUTE
            | ip_number::IPV6_DEST_OPTIONS
            | ip_number::MOBILITY
            | ip_number::HIP
            | ip_number::SHIM6 => {
                let header = Ipv6RawExtHeaderSlice::from_slice(upper.bytes)
                    .map_err(|error| short(error.required_len))?;
                (header.slice().len(), header.next_header())
            }
            ip_number::AUTH => {
                let header =
                    IpAuthHeaderSlice::from_slice(upper.bytes).map_err(|error| match error {
                        ip_auth::HeaderSliceError::Len(error) => short(error.required_len),
                        ip_auth::HeaderSliceError::Content(_) => {
                            malformed(Layer::Ip, upper.offset, 12, 8, "authentication header")
                        }
                    })?;
                (header.slice().len(), header.next_header())
            }
            ip_number::IPV6_FRAG => {
                let header = Ipv6FragmentHeaderSlice::from_slice(upper.bytes)
                    .map_err(|error| short(error.required_len))?;
                let (size, next) = (header.slice().len(), header.next_header());
                if header.is_fragmenting_payload() {
                    let fragment = Fragment {
                        id: header.identification(),
                        offset: usize::from(header.fragment_offset().byte_offset()),
                        more: header.more_fragments(),
                    };
                    return Ok((upper.after(size, next), Some(fragment)));
                }
                (size, next)
            }
            _ => return Ok((upper, None)),
        };
        upper = upper.after(size, next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::build::{fragment, ipv4, ipv6};
    use crate::problem::Kind;

    fn read(record: &[u8], at: usize, wire: usize) -> Result<Ip<'_>, Problem> {
        super::read(Span { bytes: record, offset: 0, length: wire }.after(at))
    }

    fn kind(record: &[u8], wire: usize) -> Kind {
        read(record, 0, wire).map(|_| ()).unwrap_err().kind
    }

    #[test]
    fn options_and_link_padding_are_left_out() {
        let mut record = ipv4(132, &[1, 1, 1, 1, 9, 9, 9]);
        record[0] = 0x46;
        record.extend([0; 19]);
        let ip = read(&record, 0, record.len()).unwrap();
        assert_eq!((ip.upper.bytes, ip.upper.offset, ip.upper.length), (&[9; 3][..], 24, 3));
        assert_eq!((ip.header.id, ip.header.hop_limit, ip.header.ecn), (Some(7), 64, 2));
        assert_eq!(ip.header.source, Address::v4([10, 0, 0, 1]));

        let mut record = ipv6(132, &[9; 3]);
        record.extend([0; 3]);
        let ip = read(&record, 0, record.len()).unwrap();
        assert_eq!((ip.upper.bytes, ip.upper.offset, ip.upper.length), (&[9; 3][..], 40, 3));
        assert_eq!((ip.header.id, ip.header.hop_limit, ip.header.ecn), (None, 63, 1));
        assert_eq!(ip.header.destination.to_string(), "2001:db8::2");
    }

    #[test]
    fn an_unset_length_means_all_there_is() {
        let mut record = ipv4(132, &[9; 30]);
        record[2..4].fill(0);
        assert_eq!(read(&record, 0, 50).unwrap().upper.length, 30);
        assert_eq!(read(&record, 0, 70).unwrap().upper.length, 50);
        let mut record = ipv6(132, &[9; 30]);
        record[4..6].fill(0);
        assert_eq!(read(&record, 0, 70).unwrap().upper.length, 30);
    }

    #[test]
    fn lengths_that_lie() {
        let record = ipv4(132, &[9; 30]);
        assert_eq!(kind(&record, 0), Kind::Malformed);
        assert_eq!(kind(&record[..40], 40), Kind::Malformed);
        assert_eq!(read(&record[..40], 0, 50).unwrap().upper.bytes.len(), 20);
        assert_eq!(kind(&record[..12], 12), Kind::Malformed);
        assert_eq!(kind(&record[..12], 50), Kind::Truncated);
        assert_eq!(kind(&[], 50), Kind::Truncated);
        assert_eq!(kind(&[0x75; 40], 40), Kind::Malformed);
        let mut below_header = record.clone();
        below_header[2..4].copy_from_slice(&[0, 19]);
        assert_eq!(kind(&below_header, 50), Kind::Malformed);
        let mut header_length = record;
        header_length[0] = 0x44;
        assert_eq!(kind(&header_length, 50), Kind::Malformed);
        let record = ipv6(132, &[9; 30]);
        assert_eq!(kind(&record[..39], 70), Kind::Truncated);
        assert_eq!(kind(&record[..69], 69), Kind::Malformed);
    }

    #[test]
    fn every_extension_header_is_walked() {
        let payload = [
            &[43, 0, 0, 0, 0, 0, 0, 0][..], // hop-by-hop options
            &[60, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], // routing
            &[51, 0, 1, 4, 0, 0, 0, 0],     // destination options
            &[44, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2], // authentication
            &[135, 0, 0, 0, 0, 0, 0, 5],    // fragment, whole datagram
            &[139, 0, 0, 0, 0, 0, 0, 0],    // mobility
            &[140, 0, 0, 0, 0, 0, 0, 0],    // HIP
            &[132, 0, 0, 0, 0, 0, 0, 0],    // shim6
            &[9; 12],
        ]
        .concat();
        let record = ipv6(0, &payload);
        let ip = read(&record, 0, record.len()).unwrap();
        assert_eq!(ip.upper.protocol, ip_number::SCTP);
        assert_eq!((ip.upper.bytes, ip.upper.length), (&[9; 12][..], 12));
        assert_eq!(ip.upper.offset, record.len() - 12);
        assert!(ip.fragment.is_none());
        // The walk stops where the capture does, and where the packet does.
        assert_eq!(kind(&record[..50], record.len()), Kind::Truncated);
        assert_eq!(kind(&ipv6(0, &payload[..20]), 60), Kind::Malformed);
        let empty_authentication = [132, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2];
        assert_eq!(kind(&ipv6(51, &empty_authentication), 52), Kind::Malformed);
    }

    #[test]
    fn ipv4_has_one_extension_header() {
        let authentication = [132, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 9, 9];
        let record = ipv4(51, &authentication);
        let ip = read(&record, 0, record.len()).unwrap();
        assert_eq!((ip.upper.protocol, ip.upper.bytes), (ip_number::SCTP, &[9, 9][..]));
        let ip = read(&record, 0, record.len());
        assert!(ip.is_ok());
        let record = ipv4(60, &[132, 0, 0, 0, 0, 0, 0, 0, 9]);
        assert_eq!(read(&record, 0, 29).unwrap().upper.protocol, ip_number::IPV6_DEST_OPTIONS);
    }

    #[test]
    fn a_later_fragment_is_not_walked_into() {
        let record = ipv6(44, &fragment(60, 9, 1448, true, &[0xff; 8]));
        let ip = read(&record, 0, record.len()).unwrap();
        let fragment = ip.fragment.unwrap();
        assert_eq!((fragment.id, fragment.offset, fragment.more), (9, 1448, true));
        assert_eq!(ip.upper.bytes, [0xff; 8]);
    }
}
