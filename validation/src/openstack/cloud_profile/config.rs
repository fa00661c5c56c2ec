//! A CloudProfile's own offer: `spec.providerConfig`, and that it has what `spec.machineImages` promises.
//!
//! Some paths are not the fields' (`keyStoneURL`, `keyStoneURLs`, `caCert`): they are upstream's, and scripts match them.

use std::collections::HashSet;
use std::net::IpAddr;

use fabric_apis::field::{Error, ErrorList, Path};
use fabric_apis::gardener::MachineImageOffer;
use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, Constraints, KeystoneUrl, MachineImage, RegionImage};

use crate::openstack::control_plane::validate_load_balancer_classes;
use crate::openstack::secret::missing_pem_markers;

/// Where the `CloudProfileConfig` stands in a CloudProfile and in a NamespacedCloudProfile.
pub const CONFIG_PATH: &str = "spec.providerConfig";

/// Everything that is wrong with a CloudProfile's config; `path` is the config's.
pub fn validate_config(config: &CloudProfileConfig, path: &Path<'_>) -> ErrorList {
    let mut errors = ErrorList::new();
    let constraints = path.child("constraints");
    floating_pools(&config.constraints, &constraints.child("floatingPools"), &mut errors);
    load_balancer_providers(&config.constraints, &constraints.child("loadBalancerProviders"), &mut errors);
    let images = path.child("machineImages");
    if config.machine_images.is_empty() {
        errors.push(Error::required(&images, "must provide at least one machine image"));
    }
    for (index, image) in config.machine_images.iter().enumerate() {
        machine_image(image, &images.index(index), &mut errors);
    }
    keystone(config, path, &mut errors);
    for (index, server) in config.dns_servers.iter().enumerate() {
        if server.parse::<IpAddr>().is_err() {
            let path = path.child("dnsServers");
            errors.push(Error::invalid(&path.index(index), server.as_str(), "must provide a valid IP"));
        }
    }
    if config.dhcp_domain.as_deref() == Some("") {
        let detail = "must provide a dhcp domain when the key is specified";
        errors.push(Error::required(&path.child("dhcpDomain"), detail));
    }
    for (index, _) in config.server_group_policies.iter().enumerate().filter(|(_, policy)| policy.is_empty()) {
        errors.push(Error::required(&path.child("serverGroupPolicies").index(index), "policy cannot be empty"));
    }
    errors
}

/// Rule: each version of each machine image on offer is one that the cloud has. `path` is the offers', which are in the
/// profile around the config.
///
/// Architectures and capabilities are not compared: the worker controller does, which alone reads them.
pub fn validate_images(offers: &[MachineImageOffer], config: &CloudProfileConfig, path: &Path<'_>) -> ErrorList {
    let mut errors = ErrorList::new();
    for (index, offer) in offers.iter().enumerate().filter(|(_, offer)| !offer.versions.is_empty()) {
        let path = path.index(index);
        let Some(known) = versions(&config.machine_images, &offer.name) else {
            let detail = format!("must provide an image mapping for image {:?} in providerConfig", offer.name);
            errors.push(Error::required(&path, detail));
            continue;
        };
        for (index, offered) in offer.versions.iter().enumerate() {
            if !known.contains(offered.version.as_str()) {
                let (name, version) = (&offer.name, &offered.version);
                let detail = format!("machine image version {name}@{version} is not defined in the providerConfig");
                errors.push(Error::required(&path.child("versions").index(index), detail));
            }
        }
    }
    errors
}

/// The versions that the cloud has of the image `name`; `None` when it has no such image.
pub(super) fn versions<'a>(images: &'a [MachineImage], name: &str) -> Option<HashSet<&'a str>> {
    let mut found = images.iter().filter(|image| image.name == name).peekable();
    found.peek()?;
    Some(found.flat_map(|image| &image.versions).map(|version| version.version.as_str()).collect())
}

