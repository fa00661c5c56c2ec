//! The types other programs share with us: what Gardener hands over, what we report back, and how both are read.
//!
//! ```text
//!   bytes (YAML, JSON) ──► decode::documents ──► Document ──► Document::strict  ──► openstack::v1alpha1::InfrastructureConfig …
//!                            line, column         Value,       unknown, duplicate
//!                            on bad syntax        duplicates   and ill-typed paths, all at once
//!                                                      └─────► Document::lenient ──► gardener::{Shoot, Infrastructure, …}
//!
//!   crd::definitions ──► the same kinds as CustomResourceDefinitions
//!
//!   field::{Path, Error, ErrorList} ◄── everything that has to say "this field is wrong"
//! ```
//!
//! Invariants:
//! - No input or output, no clock, no cloud: types and their encoding only.
//! - Names on the wire are exactly Gardener's and the OpenStack provider's, because other controllers decode strictly.
//! - What we do not know in a foreign object that we write back is kept ([`gardener`]'s `other` maps).
//! - Decoding never panics and is bounded in depth, whatever the bytes.

pub mod crd;
pub mod decode;
pub mod field;
pub mod gardener;
pub mod openstack;
mod wire;
