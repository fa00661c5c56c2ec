//! The webhooks against an embedded cloud.
fn main() {}