fn floating_pools(constraints: &Constraints, path: &Path<'_>, errors: &mut ErrorList) {
    if constraints.floating_pools.is_empty() {
        errors.push(Error::required(path, "must provide at least one floating pool"));
    }
    let mut known = HashSet::new();
    for (index, pool) in constraints.floating_pools.iter().enumerate() {
        let path = path.index(index);
        if pool.name.is_empty() {
            errors.push(Error::required(&path.child("name"), "must provide a name"));
        }
        place("region", pool.region.as_deref(), &path, errors);
        place("domain", pool.domain.as_deref(), &path, errors);
        // Upstream accepts a pool of everywhere twice.
        let somewhere = pool.region.is_some() || pool.domain.is_some();
        if somewhere && !known.insert((&pool.name, &pool.domain, &pool.region)) {
            errors.push(Error::duplicate(&path.child("name"), pool.name.as_str()));
        }
        let classes = path.child("loadBalancerClasses");
        errors.extend(validate_load_balancer_classes(&pool.load_balancer_classes, &classes));
    }
}

fn load_balancer_providers(constraints: &Constraints, path: &Path<'_>, errors: &mut ErrorList) {
    if constraints.load_balancer_providers.is_empty() {
        errors.push(Error::required(path, "must provide at least one load balancer provider"));
    }
    let mut known = HashSet::new();
    for (index, provider) in constraints.load_balancer_providers.iter().enumerate() {
        let path = path.index(index);
        if provider.name.is_empty() {
            errors.push(Error::required(&path.child("name"), "must provide a name"));
        }
        place("region", provider.region.as_deref(), &path, errors);
        // As above.
        if let Some(region) = &provider.region
            && !known.insert((&provider.name, region))
        {
            let value = format!("duplicate provider {:?} for region {region:?}", provider.name);
            errors.push(Error::duplicate(&path, value));
        }
    }
}

/// Rule: a region or domain that is there is not empty.
fn place(what: &str, value: Option<&str>, path: &Path<'_>, errors: &mut ErrorList) {
    if value == Some("") {
        errors.push(Error::required(&path.child(what), format!("must provide a {what} if key is present")));
    }
}

/// Rules for one entry of `machineImages`; a NamespacedCloudProfile's have the same.
pub(super) fn machine_image(image: &MachineImage, path: &Path<'_>, errors: &mut ErrorList) {
    if image.name.is_empty() {
        errors.push(Error::required(&path.child("name"), "must provide a name"));
    }
    let versions = path.child("versions");
    if image.versions.is_empty() {
        let detail = format!("must provide at least one version for machine image {:?}", image.name);
        errors.push(Error::required(&versions, detail));
    }
    for (index, version) in image.versions.iter().enumerate() {
        let path = versions.index(index);
        if version.version.is_empty() {
            errors.push(Error::required(&path.child("version"), "must provide a version"));
        }
        regions(&version.regions, &path.child("regions"), errors);
        for (index, flavor) in version.capability_flavors.iter().enumerate() {
            regions(&flavor.regions, &path.child("capabilityFlavors").index(index).child("regions"), errors);
        }
    }
}

fn regions(regions: &[RegionImage], path: &Path<'_>, errors: &mut ErrorList) {
    for (index, region) in regions.iter().enumerate() {
        let path = path.index(index);
        if region.name.is_empty() {
            errors.push(Error::required(&path.child("name"), "must provide a name"));
        }
        if region.id.is_empty() {
            errors.push(Error::required(&path.child("id"), "must provide an image ID"));
        }
    }
}

