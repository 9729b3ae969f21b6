//! AUTH (RFC 4895): what each end announced, what each end sent, and chunks that
//! should have been authenticated and were not. The keys are not known, so that
//! no hash is checked.

use super::End;
use super::path::Place;
use crate::ledger::{AuthenticationRow, Ledger};
use crate::sctp::auth::{Auth, hmac_name};
use crate::sctp::setup::Init;
use crate::sctp::{Chunk, chunk, param};

/// Most Shared Key Identifiers listed of one end.
const KEYS: usize = 64;

/// Nothing is kept for associations that do without.
#[derive(Default)]
pub struct Authentication {
    ends: [Option<Box<Announced>>; 2],
    /// Frame and sender of the last AUTH: it covers the rest of its packet.
    covered: Option<(u64, End)>,
}

/// What one end announced and used.
struct Announced {
    row: usize,
    /// It sent RANDOM and HMAC-ALGO: it can authenticate (RFC 4895 section 6.1).
    able: bool,
    /// Chunk types that it wants authenticated.
    wanted: [bool; 256],
    used_hmacs: Vec<u16>,
    used_keys: Vec<u16>,
    unauthenticated: Vec<u8>,
}

impl Authentication {
    /// What an INIT or INIT ACK announces.
    pub fn init(&mut self, init: &Init<'_>, at: &Place, ledger: &mut Ledger) {
        let parameters = || init.params.clone().flatten();
        let asks = parameters().any(|parameter| {
            let kind = parameter.kind;
            matches!(kind, param::RANDOM | param::CHUNK_LIST | param::REQUESTED_HMAC_ALGORITHM)
        });
        if !asks {
            return;
        }
        let random = parameters().find(|parameter| parameter.kind == param::RANDOM);
        let hmacs: Vec<u16> = parameters().flat_map(|parameter| parameter.hmac_ids()).collect();
        let chunks: Vec<u8> =
            parameters().flat_map(|parameter| parameter.chunk_list()).copied().collect();
        let Some(announced) = self.announced(at, ledger) else { return };
        announced.able = random.is_some() && !hmacs.is_empty();
        announced.wanted = [false; 256];
        for kind in &chunks {
            // Before there is a key nothing can be authenticated (RFC 4895 section 3.2).
            announced.wanted[usize::from(*kind)] = !matches!(
                *kind,
                chunk::INIT | chunk::INIT_ACK | chunk::SHUTDOWN_COMPLETE | chunk::AUTH
            );
        }
        let row = &mut ledger.authentication[announced.row];
        row.random_bytes = random.map(|random| random.length.saturating_sub(4));
        row.hmacs = hmac_names(&hmacs);
        row.chunks = chunk_names(&chunks);
    }

    /// Any chunk, in its packet's order.
    #[inline]
    pub fn chunk(&mut self, chunk: &Chunk<'_>, at: &Place, ledger: &mut Ledger) {
        if chunk.kind == chunk::AUTH {
            self.covered = Some((at.moment.frame, at.sender));
            if let Ok(auth) = chunk.auth() {
                self.used(&auth, at, ledger);
            }
        } else if self.is_uncovered(chunk.kind, at) {
            let Some(announced) = self.announced(at, ledger) else { return };
            let row = &mut ledger.authentication[announced.row];
            row.unauthenticated_chunks += 1;
            row.first_unauthenticated_frame.get_or_insert(at.moment.frame);
            if !announced.unauthenticated.contains(&chunk.kind) {
                announced.unauthenticated.push(chunk.kind);
                row.unauthenticated_types = chunk_names(&announced.unauthenticated);
            }
        }
    }

    /// Both ends can authenticate, the receiver wants it for this type, and no AUTH came before.
    fn is_uncovered(&self, kind: u8, at: &Place) -> bool {
        let [Some(a), Some(b)] = &self.ends else { return false };
        let receiver = if at.sender == End::A { b } else { a };
        a.able
            && b.able
            && receiver.wanted[usize::from(kind)]
            && self.covered != Some((at.moment.frame, at.sender))
    }

    fn used(&mut self, auth: &Auth<'_>, at: &Place, ledger: &mut Ledger) {
        let Some(announced) = self.announced(at, ledger) else { return };
        let row = &mut ledger.authentication[announced.row];
        row.auth_chunks += 1;
        row.first_auth_frame.get_or_insert(at.moment.frame);
        if is_new(&mut announced.used_hmacs, auth.hmac_id) {
            row.used_hmacs = hmac_names(&announced.used_hmacs);
        }
        if is_new(&mut announced.used_keys, auth.key_id) {
            let keys: Vec<String> = announced.used_keys.iter().map(u16::to_string).collect();
            row.used_keys = keys.join(",");
        }
    }

    /// What is known of an end; nothing where there is no room for its row.
    fn announced(&mut self, at: &Place, ledger: &mut Ledger) -> Option<&mut Announced> {
        let end = &mut self.ends[at.sender as usize];
        if end.is_none() {
            let row = ledger.keep(AuthenticationRow {
                association: at.association,
                sender: at.sender.name(),
                ..Default::default()
            })?;
            *end = Some(Box::new(Announced {
                row,
                able: false,
                wanted: [false; 256],
                used_hmacs: Vec::new(),
                used_keys: Vec::new(),
                unauthenticated: Vec::new(),
            }));
        }
        end.as_deref_mut()
    }
}

fn is_new(known: &mut Vec<u16>, id: u16) -> bool {
    let new = known.len() < KEYS && !known.contains(&id);
    if new {
        known.push(id);
    }
    new
}

fn hmac_names(ids: &[u16]) -> String {
    let name = |id: &u16| hmac_name(*id).map_or_else(|| id.to_string(), str::to_string);
    ids.iter().map(name).collect::<Vec<_>>().join(", ")
}

fn chunk_names(kinds: &[u8]) -> String {
    let name = |kind: &u8| match chunk::name(*kind) {
        "unknown" => kind.to_string(),
        known => known.to_string(),
    };
    kinds.iter().map(name).collect::<Vec<_>>().join(", ")
}
