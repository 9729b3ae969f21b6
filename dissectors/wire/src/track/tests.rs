//! Ladder diagrams in, ledger rows out. The expectations are the RFCs' words.

mod acknowledgements;
mod addresses;
mod authentication;
mod blocking;
mod damage;
mod data;
mod duplicates;
mod ends;
mod floods;
mod handshake;
mod messages;
mod messages_model;
mod middle;
mod model;
mod oddities;
mod receivers;
mod rto;
mod runs;
mod script;
mod signals;
mod spec;
mod timers;
mod zero_checksum;
