//! Rules for the OpenStack provider's objects.

pub mod admission;
pub mod check;
pub mod cloud_profile;
pub mod infrastructure;
pub mod secret;
pub mod shoot;
