//! What captures say of themselves beside their records.

use super::{Capture, Compression, Format, Interface, Order};

/// Of one capture file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its path, or "standard input".
    pub name: String,
    pub format: Format,
    pub compression: Compression,
    /// The number its first frame has; 1 in a capture of one file.
    pub first_frame: u64,
    pub frames: u64,
}

/// Of a capture, which may be several files: everything is about the records so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// In the order of their first records.
    pub files: Vec<File>,
    /// The time of frame 1.
    pub first_ns: Option<i64>,
    /// All interfaces declared, those of earlier sections and files first.
    pub interfaces: Vec<Interface>,
    /// Of the sections.
    pub comments: Vec<String>,
    /// Packets lost while capturing, where the files tell; see [`Capture::dropped`].
    pub dropped: Option<u64>,
    /// How far the order of the records in their files was from that of time.
    pub order: Order,
}

impl Facts {
    pub(super) fn of(capture: &Capture) -> Self {
        let file = File {
            name: capture.name.clone(),
            format: capture.format(),
            compression: capture.compression(),
            first_frame: 1,
            frames: capture.frames,
        };
        Facts {
            files: vec![file],
            first_ns: capture.first_ns(),
            interfaces: capture.interfaces().to_vec(),
            comments: capture.comments().to_vec(),
            dropped: capture.dropped(),
            order: *capture.order(),
        }
    }

    /// Adds all but the interfaces, which have to be told apart first.
    pub(super) fn add(&mut self, later: Facts) {
        self.files.extend(later.files);
        self.comments.extend(later.comments);
        self.dropped = match (self.dropped, later.dropped) {
            (Some(one), Some(other)) => Some(one.saturating_add(other)),
            (one, other) => one.or(other),
        };
        self.order.add(&later.order);
    }

    /// "pcapng"; of files that differ each format once: "pcapng, snoop".
    pub fn format(&self) -> String {
        let names: Vec<String> = self.files.iter().map(|file| file.format.name()).collect();
        once(names.iter().map(String::as_str))
    }

    /// "gzip"; `None` when no file is compressed.
    pub fn compression(&self) -> Option<String> {
        let names = once(self.files.iter().filter_map(|file| file.compression.name()));
        (!names.is_empty()).then_some(names)
    }
}

fn once<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let mut told: Vec<&str> = Vec::new();
    for name in names {
        if !told.contains(&name) {
            told.push(name);
        }
    }
    told.join(", ")
}
