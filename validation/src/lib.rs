//! The rules an object has to keep, as pure functions from values to [`fabric_apis::field::Findings`].
//!
//! ```text
//!   InfrastructureConfig ─┐                                    ┌─► errors   (refused)
//!   nodes, IP families  ──┼─► openstack::infrastructure ──► Findings
//!   CloudProfileConfig  ──┼─► openstack::cloud_profile         └─► warnings (accepted, looks wrong)
//!   Shoot               ──┼─► openstack::shoot  (takes the parts out of a Shoot and calls the others)
//!   Secret              ──┼─► openstack::secret
//!   Observed            ──┴─► openstack::check  (what only the cloud knows, already read)
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
