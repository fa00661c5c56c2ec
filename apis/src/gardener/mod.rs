//! The part of Gardener's own objects that we read or write.
//!
//! Objects we only read ([`Shoot`], [`Cluster`], [`CloudProfile`], …) hold the fields we look at and skip the rest.
//! Objects we write back ([`Infrastructure`], [`ManagedResource`]) keep what they don't know in `other`.

mod core;
mod extensions;
mod resources;

pub use self::core::*;
pub use extensions::*;
pub use resources::*;

/// An object inside another one, of a kind the outer object doesn't know. `null` stands for "absent" as in Go.
pub type RawExtension = serde_json::Value;

/// Fields of a foreign object that we don't know and hand back as they came.
pub type Other = serde_json::Map<String, serde_json::Value>;
