//! What makes a frame that was sent the same frame in a capture of the other end.

use std::path::Path;

use crc_fast::{CrcAlgorithm, checksum};
use pathscope_wire::container::{CaptureSet, Options};
use pathscope_wire::error::Error as TraceError;

use crate::error::{Error, Result};

/// CRC-64/NVMe of all its bytes, from the Ethernet header on.
pub fn of(frame: &[u8]) -> u64 {
    checksum(CrcAlgorithm::Crc64Nvme, frame)
}

/// A captured frame and its fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Its number in the file, from 1.
    pub frame: u64,
    pub time_ns: i64,
    /// By the order of their declaration in the file.
    pub interface: u32,
    /// On the wire, of which fewer may have been captured.
    pub bytes: u32,
    pub fingerprint: u64,
}

/// The frames of a capture, in time order.
pub struct Sightings {
    capture: CaptureSet,
}

impl Sightings {
    /// # Errors
    /// When the file cannot be opened, is no capture, or has no bytes.
    pub fn open(path: &Path) -> Result<Self> {
        Ok(Sightings { capture: open(&[path.to_path_buf()])? })
    }

    /// The next frames, at most `most`; none at the end.
    ///
    /// # Errors
    /// Once, where the file goes wrong, after all good frames before that place.
    pub fn take(&mut self, most: usize) -> Result<Vec<Sighting>> {
        let mut taken = Vec::with_capacity(most);
        while taken.len() < most {
            let record = match self.capture.next() {
                Ok(Some(record)) => record,
                Ok(None) => break,
                Err(error) => return Err(error.into()),
            };
            taken.push(Sighting {
                frame: record.frame,
                time_ns: record.time_ns,
                interface: record.interface,
                bytes: record.wire_length,
                fingerprint: of(record.data),
            });
        }
        Ok(taken)
    }
}

/// Opens captures that have bytes.
pub(crate) fn open(paths: &[std::path::PathBuf]) -> Result<CaptureSet> {
    let mut capture = CaptureSet::open(paths, &Options::default())?;
    if capture.trace().is_some() {
        let name = paths.first().map(|path| path.display().to_string()).unwrap_or_default();
        let what = "a simulator's trace says what happened, and holds no frames to send";
        return Err(Error::Trace(TraceError::Usage(format!("{name}: {what}"))));
    }
    Ok(capture)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_check_value_of_the_catalogue() {
        assert_eq!(of(b"123456789"), 0xae8b_1486_0a79_9888);
    }
}
