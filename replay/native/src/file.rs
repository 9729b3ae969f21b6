//! Frames into a pcap file instead of onto the wire: Ethernet, times in nanoseconds
//! (draft-ietf-opsawg-pcap).

use std::io::{self, Write};

use crate::batch::Batch;

/// The magic number of files whose times have nanoseconds.
const NANOSECONDS: u32 = 0xa1b2_3c4d;
/// 2.4, in the order that the words of the header are written in.
const VERSION: u32 = 0x0004_0002;
const SNAP_LENGTH: u32 = 262_144;
const ETHERNET: u32 = 1;
const NS_PER_S: i64 = 1_000_000_000;

pub struct Writer<W> {
    out: W,
}

impl<W: Write> Writer<W> {
    /// Begins a file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn new(mut out: W) -> io::Result<Self> {
        words(&mut out, [NANOSECONDS, VERSION, 0, 0, SNAP_LENGTH, ETHERNET])?;
        Ok(Writer { out })
    }

    /// Writes the frames of a batch, each at the time that it is due; replay time 0 is `base_ns`
    /// since 1970.
    ///
    /// # Errors
    /// Those of `out`, and [`io::ErrorKind::InvalidData`] for a time before 1970 or after 2106.
    pub fn write(&mut self, batch: &Batch, base_ns: i64) -> io::Result<()> {
        for (planned, frame) in batch.planned().iter().zip(batch.frames()) {
            let time_ns = base_ns.saturating_add(planned.due_ns);
            let seconds = u32::try_from(time_ns.div_euclid(NS_PER_S));
            // Below 10^9, so it fits.
            let rest = time_ns.rem_euclid(NS_PER_S) as u32;
            let seconds = seconds.map_err(|_| {
                let what = format!("pcap has no room for the time {time_ns} ns since 1970");
                io::Error::new(io::ErrorKind::InvalidData, what)
            })?;
            words(&mut self.out, [seconds, rest, planned.bytes, planned.bytes])?;
            self.out.write_all(frame)?;
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

fn words<const N: usize>(out: &mut impl Write, words: [u32; N]) -> io::Result<()> {
    words.iter().try_for_each(|word| out.write_all(&word.to_le_bytes()))
}

#[cfg(test)]
mod tests {
    use pathscope_wire::container::{Capture, Options};

    use super::*;
    use crate::batch::Place;

    #[test]
    fn what_is_written_is_read_again() {
        let mut batch = Batch::default();
        let place = Place { frame: 1, loop_number: 0, route: 0, due_ns: 0 };
        batch.push(place, &[1; 60]);
        batch.push(Place { due_ns: 1_500_000_007, ..place }, &[2; 1514]);
        let mut writer = Writer::new(Vec::new()).unwrap();
        writer.write(&batch, 999_999_999).unwrap();
        let file = writer.finish().unwrap();
        let reader = Box::new(io::Cursor::new(file));
        let mut capture = Capture::from_reader("file", reader, &Options::default()).unwrap();
        let mut found = Vec::new();
        while let Some(record) = capture.next().unwrap() {
            found.push((record.time_ns, record.link_type, record.data.to_vec()));
        }
        assert_eq!(found, [(999_999_999, 1, vec![1; 60]), (2_500_000_006, 1, vec![2; 1514])]);
    }

    #[test]
    fn times_that_a_pcap_file_cannot_hold() {
        let mut batch = Batch::default();
        batch.push(Place { frame: 1, loop_number: 0, route: 0, due_ns: 0 }, &[1; 60]);
        for time_ns in [-1, i64::MAX] {
            let mut writer = Writer::new(Vec::new()).unwrap();
            let error = writer.write(&batch, time_ns).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        }
    }
}
