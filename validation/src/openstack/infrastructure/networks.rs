//! Rules 2 to 15: network, worker subnet, router, security group, share network.

use fabric_apis::field::{Error, Findings, Path};
use fabric_apis::openstack::v1alpha1::{Networks, SubnetPool};
use serde_json::json;

use super::{StaticContext, excludes, requires};
use crate::cidr::{self, Cidr};
use crate::uuid;

pub(super) fn validate(networks: &Networks, context: &StaticContext<'_>, path: &Path<'_>, findings: &mut Findings) {
    worker_source(networks, path, findings);
    worker_ranges(networks, context, path, findings);
    if let Some(pool) = &networks.subnet_pool {
        subnet_pool(pool, &path.child("subnetPool"), findings);
    }
    // Rule 9.
    if let Some(id) = &networks.id {
        uuid::validate_any_form(id, &path.child("id"), findings);
    }
    if let Some(id) = &networks.subnet_id {
        given_subnet(id, networks, &path.child("subnetId"), findings);
    }
    // Rule 13.
    if let Some(id) = &networks.security_group_id {
        let path = path.child("securityGroupId");
        in_given_network(id, networks, "networks.securityGroupId", &path, findings);
        uuid::validate_plain_form(id, &path, &mut findings.errors);
    }
    // Rule 14.
    if let Some(id) = &networks.share_network_id {
        let path = path.child("shareNetworkId");
        in_given_network(id, networks, "networks.shareNetworkId", &path, findings);
        if networks.share_network_enabled() {
            let detail = excludes("networks.shareNetworkId", "networks.shareNetwork.enabled");
            findings.error(Error::invalid(&path, id.as_str(), detail));
        }
        uuid::validate_plain_form(id, &path, &mut findings.errors);
    }
    // Rule 15.
    if let Some(router) = &networks.router {
        let router_path = path.child("router");
        let path = router_path.child("id");
        if router.id.is_empty() {
            findings.error(Error::invalid(&path, "", "router id must not be empty when router key is provided"));
        } else {
            uuid::validate_any_form(&router.id, &path, findings);
        }
    }
}

/// Rules 2 to 4: exactly one of a CIDR, a pool and a given subnet says where the workers live.
fn worker_source(networks: &Networks, path: &Path<'_>, findings: &mut Findings) {
    let has_cidr = !networks.workers_cidr().is_empty();
    if !has_cidr && networks.subnet_pool.is_none() && networks.subnet_id.is_none() {
        let detail = "must specify the network range for the worker network, a subnet pool or an existing subnet";
        findings.error(Error::required(&path.child("workers"), detail));
    }
    if let Some(pool) = &networks.subnet_pool
        && has_cidr
    {
        let value = json!({"id": pool.id, "prefixLength": pool.prefix_length});
        let detail = excludes("networks.subnetPool", "networks.workers and networks.worker");
        findings.error(Error::invalid(&path.child("subnetPool"), value, detail));
    }
    if let Some(id) = networks.subnet_id.as_deref() {
        let path = path.child("subnetId");
        if has_cidr {
            let detail = excludes("networks.subnetId", "networks.workers and networks.worker");
            findings.error(Error::invalid(&path, id, detail));
        }
        if networks.subnet_pool.is_some() {
            findings.error(Error::invalid(&path, id, excludes("networks.subnetId", "networks.subnetPool")));
        }
    }
}

/// Rules 5 and 6, and what looks wrong about ranges that are good enough for upstream.
fn worker_ranges(networks: &Networks, context: &StaticContext<'_>, path: &Path<'_>, findings: &mut Findings) {
    let worker = worker_range(&networks.worker, &path.child("worker"), findings);
    let workers = worker_range(&networks.workers, &path.child("workers"), findings);
    // With both given, only `workers` is used and compared, as upstream does.
    let (used, used_path) =
        if networks.workers.is_empty() { (worker, path.child("worker")) } else { (workers, path.child("workers")) };
    if let (Some(used), Some(nodes)) = (used, context.nodes) {
        cidr::validate_in_nodes(&used, nodes, &used_path, &mut findings.errors);
    }
    if !networks.worker.is_empty() && !networks.workers.is_empty() && networks.worker != networks.workers {
        let detail = format!("differs from networks.workers and is ignored; only {} is used", networks.workers);
        findings.warn(&path.child("worker"), detail);
    }
}

fn worker_range<'a>(text: &'a str, path: &Path<'_>, findings: &mut Findings) -> Option<Cidr<'a>> {
    if text.is_empty() {
        return None;
    }
    let range = cidr::validate_canonical(text, path, &mut findings.errors)?;
    if range.is_ipv6() {
        findings.warn(path, "is an IPv6 range, but the worker subnet is an IPv4 one; use networks.ipv6 for IPv6");
    }
    Some(range)
}

/// Rules 7 and 8.
fn subnet_pool(pool: &SubnetPool, path: &Path<'_>, findings: &mut Findings) {
    if pool.id.is_empty() {
        findings.error(Error::required(&path.child("id"), "must provide the id of the subnet pool"));
    }
    if !(1..=32).contains(&pool.prefix_length) {
        let detail = "must be a prefix length between 1 and 32";
        findings.error(Error::invalid(&path.child("prefixLength"), pool.prefix_length, detail));
    }
}

/// Rules 10 to 12. A missing router is told on the subnet, which is what needs it.
fn given_subnet(id: &str, networks: &Networks, path: &Path<'_>, findings: &mut Findings) {
    in_given_network(id, networks, "networks.subnetId", path, findings);
    if networks.router_id().is_none() {
        let detail = requires("networks.router.id", "networks.subnetId");
        let detail = format!("{detail}; the router must already have an interface to the subnet");
        findings.error(Error::invalid(path, id, detail));
    }
    uuid::validate_plain_form(id, path, &mut findings.errors);
}

/// The first half of rules 10, 13 and 14: what is given lives in a network that is given too.
fn in_given_network(id: &str, networks: &Networks, field: &str, path: &Path<'_>, findings: &mut Findings) {
    if networks.id.is_none() {
        findings.error(Error::invalid(path, id, requires("networks.id", field)));
    }
}
