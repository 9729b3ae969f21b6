//! What following its flow tells about one packet.

use super::stream::Numbered;
use crate::problem::Problem;
use crate::track::End;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Followed {
    /// Number of the flow, and who sent the packet; none where nothing could be remembered.
    pub place: Option<(u32, End)>,
    /// The capture's copy of a packet that was followed before, which the sender did not send.
    pub copy: bool,
    /// What of the options could not be read.
    pub problem: Option<Problem>,
    /// The window that the segment advertises, where its scale is known.
    pub window_bytes: Option<u32>,
    /// What the sequence numbers make of a segment that takes any.
    pub sent_as: Option<&'static str>,
    /// What numbers the datagram.
    pub numbered: Option<Numbered>,
}

impl Followed {
    pub(super) fn copy_in(flow: u32, sender: End) -> Self {
        Followed { place: Some((flow, sender)), copy: true, ..Followed::default() }
    }
}
