//! Finding the frame in its capture.

use std::path::Path;

use super::{Node, layers};
use crate::container::{Capture, Options, Start};
use crate::error::{Error, Result};
use crate::packet::trace::Passed;
use crate::packet::{Decoder, DecoderOptions, Source};

/// One frame, explained.
pub struct Explained {
    pub layers: Vec<Node>,
    /// As captured.
    pub data: Vec<u8>,
    /// The datagram that was put together with it, if it is the last of several fragments.
    pub reassembled: Option<Vec<u8>>,
}

/// Explains frame number `frame`. `start` is a record before it where reading can begin; a frame
/// with a fragment is read from the beginning all the same, for the others of its datagram.
///
/// # Errors
/// [`Error::Usage`] when there is no such frame; those of [`Capture::open`] and [`Capture::next`].
pub fn explain(
    path: &Path,
    frame: u64,
    start: Option<&Start>,
    options: &Options,
    udp_ports: &[u16],
) -> Result<Explained> {
    if let Some(start) = start
        && let Found::Alone(explained) =
            search(&mut Capture::open_at(path, start)?, frame, udp_ports)?
    {
        return Ok(explained);
    }
    let mut capture = Capture::open(path, options)?;
    match search(&mut capture, frame, udp_ports)? {
        Found::Alone(explained) | Found::Fragment(explained) => Ok(explained),
        Found::Nothing(frames) => {
            let what = format!("there is no frame {frame}, the capture has {frames}");
            Err(Error::Usage(format!("{}: {what}", path.display())))
        }
    }
}

enum Found {
    /// What it is follows from nothing else.
    Alone(Explained),
    /// A fragment, whose datagram may have begun before.
    Fragment(Explained),
    /// The capture has as many frames.
    Nothing(u64),
}

fn search(capture: &mut Capture, frame: u64, udp_ports: &[u16]) -> Result<Found> {
    let mut decoder = Decoder::new(DecoderOptions { udp_ports: udp_ports.to_vec(), flows: true });
    let mut last = 0;
    let mut turn = 0;
    loop {
        let record = match capture.next() {
            Ok(Some(record)) => record,
            Ok(None) => return Ok(Found::Nothing(last)),
            Err(damage @ Error::Damaged { .. }) => {
                let what = format!("there is no frame {frame}: the last whole one is {last}");
                return Err(Error::Usage(format!("{damage}; {what}")));
            }
            Err(other) => return Err(other),
        };
        last = last.max(record.frame);
        turn += 1;
        decoder.at(Source {
            turn,
            frame: record.frame,
            offset: record.offset,
            time_ns: record.time_ns,
        });
        if record.frame != frame {
            decoder.decode(record.link_type, record.time_ns, record.data, record.wire_length);
            continue;
        }
        let (layers, steps) = layers(&mut decoder, &record);
        let is_fragment =
            steps.iter().any(|step| matches!(step.passed, Passed::Ip { fragment: Some(_), .. }));
        let reassembled = steps
            .into_iter()
            .rev()
            .find(|step| matches!(step.passed, Passed::Reassembled { .. }))
            .map(|step| step.bytes);
        let explained = Explained { layers, data: record.data.to_vec(), reassembled };
        return Ok(if is_fragment { Found::Fragment(explained) } else { Found::Alone(explained) });
    }
}