fn keystone(config: &CloudProfileConfig, path: &Path<'_>, errors: &mut ErrorList) {
    if config.keystone_url.is_empty() && config.keystone_urls.is_empty() {
        errors.push(Error::required(&path.child("keyStoneURL"), "must provide the URL to KeyStone"));
    }
    certificate(config.keystone_ca_cert.as_deref(), &path.child("caCert"), errors);
    let mut known = HashSet::new();
    for (index, KeystoneUrl { region, url, ca_cert }) in config.keystone_urls.iter().enumerate() {
        let path = path.child("keyStoneURLs");
        let path = path.index(index);
        if region.is_empty() {
            errors.push(Error::required(&path.child("region"), "must provide a region"));
        }
        if url.is_empty() {
            errors.push(Error::required(&path.child("url"), "must provide an url"));
        }
        certificate(ca_cert.as_deref(), &path.child("caCert"), errors);
        if !known.insert(region) {
            errors.push(Error::duplicate(&path.child("region"), region.as_str()));
        }
    }
}

/// Rule: a CA bundle that is not empty is in PEM.
fn certificate(bundle: Option<&str>, path: &Path<'_>, errors: &mut ErrorList) {
    let bundle = bundle.filter(|bundle| !bundle.is_empty());
    if bundle.is_some_and(|bundle| missing_pem_markers(bundle).next().is_some()) {
        errors.push(Error::invalid(path, bundle.unwrap_or_default(), "is not a PEM-encoded certificate"));
    }
}

#[cfg(test)]
mod tests {
    use fabric_apis::decode;
    use serde_json::{Value, json};

    use super::*;

    pub(crate) fn good() -> Value {
        json!({
            "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
            "keystoneURL": "https://keystone.example/v3",
            "constraints": {"floatingPools": [{"name": "fip"}], "loadBalancerProviders": [{"name": "amphora"}]},
            "machineImages": [{"name": "linux", "versions": [{"version": "1.0", "image": "linux-1.0"}]}],
        })
    }

    fn told(errors: &ErrorList) -> String {
        if errors.is_empty() { String::new() } else { errors.to_string() }
    }

