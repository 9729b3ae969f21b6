//! What the fuzz targets share: how a capture is read in two ways that must agree, what
//! holds for any ledger, and how a few bytes become a capture with associations and flows
//! in it.
#![forbid(unsafe_code)]

pub mod build;
pub mod fragments;
pub mod ledger;
pub mod packet;
pub mod records;
pub mod rewrite;
pub mod script;
pub mod segment;
pub mod trace;
pub mod tracker;
