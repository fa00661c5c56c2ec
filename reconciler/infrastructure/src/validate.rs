//! From the raw specification to the typed one. What passed here is never parsed again.

use std::net::IpAddr;

use fabric_apis::{
    field::{Error as FieldError, Findings, Path, Warning},
    openstack::v1alpha1::{Ipv6Config, Networks},
};
use fabric_openstack_types::{
    Marker,
    ids::{NetworkId, RouterId, SecurityGroupId, ShareNetworkId, SubnetId, SubnetPoolId},
};
use fabric_validation::openstack::{cloud_profile::default_floating_subnet, infrastructure};
use ipnet::{IpNet, Ipv6Net};

use crate::{
    dereference::Input,
    target::{Ipv6, NodeSubnet, ShareNetwork, Source, Target},
};

/// Judges the specification by the static rules and types it.
///
/// # Errors
/// All findings, never the first only.
pub fn validate(input: &Input) -> Result<(Target, Vec<Warning>), Findings> {
    let root = root(input.path);
    let mut findings = infrastructure::validate(&input.config, &input.static_context(), &root);
    if findings.errors.is_empty() {
        match read(input) {
            Ok(target) => return Ok((target, findings.warnings)),
            // The rules let a value pass that does not read: told under its path, nothing is guessed.
            Err(unread) => findings.merge(unread),
        }
    }
    Err(findings)
}

/// Types the specification without judging it: what was accepted once must stay deletable, whatever the rules say today.
///
/// # Errors
/// The first value that does not read.
pub fn read(input: &Input) -> Result<Target, Findings> {
    target(input).map_err(|(field, value)| {
        let mut findings = Findings::default();
        findings.error(FieldError::invalid(&root(input.path).child(field), value, "cannot be read"));
        findings
    })
}

/// The path before every finding.
pub fn root(path: &'static str) -> Path<'static> {
    if path.is_empty() { Path::nil() } else { Path::new(path) }
}

type Unread = (&'static str, String);

fn target(input: &Input) -> Result<Target, Unread> {
    let (config, shoot, networks) = (&input.config, &input.shoot, &input.config.networks);
    let profile = input.profile.as_ref();
    Ok(Target {
        marker: Marker::new(&shoot.technical_id, &shoot.uid),
        region: shoot.region.clone(),
        floating_pool: config.floating_pool_name.clone(),
        floating_subnet: config.floating_pool_subnet_name.clone().or_else(|| default_subnet(input)),
        use_snat: profile.and_then(|profile| profile.use_snat),
        network: source(networks.id.as_deref(), NetworkId::new),
        router: source(networks.router_id(), RouterId::new),
        subnet: node_subnet(networks)?,
        ipv6: if input.is_dual_stack() { networks.ipv6.as_ref().map(ipv6).transpose()? } else { None },
        security_group: source(networks.security_group_id.as_deref(), SecurityGroupId::new),
        share_network: share_network(networks),
        dns_servers: profile.map(|profile| dns_servers(&profile.dns_servers)).transpose()?.unwrap_or_default(),
        nodes: optional_cidr("networking.nodes", shoot.nodes.as_deref())?,
        pods: optional_cidr("networking.pods", shoot.pods.as_deref())?,
        services: optional_cidr("networking.services", shoot.services.as_deref())?,
        overlay_off: shoot.overlay_off,
        ssh_public_key: shoot.ssh_public_key.clone().filter(|key| !key.trim().is_empty()),
    })
}

fn default_subnet(input: &Input) -> Option<String> {
    let (profile, region) = (input.profile.as_ref()?, input.shoot.region.as_deref()?);
    default_floating_subnet(profile, region, &input.config.floating_pool_name).map(str::to_owned)
}

/// OpenStack prints its ids as lower-case UUIDs with hyphens; what a user wrote in another form is the same id.
fn canonical(id: &str) -> String {
    uuid::Uuid::try_parse(id).map_or_else(|_| id.to_owned(), |id| id.hyphenated().to_string())
}

fn source<Id>(id: Option<&str>, new: impl Fn(String) -> Id) -> Source<Id> {
    match id {
        Some(id) => Source::Given(new(canonical(id))),
        None => Source::Own,
    }
}

fn node_subnet(networks: &Networks) -> Result<NodeSubnet, Unread> {
    if let Some(id) = &networks.subnet_id {
        return Ok(NodeSubnet::Given(SubnetId::new(canonical(id))));
    }
    if let Some(pool) = &networks.subnet_pool {
        let length = u8::try_from(pool.prefix_length);
        let prefix_length = length.map_err(|_| ("networks.subnetPool.prefixLength", pool.prefix_length.to_string()))?;
        return Ok(NodeSubnet::Pool { id: SubnetPoolId::new(canonical(&pool.id)), prefix_length });
    }
    Ok(NodeSubnet::Cidr(cidr("networks.workers", networks.workers_cidr())?))
}

fn ipv6(config: &Ipv6Config) -> Result<Ipv6, Unread> {
    let pods = || ipv6_cidr("networks.ipv6.podCIDR", &config.pod_cidr);
    let services = || ipv6_cidr("networks.ipv6.serviceCIDR", &config.service_cidr);
    if let Some(id) = &config.node_subnet_id {
        return Ok(Ipv6::Given { nodes: SubnetId::new(canonical(id)), pods: pods()?, services: services()? });
    }
    // Explicit ranges win over a pool, as upstream has it.
    match &config.subnet_pool_id {
        Some(pool) if !config.has_cidr() => Ok(Ipv6::Pool(SubnetPoolId::new(canonical(pool)))),
        _ => {
            let nodes = ipv6_cidr("networks.ipv6.nodeCIDR", &config.node_cidr)?;
            Ok(Ipv6::Cidrs { nodes, pods: pods()?, services: services()? })
        }
    }
}

fn share_network(networks: &Networks) -> ShareNetwork {
    match &networks.share_network_id {
        Some(id) => ShareNetwork::Given(ShareNetworkId::new(canonical(id))),
        None if networks.share_network_enabled() => ShareNetwork::Own,
        None => ShareNetwork::None,
    }
}

fn dns_servers(texts: &[String]) -> Result<Vec<IpAddr>, Unread> {
    texts.iter().map(|text| text.parse().map_err(|_| ("dnsServers", text.clone()))).collect()
}

fn cidr(field: &'static str, text: &str) -> Result<IpNet, Unread> {
    text.parse().map_err(|_| (field, text.to_owned()))
}

fn ipv6_cidr(field: &'static str, text: &str) -> Result<Ipv6Net, Unread> {
    text.parse().map_err(|_| (field, text.to_owned()))
}

fn optional_cidr(field: &'static str, text: Option<&str>) -> Result<Option<IpNet>, Unread> {
    text.filter(|text| !text.is_empty()).map(|text| cidr(field, text)).transpose()
}