    #[test]
    fn each_part_of_an_offer_is_judged() {
        let pools =
            |pools: Value| json!({"constraints": {"floatingPools": pools, "loadBalancerProviders": [{"name": "a"}]}});
        let providers = |providers: Value| json!({"constraints": {"floatingPools": [{"name": "f"}], "loadBalancerProviders": providers}});
        let pem = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----";
        let cases: Vec<(Value, &str)> = vec![
            (json!({}), ""),
            (pools(json!([])), "c.constraints.floatingPools: Required value: must provide at least one floating pool"),
            (pools(json!([{}])), "c.constraints.floatingPools[0].name: Required value: must provide a name"),
            (
                pools(json!([{"name": "f", "region": "", "domain": ""}])),
                "[c.constraints.floatingPools[0].region: Required value: must provide a region if key is present, \
                 c.constraints.floatingPools[0].domain: Required value: must provide a domain if key is present]",
            ),
            (
                pools(
                    json!([{"name": "f", "region": "r"}, {"name": "f", "domain": "r"}, {"name": "f", "region": "r"}]),
                ),
                r#"c.constraints.floatingPools[2].name: Duplicate value: "f""#,
            ),
            (pools(json!([{"name": "f"}, {"name": "f"}])), ""),
            (
                pools(json!([{"name": "f", "loadBalancerClasses": [{"name": "a", "purpose": "vpn"}, {"name": "a"}]}])),
                r#"c.constraints.floatingPools[0].loadBalancerClasses[1].name: Duplicate value: "a""#,
            ),
            (
                providers(json!([])),
                "c.constraints.loadBalancerProviders: Required value: must provide at least one load balancer provider",
            ),
            (
                providers(json!([{"region": ""}])),
                "[c.constraints.loadBalancerProviders[0].name: Required value: must provide a name, \
                 c.constraints.loadBalancerProviders[0].region: Required value: must provide a region if key is present]",
            ),
            (
                providers(
                    json!([{"name": "a", "region": "r"}, {"name": "b", "region": "r"}, {"name": "a"}, {"name": "a"}]),
                ),
                "",
            ),
            (
                providers(json!([{"name": "a", "region": "r"}, {"name": "a", "region": "r"}])),
                r#"c.constraints.loadBalancerProviders[1]: Duplicate value: "duplicate provider \"a\" for region \"r\"""#,
            ),
            (
                json!({"machineImages": null}),
                "c.machineImages: Required value: must provide at least one machine image",
            ),
            (
                json!({"machineImages": [{}, {"name": "i", "versions": [{"regions": [{}], "capabilityFlavors": [{"regions": [{"id": "x"}]}]}]}]}),
                "[c.machineImages[0].name: Required value: must provide a name, \
                 c.machineImages[0].versions: Required value: must provide at least one version for machine image \"\", \
                 c.machineImages[1].versions[0].version: Required value: must provide a version, \
                 c.machineImages[1].versions[0].regions[0].name: Required value: must provide a name, \
                 c.machineImages[1].versions[0].regions[0].id: Required value: must provide an image ID, \
                 c.machineImages[1].versions[0].capabilityFlavors[0].regions[0].name: Required value: must provide a name]",
            ),
            (json!({"keystoneURL": ""}), "c.keyStoneURL: Required value: must provide the URL to KeyStone"),
            (json!({"keystoneURL": "", "keystoneURLs": [{"region": "r", "url": "u", "caCert": pem}]}), ""),
            (
                json!({"keystoneURLs": [{}, {"region": "r", "url": "u", "caCert": "x"}, {"region": "r", "url": "v", "caCert": ""}]}),
                "[c.keyStoneURLs[0].region: Required value: must provide a region, \
                 c.keyStoneURLs[0].url: Required value: must provide an url, \
                 c.keyStoneURLs[1].caCert: Invalid value: \"x\": is not a PEM-encoded certificate, \
                 c.keyStoneURLs[2].region: Duplicate value: \"r\"]",
            ),
            (json!({"keystoneCACert": "x"}), "c.caCert: Invalid value: \"x\": is not a PEM-encoded certificate"),
            (json!({"keystoneCACert": pem}), ""),
            (
                json!({"dnsServers": ["1.1.1.1", "2606:4700:4700::1111", "1.1.1", "dns.example"]}),
                "[c.dnsServers[2]: Invalid value: \"1.1.1\": must provide a valid IP, \
                 c.dnsServers[3]: Invalid value: \"dns.example\": must provide a valid IP]",
            ),
            (
                json!({"dhcpDomain": ""}),
                "c.dhcpDomain: Required value: must provide a dhcp domain when the key is specified",
            ),
            (
                json!({"serverGroupPolicies": ["anti-affinity", ""]}),
                "c.serverGroupPolicies[1]: Required value: policy cannot be empty",
            ),
        ];
        for (changes, expected) in cases {
            let mut config = good();
            for (key, value) in changes.as_object().unwrap() {
                config[key] = value.clone();
            }
            let config: CloudProfileConfig = decode::strict(&config, std::iter::empty()).unwrap();
            assert_eq!(told(&validate_config(&config, &Path::new("c"))), expected, "{changes}");
        }
    }

    #[test]
    fn what_is_on_offer_has_to_be_in_the_cloud() {
        let offers = json!([
            {"name": "linux", "versions": [{"version": "1.0"}, {"version": "2.0"}]},
            {"name": "other", "versions": [{"version": "1.0"}]},
            {"name": "announced"},
        ]);
        let offers: Vec<MachineImageOffer> = serde_json::from_value(offers).unwrap();
        let config: CloudProfileConfig = serde_json::from_value(good()).unwrap();
        assert_eq!(
            told(&validate_images(&offers, &config, &Path::new("i"))),
            "[i[0].versions[1]: Required value: machine image version linux@2.0 is not defined in the providerConfig, \
             i[1]: Required value: must provide an image mapping for image \"other\" in providerConfig]"
        );
    }
}
