//! What the tracker made of a packet, without the tracker: what rows of the packet say of it.

use super::{End, Located};

/// How a packet counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// On a path of its association.
    Placed,
    /// As a copy of an earlier frame.
    Copy,
    /// As damaged on the way.
    Damaged,
    /// Nowhere: its association has too many paths.
    Nowhere,
}

impl Kind {
    const ALL: [Kind; 4] = [Kind::Placed, Kind::Copy, Kind::Damaged, Kind::Nowhere];

    pub fn name(self) -> &'static str {
        match self {
            Kind::Placed => "placed",
            Kind::Copy => "copy",
            Kind::Damaged => "damaged",
            Kind::Nowhere => "nowhere",
        }
    }

    pub fn of(name: &str) -> Option<Kind> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A packet's place, as far as it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    pub kind: Kind,
    pub association: Option<u32>,
    pub sender: Option<End>,
    pub path: Option<u32>,
}

impl Standing {
    pub fn of(located: &Located) -> Standing {
        let (kind, known) = match located {
            Located::At(_, place) => {
                let association = Some(place.association);
                let (sender, path) = (Some(place.sender), Some(place.path));
                return Standing { kind: Kind::Placed, association, sender, path };
            }
            Located::Copy(known) => (Kind::Copy, *known),
            Located::Damaged(known) => (Kind::Damaged, *known),
            Located::Nowhere => (Kind::Nowhere, None),
        };
        Standing {
            kind,
            association: known.map(|(association, _)| association),
            sender: known.map(|(_, sender)| sender),
            path: None,
        }
    }
}
