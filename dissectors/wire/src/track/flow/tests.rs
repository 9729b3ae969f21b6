//! Ladders of TCP segments in, rows out. The expectations are the RFCs' words.

mod bounds;
mod followed;
mod handshake;
mod ladder;
mod losses;
mod multipath;
mod numbered;
