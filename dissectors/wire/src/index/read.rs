//! Reading the packets of one block again.

use std::path::Path;

use arrow_array::RecordBatch;
use arrow_array::cast::AsArray;
use arrow_array::types::{ArrowPrimitiveType, Int64Type, UInt32Type, UInt64Type};
use hashbrown::HashMap;

use super::PIECE;
use crate::container::{Capture, Record, Start};
use crate::error::{Error, Result};
use crate::ledger::ChunkRow;
use crate::packet::{Decoder, DecoderOptions, Found, Packet};
use crate::rows::chunk_row;
use crate::sctp::{self, Chunk, verify};
use crate::track::standing::{Kind, Standing};
use crate::track::{End, Moment, Seen};

/// What was read again.
pub struct Read {
    pub chunks: Vec<ChunkRow>,
    /// Of the file.
    pub bytes: u64,
}

/// A record to read again, as the index knows it.
struct Wanted {
    frame: u64,
    time_ns: i64,
    /// None for a piece of a packet.
    standing: Option<Standing>,
    /// Empty when each is 1.
    transmissions: Vec<u32>,
}

/// A record that was found again.
struct Kept {
    link_type: u16,
    interface: Option<String>,
    wire_length: u32,
    data: Vec<u8>,
}

/// Makes the chunk rows of `packets` again: rows of the index's packet table, in its order, from
/// a block that begins at `start`.
///
/// # Errors
/// [`Error::Usage`] when the capture, or `packets`, is not what was indexed; those of
/// [`Capture::open_at`] and [`Capture::next`].
pub fn read(
    path: &Path,
    start: &Start,
    packets: &RecordBatch,
    udp_ports: Vec<u16>,
) -> Result<Read> {
    let misfit =
        |what: String| Error::Usage(format!("{}: {what} is not as its index says", path.display()));
    let wanted = wanted(packets).ok_or_else(|| misfit("the packet table".into()))?;
    let mut capture = Capture::open_at(path, start)?;
    let kept = find(&mut capture, &wanted)?;
    let bytes = capture.bytes_read();
    let mut decoder = Decoder::new(DecoderOptions { udp_ports, ..Default::default() });
    let mut chunks = Vec::new();
    for (wanted, kept) in wanted.iter().zip(kept) {
        let rows = kept.and_then(|kept| wanted.rows(&mut decoder, &kept));
        chunks.extend(rows.ok_or_else(|| misfit(format!("frame {}", wanted.frame)))?);
    }
    Ok(Read { chunks, bytes })
}

/// Reads on until every record has been found, or the file ends.
fn find(capture: &mut Capture, wanted: &[Wanted]) -> Result<Vec<Option<Kept>>> {
    let mut places: HashMap<u64, usize> =
        wanted.iter().enumerate().map(|(place, one)| (one.frame, place)).collect();
    let mut kept: Vec<Option<Kept>> = wanted.iter().map(|_| None).collect();
    while !places.is_empty()
        && let Some(record) = capture.next()?
    {
        if let Some(slot) = places.remove(&record.frame).and_then(|place| kept.get_mut(place)) {
            *slot = Some(Kept::of(&record));
        }
    }
    Ok(kept)
}

impl Kept {
    fn of(record: &Record<'_>) -> Kept {
        Kept {
            link_type: record.link_type,
            interface: record.interface_name.map(str::to_string),
            wire_length: record.wire_length,
            data: record.data.to_vec(),
        }
    }
}

impl Wanted {
    /// The rows of the packet, none of a piece; None when there is no such packet in the record.
    fn rows(&self, decoder: &mut Decoder, kept: &Kept) -> Option<Vec<ChunkRow>> {
        let Kept { link_type, interface, wire_length, data } = kept;
        let found = decoder.decode(*link_type, self.time_ns, data, *wire_length);
        let Some(standing) = &self.standing else { return Some(Vec::new()) };
        let Found::Sctp(packet) = found else { return None };
        self.packet(&packet, standing, interface.as_deref(), *wire_length)
    }

    fn packet(
        &self,
        packet: &Packet<'_>,
        standing: &Standing,
        interface: Option<&str>,
        wire_bytes: u32,
    ) -> Option<Vec<ChunkRow>> {
        let (header, chunks) = sctp::parse(packet.sctp, packet.sctp_length).ok()?;
        let verdict = verify(packet.sctp, &header, packet.sctp_length);
        let moment = Moment { time_ns: self.time_ns, frame: self.frame };
        let head = (header, verdict);
        let seen = Seen::of(packet, head, chunks.clone(), moment, wire_bytes, interface);
        let mut numbers = self.transmissions.iter().copied();
        let mut transmission = |chunk: &Chunk<'_>| match chunk.data() {
            Ok(_) if standing.kind != Kind::Placed => Some(None),
            Ok(_) if self.transmissions.is_empty() => Some(Some(1)),
            Ok(_) => numbers.next().map(Some),
            Err(_) => Some(None),
        };
        chunks
            .map_while(|chunk| chunk.ok())
            .enumerate()
            .map(|(index, chunk)| {
                Some(chunk_row(&seen, standing, &chunk, index, transmission(&chunk)?))
            })
            .collect()
    }
}

/// The rows of an index's packet table; None when it has not the columns of one.
fn wanted(packets: &RecordBatch) -> Option<Vec<Wanted>> {
    let frames = column::<UInt64Type>(packets, "frame")?;
    let times = column::<Int64Type>(packets, "time_ns")?;
    let associations = column::<UInt32Type>(packets, "association")?;
    let paths = column::<UInt32Type>(packets, "path")?;
    let [kinds, senders, transmissions] =
        ["standing", "sender", "transmissions"].map(|name| text(packets, name));
    let (kinds, senders, transmissions) = (kinds?, senders?, transmissions?);
    (0..packets.num_rows())
        .map(|row| {
            let kind = *kinds.get(row)?;
            let standing = match kind? {
                PIECE => None,
                name => Some(Standing {
                    kind: Kind::of(name)?,
                    association: *associations.get(row)?,
                    sender: senders
                        .get(row)?
                        .map(|name| End::of(name).ok_or(()))
                        .transpose()
                        .ok()?,
                    path: *paths.get(row)?,
                }),
            };
            let numbers = transmissions.get(row)?.map(numbers);
            Some(Wanted {
                frame: (*frames.get(row)?)?,
                time_ns: (*times.get(row)?)?,
                standing,
                transmissions: match numbers {
                    None => Vec::new(),
                    Some(numbers) => numbers?,
                },
            })
        })
        .collect()
}

fn numbers(list: &str) -> Option<Vec<u32>> {
    list.split(',').map(|number| number.parse().ok()).collect()
}

fn column<T: ArrowPrimitiveType>(
    batch: &RecordBatch,
    name: &str,
) -> Option<Vec<Option<T::Native>>> {
    Some(batch.column_by_name(name)?.as_primitive_opt::<T>()?.iter().collect())
}

fn text<'b>(batch: &'b RecordBatch, name: &str) -> Option<Vec<Option<&'b str>>> {
    Some(batch.column_by_name(name)?.as_string_opt::<i32>()?.iter().collect())
}
