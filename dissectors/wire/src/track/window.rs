//! Times that a receiver's window was closed (RFC 9260 section 6.1, A).

use super::path::Place;
use crate::ledger::{Ledger, ZeroWindowRow};

/// The window of one receiver.
#[derive(Default)]
pub struct Window {
    closed: bool,
    /// None also where the table has no room for it.
    row: Option<usize>,
}

impl Window {
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// A SACK of the receiver.
    pub fn advertised(&mut self, a_rwnd: u32, at: &Place, ledger: &mut Ledger) {
        if a_rwnd == 0 {
            self.none_left(at, ledger);
        } else if self.closed {
            self.closed = false;
            if let Some(row) = self.row.take().and_then(|row| ledger.zero_windows.get_mut(row)) {
                row.end_ns = Some(at.moment.time_ns);
                row.end_frame = Some(at.moment.frame);
            }
        }
    }

    fn none_left(&mut self, at: &Place, ledger: &mut Ledger) {
        if !self.closed {
            self.closed = true;
            self.row = ledger.keep(ZeroWindowRow {
                association: at.association,
                sender: at.sender.name(),
                start_ns: at.moment.time_ns,
                start_frame: at.moment.frame,
                ..Default::default()
            });
        }
        if let Some(row) = self.row.and_then(|row| ledger.zero_windows.get_mut(row)) {
            row.sacks += 1;
            row.last_ns = at.moment.time_ns;
            row.last_frame = at.moment.frame;
        }
    }

    /// The only chunk outstanding was sent, new or again, to a receiver whose window is closed.
    pub fn probed(&mut self, at: &Place, ledger: &mut Ledger) {
        if let Some(row) = self.row.and_then(|row| ledger.zero_windows.get_mut(row)) {
            row.probes += 1;
            row.first_probe_frame.get_or_insert(at.moment.frame);
        }
    }
}
