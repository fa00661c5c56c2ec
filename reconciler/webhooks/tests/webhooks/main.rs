//! The webhooks as a server asks them, with a garden in memory and a cloud over HTTP.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod answers;
mod dynamic;
mod world;
