//! The static rules a second time, as tables over the raw objects, and the code held against them.
//!
//! Each row is written from the specification's text alone and shares no code with the crate: it reads the JSON that a
//! user wrote. For any object the code's errors, by path and kind, must be exactly those of the rows that apply.
//!
//! `FABRIC_RULE_CASES` is the number of objects for each table.

#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing)] // all of this is tests

mod control_plane;
mod infrastructure;
mod pool;
mod profile;
mod secret;
mod shoot;
mod table;
mod values;
