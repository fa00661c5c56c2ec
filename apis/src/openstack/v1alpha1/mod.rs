//! `openstack.provider.extensions.gardener.cloud/v1alpha1`, as the provider extension defines it on the wire.
//!
//! These objects travel as raw extensions inside Gardener's. The provider's Worker and ControlPlane controllers read
//! [`InfrastructureStatus`] strictly, so its keys and their presence are part of the contract; the golden files beside
//! the tests hold them.

mod cloud_profile_config;
mod control_plane_config;
mod infrastructure_config;
mod infrastructure_state;
mod infrastructure_status;
mod worker_config;

pub use cloud_profile_config::*;
pub use control_plane_config::*;
pub use infrastructure_config::*;
pub use infrastructure_state::*;
pub use infrastructure_status::*;
pub use worker_config::*;

use crate::wire::constant_text;

constant_text! {
    /// The `apiVersion` of every object in this module.
    ApiVersion = "openstack.provider.extensions.gardener.cloud/v1alpha1"
}

macro_rules! kinded {
    ($object:ident, $kind:ident) => {
        impl crate::decode::Kinded for $object {
            const API_VERSION: &'static str = super::ApiVersion::TEXT;
            const KIND: &'static str = $kind::TEXT;
        }
    };
}
use kinded;
