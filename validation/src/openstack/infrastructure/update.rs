//! Rules for changing an `InfrastructureConfig`: nearly nothing of a network can be changed under running nodes.

use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use serde::Serialize;
use serde_json::Value;

/// What a change may not touch. `new` is compared by value, so setting a field that was absent is a change as well.
/// Moving a value from `worker` to `workers` is refused like any other change.
pub fn validate_update(new: &InfrastructureConfig, old: &InfrastructureConfig, path: &Path<'_>) -> ErrorList {
    let mut errors = ErrorList::new();
    let networks = path.child("networks");
    let (after, before) = (&new.networks, &old.networks);
    immutable(&after.id, &before.id, &networks.child("id"), &mut errors);
    immutable(&after.subnet_id, &before.subnet_id, &networks.child("subnetId"), &mut errors);
    immutable(&after.security_group_id, &before.security_group_id, &networks.child("securityGroupId"), &mut errors);
    immutable(&after.share_network_id, &before.share_network_id, &networks.child("shareNetworkId"), &mut errors);
    immutable(&after.router, &before.router, &networks.child("router"), &mut errors);
    immutable(&after.worker, &before.worker, &networks.child("worker"), &mut errors);
    immutable(&after.workers, &before.workers, &networks.child("workers"), &mut errors);
    immutable(&after.ipv6, &before.ipv6, &networks.child("ipv6"), &mut errors);
    immutable(&after.subnet_pool, &before.subnet_pool, &networks.child("subnetPool"), &mut errors);
    // A share network can be asked for later, but not taken away from pods that mount from it.
    if before.share_network_enabled() {
        immutable(&after.share_network, &before.share_network, &networks.child("shareNetwork"), &mut errors);
    }
    immutable(&new.floating_pool_name, &old.floating_pool_name, &path.child("floatingPoolName"), &mut errors);
    let subnet_name = path.child("floatingPoolSubnetName");
    immutable(&new.floating_pool_subnet_name, &old.floating_pool_subnet_name, &subnet_name, &mut errors);
    errors
}

fn immutable<T: PartialEq + Serialize>(new: &T, old: &T, path: &Path<'_>, errors: &mut ErrorList) {
    if new != old {
        // These types hold text and numbers only; they always have a JSON form.
        let value = serde_json::to_value(new).unwrap_or(Value::Null);
        errors.push(Error::invalid(path, value, "field is immutable"));
    }
}
