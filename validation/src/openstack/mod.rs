//! Rules for the OpenStack provider's objects.

pub mod admission;
pub mod bindings;
pub mod check;
pub mod cloud_profile;
pub mod cloudprovider;
pub mod control_plane;
pub mod infrastructure;
pub mod secret;
pub mod shoot;

/// The type of provider that our objects are for.
pub const PROVIDER_TYPE: &str = "openstack";
