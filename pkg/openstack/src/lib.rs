//! The OpenStack client: session, retries and typed calls, one trait a service.

pub mod api;

pub use api::{Cloud, Query, Result, RouterInterface, Taggable};
