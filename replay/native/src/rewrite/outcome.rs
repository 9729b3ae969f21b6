//! What became of a captured frame: what was done to it, or why it is not sent.

use pathscope_wire::packet::Skip;

/// Why a captured frame is not sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// There is no IP packet in it that could be found.
    Link(Skip),
    /// The capture kept less of the packet than there was, and padding was not asked for.
    Truncated,
    /// Not even the headers up to the IP packet's end are there: nothing can be padded.
    HeadersTruncated,
    Malformed,
    AboveMtu,
    /// Larger than the MTU, and in a way that neither segments nor fragments can be made of.
    NotSplittable,
    /// The CRC32c of an SCTP packet in fragments would change, and its other pieces are not here.
    SctpFragment,
    /// Larger than anything a capture's format gives room to.
    TooLong,
}

impl Reason {
    pub fn name(self) -> &'static str {
        match self {
            Reason::Link(skip) => skip.name(),
            Reason::Truncated => "truncated by the capture",
            Reason::HeadersTruncated => "headers truncated by the capture",
            Reason::Malformed => "malformed headers",
            Reason::AboveMtu => "above the MTU",
            Reason::NotSplittable => "above the MTU and not splittable",
            Reason::SctpFragment => "mapping inside an SCTP fragment",
            Reason::TooLong => "longer than 262,144 bytes",
        }
    }
}

/// One thing that was done to a frame, or that its reader should know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Note {
    Mapped,
    ChecksumRepaired,
    LinkHeaderMade,
    /// IP's length was zero, as segmentation offload leaves it.
    LengthFilled,
    Padded,
    Segmented,
    Fragmented,
    /// "Don't Fragment" of a packet that was fragmented all the same.
    DontFragmentCleared,
    /// What followed the IP packet did not fit the MTU.
    TrailerCut,
    /// The checksum of what a fragment is part of covers bytes that are elsewhere.
    ChecksumNotVerified,
    TransportMalformed,
    /// Only what is around a tunnel's packet was mapped.
    TunnelLeft,
    /// A protocol whose checksum, if it has one, is not known here, over mapped addresses.
    OtherProtocol,
    /// RFC 4895: the chunks that an AUTH chunk signs were mapped.
    AuthBroken,
    /// RFC 4302, as [`Note::AuthBroken`].
    AuthenticationHeaderBroken,
    /// A State Cookie or Heartbeat Info may hold addresses in a form that only its sender knows.
    OpaqueLeft,
    /// RFC 8684 section 3.4.1: an address that an HMAC signs was left as it is.
    SignedAddressLeft,
    /// The SCTP checksum in the packet that an ICMP error quotes, over mapped ports.
    QuotedChecksumLeft,
}

impl Note {
    pub const ALL: [Note; 18] = [
        Note::Mapped,
        Note::ChecksumRepaired,
        Note::LinkHeaderMade,
        Note::LengthFilled,
        Note::Padded,
        Note::Segmented,
        Note::Fragmented,
        Note::DontFragmentCleared,
        Note::TrailerCut,
        Note::ChecksumNotVerified,
        Note::TransportMalformed,
        Note::TunnelLeft,
        Note::OtherProtocol,
        Note::AuthBroken,
        Note::AuthenticationHeaderBroken,
        Note::OpaqueLeft,
        Note::SignedAddressLeft,
        Note::QuotedChecksumLeft,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Note::Mapped => "mapped",
            Note::ChecksumRepaired => "checksum repaired",
            Note::LinkHeaderMade => "Ethernet header made",
            Note::LengthFilled => "IP length filled in",
            Note::Padded => "padded to the length on the wire",
            Note::Segmented => "split into TCP segments",
            Note::Fragmented => "split into IP fragments",
            Note::DontFragmentCleared => "Don't Fragment cleared",
            Note::TrailerCut => "link trailer cut",
            Note::ChecksumNotVerified => "checksum not verified",
            Note::TransportMalformed => "transport header malformed",
            Note::TunnelLeft => "inside of a tunnel left as it is",
            Note::OtherProtocol => "checksum of another protocol left as it is",
            Note::AuthBroken => "AUTH chunk over mapped chunks",
            Note::AuthenticationHeaderBroken => "authentication header over mapped headers",
            Note::OpaqueLeft => "cookie or Heartbeat Info left as it is",
            Note::SignedAddressLeft => "ADD_ADDR with HMAC left as it is",
            Note::QuotedChecksumLeft => "quoted SCTP checksum left as it is",
        }
    }

    /// Whether the frame is not in all respects what a host with the new addresses would send.
    pub fn is_warning(self) -> bool {
        matches!(
            self,
            Note::ChecksumNotVerified
                | Note::TransportMalformed
                | Note::TunnelLeft
                | Note::OtherProtocol
                | Note::AuthBroken
                | Note::AuthenticationHeaderBroken
                | Note::OpaqueLeft
                | Note::SignedAddressLeft
                | Note::QuotedChecksumLeft
        )
    }

    fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A set of notes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Notes(u32);

impl Notes {
    pub fn add(&mut self, note: Note) {
        self.0 |= note.bit();
    }

    pub fn has(self, note: Note) -> bool {
        self.0 & note.bit() != 0
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub fn iter(self) -> impl Iterator<Item = Note> {
        Note::ALL.into_iter().filter(move |note| self.has(*note))
    }
}

/// What was made of one captured frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done {
    /// Frames to send: one, or more where it was split.
    pub frames: u32,
    pub notes: Notes,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn notes_have_names_and_bits_of_their_own() {
        let names: HashSet<_> = Note::ALL.map(Note::name).into();
        let bits: HashSet<_> = Note::ALL.map(Note::bit).into();
        assert_eq!((names.len(), bits.len()), (Note::ALL.len(), Note::ALL.len()));
        let mut notes = Notes::default();
        assert!(notes.is_empty());
        notes.add(Note::Padded);
        notes.add(Note::QuotedChecksumLeft);
        assert_eq!(notes.iter().collect::<Vec<_>>(), [Note::Padded, Note::QuotedChecksumLeft]);
        assert!(!Note::Padded.is_warning() && Note::QuotedChecksumLeft.is_warning());
    }

    #[test]
    fn a_frame_without_ip_is_told_in_the_words_of_the_dissector() {
        assert_eq!(Reason::Link(Skip::NotIp).name(), "not IP");
        assert_eq!(Reason::AboveMtu.name(), "above the MTU");
    }
}
