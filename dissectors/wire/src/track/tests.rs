//! Ladder diagrams in, ledger rows out. The expectations are the RFCs' words.

mod acknowledgements;
mod addresses;
mod damage;
mod data;
mod duplicates;
mod ends;
mod floods;
mod handshake;
mod middle;
mod model;
mod runs;
mod script;
mod signals;
mod timers;
