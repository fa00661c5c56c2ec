//! The OpenStack provider's configuration and status objects.

pub mod v1alpha1;
