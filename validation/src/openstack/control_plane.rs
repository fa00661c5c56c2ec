//! Rules for a `ControlPlaneConfig`: what the cloud controllers of a shoot are told.

use std::collections::HashSet;

use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::openstack::v1alpha1::{
    CloudProfileConfig, ControlPlaneConfig, InfrastructureConfig, LoadBalancerClass, LoadBalancerProvider,
};
use serde_json::{Value, json};

use super::cloud_profile::find_floating_pool;

/// The purposes a load balancer class can have. A `vpn` class comes from the CloudProfile only.
mod purpose {
    pub(super) const DEFAULT: &str = "default";
    pub(super) const PRIVATE: &str = "private";
    pub(super) const VPN: &str = "vpn";
}

/// Everything that is wrong with a config; `infrastructure` is the shoot's other config, where it can be read.
pub fn validate(
    config: &ControlPlaneConfig,
    infrastructure: Option<&InfrastructureConfig>,
    path: &Path<'_>,
) -> ErrorList {
    let mut errors = ErrorList::new();
    if config.load_balancer_provider.is_empty() {
        let detail = "must provide the name of a load balancer provider";
        errors.push(Error::required(&path.child("loadBalancerProvider"), detail));
    }
    let classes = path.child("loadBalancerClasses");
    errors.extend(validate_load_balancer_classes(&config.load_balancer_classes, &classes));
    for (index, class) in config.load_balancer_classes.iter().enumerate() {
        if class.purpose.as_deref() == Some(purpose::VPN) {
            let detail = "a class with purpose \"vpn\" is for the operator to define, in the CloudProfile";
            errors.push(Error::invalid(&classes.index(index), purpose::VPN, detail));
        }
    }
    validate_feature_gates(config, path, &mut errors);
    if config.wants_manila() && infrastructure.is_some_and(|config| !has_share_network(config)) {
        let detail = "the Manila driver needs a share network: set networks.shareNetwork.enabled or \
                      networks.shareNetworkId in infrastructureConfig";
        errors.push(Error::invalid(&path.child("storage").child("csiManila").child("enabled"), true, detail));
    }
    errors
}

/// A given share network serves the driver as well as one of ours.
fn has_share_network(config: &InfrastructureConfig) -> bool {
    config.networks.share_network_enabled() || config.networks.share_network_id.is_some()
}

/// Which gates a Kubernetes version knows changes with each version; the controller itself tells. What can't be the
/// name of any is told here.
fn validate_feature_gates(config: &ControlPlaneConfig, path: &Path<'_>, errors: &mut ErrorList) {
    let Some(manager) = &config.cloud_controller_manager else { return };
    let (manager_path, field) = (path.child("cloudControllerManager"), "featureGates");
    for name in manager.feature_gates.keys() {
        let named = name.starts_with(|first: char| first.is_ascii_alphabetic())
            && name.chars().all(|character| character.is_ascii_alphanumeric());
        if !named {
            let detail = "no name of a Kubernetes feature: they are letters and digits only";
            errors.push(Error::invalid(&manager_path.child(field).child(name), name.as_str(), detail));
        }
    }
}

