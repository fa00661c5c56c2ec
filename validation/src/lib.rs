//! The rules an object has to keep, as pure functions from values to [`fabric_apis::field::Findings`].
//!
//! ```text
//!   any object ─► openstack::admission   which rules are for its kind, and what else they need to see
//!                   ├─► shoot            takes a Shoot apart and asks the others
//!                   ├─► infrastructure   InfrastructureConfig, with nodes and IP families
//!                   ├─► control_plane    ControlPlaneConfig                              ┌─► errors   (refused)
//!                   ├─► cloud_profile    profiles, and which pool a shoot may use  ──► Findings
//!                   └─► secret, bindings what shoots log in with                         └─► warnings (accepted, looks wrong)
//!   Observed ───► openstack::check       what only the cloud knows, already read
//! ```
//!
//! Invariants:
//! - No input, output, clock or cloud. The same input gives the same findings in the same order.
//! - Every rule is tried; nothing stops at the first finding, unless a later rule would only repeat the earlier one.
//! - No rule panics, whatever the value.
//! - What the provider extension accepts for a field it already has, we accept as well; what merely looks wrong there
//!   is a warning. The webhook, the controller and the command line call the same functions.

pub mod cidr;
pub mod openstack;
mod quantity;
pub mod text;
pub mod uuid;
