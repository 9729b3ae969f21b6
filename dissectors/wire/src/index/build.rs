//! Making an index, as a pass goes on.

use std::collections::BTreeSet;

use arrow_array::RecordBatch;

use super::PIECE;
use crate::container::Description;
use crate::ledger::{IndexAssociationBlockRow, IndexBlockRow, IndexDescriptionRow, IndexPacketRow};
use crate::packet::Source;
use crate::track::standing::Standing;

/// Notes packets in the order of the pass.
pub struct Indexer {
    /// Of the file, from where a block begins to where the next one may.
    block_bytes: u64,
    open: Open,
    /// Packets of closed blocks, a batch a block.
    closed: Vec<RecordBatch>,
    blocks: Vec<IndexBlockRow>,
    associations: Vec<IndexAssociationBlockRow>,
    /// The furthest place in the file that a packet came from.
    furthest: u64,
}

/// The block that packets are added to.
#[derive(Default)]
struct Open {
    rows: Vec<IndexPacketRow>,
    associations: BTreeSet<u32>,
    /// The first record, by its place in the file.
    start: Option<Source>,
    /// Earliest and latest packet.
    span_ns: Option<(i64, i64)>,
    packets: u64,
    /// `furthest` when the block began. The records of several interfaces are read in turns from
    /// places that lie apart; how far the reading has come altogether is what closes a block.
    since: u64,
}

/// A finished index; of its packets, those that were not taken before.
pub struct Tables {
    pub packets: Vec<RecordBatch>,
    pub blocks: RecordBatch,
    pub associations: RecordBatch,
    pub descriptions: RecordBatch,
}

impl Indexer {
    pub fn new(block_bytes: u64) -> Self {
        Indexer {
            block_bytes,
            open: Open::default(),
            closed: Vec::new(),
            blocks: Vec::new(),
            associations: Vec::new(),
            furthest: 0,
        }
    }

    /// One SCTP packet, and the transmission numbers of its DATA chunks.
    pub fn packet(&mut self, record: Source, standing: &Standing, transmissions: &[u32]) {
        self.furthest = self.furthest.max(record.offset);
        if self.furthest.saturating_sub(self.open.since) >= self.block_bytes {
            self.close();
        }
        let open = &mut self.open;
        let time_ns = record.time_ns;
        let (least_ns, greatest_ns) = open.span_ns.unwrap_or((time_ns, time_ns));
        open.span_ns = Some((least_ns.min(time_ns), greatest_ns.max(time_ns)));
        open.packets += 1;
        open.associations.extend(standing.association);
        let again = transmissions.iter().any(|number| *number != 1);
        open.push(
            record,
            IndexPacketRow {
                standing: standing.kind.name(),
                association: standing.association,
                sender: standing.sender.map(|end| end.name()),
                path: standing.path,
                transmissions: again.then(|| list(transmissions)),
                ..Default::default()
            },
        );
    }

    /// The records that the packet noted last was put together from, in any order.
    pub fn pieces(&mut self, sources: &[Source]) {
        let Some(packet) = self.open.rows.pop() else { return };
        let mut sources = sources.to_vec();
        // Fragments find together in the order they were read in.
        sources.sort_unstable();
        for source in sources.iter().filter(|source| source.frame != packet.frame) {
            let part_of = Some(packet.frame);
            self.open
                .push(*source, IndexPacketRow { standing: PIECE, part_of, ..Default::default() });
        }
        self.open.rows.push(packet);
    }

    /// The packets of blocks that were closed since the last call, a batch a block.
    pub fn take(&mut self) -> Vec<RecordBatch> {
        std::mem::take(&mut self.closed)
    }

    pub fn finish(mut self, descriptions: &[Description]) -> Tables {
        self.close();
        let descriptions: Vec<_> = descriptions
            .iter()
            .map(|&Description { section, offset, length }| IndexDescriptionRow {
                section,
                offset,
                length,
            })
            .collect();
        Tables {
            packets: self.closed,
            blocks: IndexBlockRow::batch(&self.blocks),
            associations: IndexAssociationBlockRow::batch(&self.associations),
            descriptions: IndexDescriptionRow::batch(&descriptions),
        }
    }

    fn close(&mut self) {
        let open =
            std::mem::replace(&mut self.open, Open { since: self.furthest, ..Default::default() });
        let (Some(start), Some((least_ns, greatest_ns))) = (open.start, open.span_ns) else {
            return;
        };
        // Of blocks as large as any use has them, 2^32 take more than a file can have.
        let block = u32::try_from(self.blocks.len()).unwrap_or(u32::MAX);
        let rows: Vec<_> =
            open.rows.into_iter().map(|row| IndexPacketRow { block, ..row }).collect();
        self.closed.push(IndexPacketRow::batch(&rows));
        let associations = open.associations.into_iter();
        self.associations.extend(
            associations.map(|association| IndexAssociationBlockRow { association, block }),
        );
        self.blocks.push(IndexBlockRow {
            block,
            offset: start.offset,
            frame: start.frame,
            least_ns,
            greatest_ns,
            packets: open.packets,
        });
    }
}

impl Open {
    fn push(&mut self, record: Source, row: IndexPacketRow) {
        let Source { frame, time_ns, .. } = record;
        if self.start.is_none_or(|start| record.offset < start.offset) {
            self.start = Some(record);
        }
        self.rows.push(IndexPacketRow { frame, time_ns, ..row });
    }
}

fn list(numbers: &[u32]) -> String {
    numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