/// Everything that is wrong with a list of load balancer classes, in a shoot or in a profile.
pub fn validate_load_balancer_classes(classes: &[LoadBalancerClass], path: &Path<'_>) -> ErrorList {
    let mut errors = ErrorList::new();
    let mut names = HashSet::new();
    for (index, class) in classes.iter().enumerate() {
        let path = path.index(index);
        if let Some(given) = class.purpose.as_deref()
            && ![purpose::DEFAULT, purpose::PRIVATE, purpose::VPN].contains(&given)
        {
            let detail = "no purpose of a load balancer class: it is \"default\", \"private\", or none";
            errors.push(Error::invalid(&path, given, detail));
        }
        let selectors = [&class.floating_subnet_id, &class.floating_subnet_name, &class.floating_subnet_tags];
        if selectors.iter().filter(|selector| selector.is_some()).count() > 1 {
            let detail = "a floating subnet is chosen by one of floatingSubnetID, floatingSubnetName and \
                          floatingSubnetTags";
            errors.push(Error::forbidden(&path, detail));
        }
        if !names.insert(&class.name) {
            errors.push(Error::duplicate(&path.child("name"), class.name.as_str()));
        }
    }
    for special in [purpose::DEFAULT, purpose::PRIVATE] {
        let is_special =
            |class: &&LoadBalancerClass| class.purpose.as_deref() == Some(special) || class.name == special;
        // Each one too many is told, as upstream does; texts are equal, so a reader sees one.
        for _ in classes.iter().filter(is_special).skip(1) {
            let detail = format!("only one class can be the {special} one, by its purpose or by its name");
            errors.push(Error::invalid(path, json!(classes), detail));
        }
    }
    errors
}

/// What an operator offers at a shoot's place.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// The offer.
    pub profile: &'a CloudProfileConfig,
    /// Keystone domain of the shoot's credentials.
    pub domain: &'a str,
    /// Region of the shoot.
    pub region: &'a str,
}

/// What a config asks for that is not on offer. A part that is as in `old` is not judged: an offer that ended keeps no
/// running shoot from changing something else. `pool` is the shoot's floating pool.
pub fn validate_offer(
    config: &ControlPlaneConfig,
    old: Option<&ControlPlaneConfig>,
    pool: &str,
    offer: &Offer<'_>,
    path: &Path<'_>,
) -> ErrorList {
    let mut errors = ErrorList::new();
    let provider = config.load_balancer_provider.as_str();
    if !provider.is_empty() && old.is_none_or(|old| old.load_balancer_provider != provider) {
        let offered = offered_providers(&offer.profile.constraints.load_balancer_providers, offer.region);
        if !offered.contains(&provider) {
            errors.push(Error::not_supported(&path.child("loadBalancerProvider"), provider, &offered));
        }
    }
    if old.is_none_or(|old| old.load_balancer_classes != config.load_balancer_classes) {
        validate_classes(&config.load_balancer_classes, pool, offer, &path.child("loadBalancerClasses"), &mut errors);
    }
    errors
}

/// The providers of the region hide those of everywhere.
fn offered_providers<'a>(providers: &'a [LoadBalancerProvider], region: &str) -> Vec<&'a str> {
    let of = |place: Option<&str>| -> Vec<&'a str> {
        providers.iter().filter(|it| it.region.as_deref() == place).map(|it| it.name.as_str()).collect()
    };
    let regional = of(Some(region));
    if regional.is_empty() { of(None) } else { regional }
}

/// A pool without classes offers any; one with classes offers exactly these.
fn validate_classes(
    classes: &[LoadBalancerClass],
    pool: &str,
    offer: &Offer<'_>,
    path: &Path<'_>,
    errors: &mut ErrorList,
) {
    if classes.is_empty() {
        return;
    }
    let pools = &offer.profile.constraints.floating_pools;
    let offered = match find_floating_pool(pools, offer.domain, offer.region, pool) {
        Ok(pool) if pool.load_balancer_classes.is_empty() => return,
        Ok(pool) => &pool.load_balancer_classes,
        Err(_) => {
            let detail = format!(
                "cannot be compared with those of the floating pool {pool:?}, which the CloudProfile does not offer"
            );
            errors.push(Error::invalid(path, json!(classes), detail));
            return;
        }
    };
    let shown: Vec<String> = offered.iter().map(|class| json!(class).to_string()).collect();
    for (index, class) in classes.iter().enumerate() {
        if !offered.contains(class) {
            let value: Value = json!(class);
            errors.push(Error::not_supported(&path.index(index), value, &shown));
        }
    }
}

#[cfg(test)]
mod tests;
