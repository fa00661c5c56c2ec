//! What an operator offers, and what of it a shoot may use.
//!
//! ```text
//!   CloudProfile ───────────► config        is the offer itself in order?
//!   NamespacedCloudProfile ─► namespaced    does it change only what it may, beside its parent's offer?
//!   InfrastructureConfig ───► search        is this floating pool on offer here, and what is preset for it?
//! ```

pub(crate) mod admission;
mod config;
mod namespaced;
mod search;

pub use config::{CONFIG_PATH, validate_config, validate_images};
pub use namespaced::validate_namespaced;
pub use search::{default_floating_subnet, find_floating_pool, validate};
