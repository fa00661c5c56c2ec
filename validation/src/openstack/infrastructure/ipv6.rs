//! Rules 18 to 27: the IPv6 half of a dual-stack shoot.

use fabric_apis::field::{Error, Findings, Path};
use fabric_apis::openstack::v1alpha1::{Ipv6Config, Networks};

use super::{StaticContext, excludes, requires};
use crate::cidr::{self, Cidr};
use crate::uuid;

/// The controller manager gives each node a /64 of the pods' range and does not start with a smaller range.
const POD_PREFIX_PER_NODE: u8 = 64;

pub(super) fn validate(
    ipv6: &Ipv6Config,
    networks: &Networks,
    context: &StaticContext<'_>,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    // Rule 18.
    if ipv6.node_subnet_id.is_none() && ipv6.subnet_pool_id.is_none() && !ipv6.has_cidr() {
        let detail = "must specify subnetPoolID, nodeSubnetId or all of nodeCIDR, podCIDR and serviceCIDR";
        findings.error(Error::required(path, detail));
        return;
    }
    match ipv6.node_subnet_id.as_deref() {
        Some(id) => given_node_subnet(id, ipv6, networks, context, path, findings),
        None => own_subnets(ipv6, networks, path, findings),
    }
}

/// Rules 19 to 22 for subnets of ours.
fn own_subnets(ipv6: &Ipv6Config, networks: &Networks, path: &Path<'_>, findings: &mut Findings) {
    if ipv6.has_cidr() {
        let fields = [
            ("nodeCIDR", ipv6.node_cidr.as_str()),
            ("podCIDR", ipv6.pod_cidr.as_str()),
            ("serviceCIDR", ipv6.service_cidr.as_str()),
        ];
        for (name, text) in fields {
            if text.is_empty() {
                let detail = "must be provided when any of nodeCIDR, podCIDR and serviceCIDR is set";
                findings.error(Error::required(&path.child(name), detail));
            }
        }
        ranges(&fields, path, findings);
        if ipv6.subnet_pool_id.is_some() {
            let detail = "is ignored because nodeCIDR, podCIDR and serviceCIDR are given";
            findings.warn(&path.child("subnetPoolID"), detail);
        }
    }
    if networks.subnet_id.is_some() {
        let detail = "makes new IPv6 subnets in the network of the existing IPv4 subnet; \
                      set nodeSubnetId to bring the IPv6 subnet as well";
        findings.warn(path, detail);
    }
}

/// Rules 20 to 27 for a given subnet.
fn given_node_subnet(
    id: &str,
    ipv6: &Ipv6Config,
    networks: &Networks,
    context: &StaticContext<'_>,
    path: &Path<'_>,
    findings: &mut Findings,
) {
    const FIELD: &str = "networks.ipv6.nodeSubnetId";
    let own_path = path.child("nodeSubnetId");
    // Rule 23.
    if ipv6.subnet_pool_id.is_some() {
        findings.error(Error::invalid(&own_path, id, excludes(FIELD, "networks.ipv6.subnetPoolID")));
    }
    if !ipv6.node_cidr.is_empty() {
        findings.error(Error::invalid(&own_path, id, excludes(FIELD, "networks.ipv6.nodeCIDR")));
    }
    uuid::validate_plain_form(id, &own_path, &mut findings.errors);
    // Rule 24.
    let fields = [("podCIDR", ipv6.pod_cidr.as_str()), ("serviceCIDR", ipv6.service_cidr.as_str())];
    for (name, text) in fields {
        if text.is_empty() {
            let detail = requires(&format!("networks.ipv6.{name}"), FIELD);
            findings.error(Error::required(&path.child(name), detail));
        }
    }
    ranges(&fields, path, findings);
    // Rules 25 to 27: what is missing is told on the subnet, which is what needs it.
    if networks.id.is_none() {
        findings.error(Error::invalid(&own_path, id, requires("networks.id", FIELD)));
    }
    if networks.router_id().is_none() {
        let detail = requires("networks.router.id", FIELD);
        let detail = format!("{detail}; the router must already have an interface to the subnet");
        findings.error(Error::invalid(&own_path, id, detail));
    }
    if networks.subnet_id.is_none() {
        findings.error(Error::invalid(&own_path, id, requires("networks.subnetId", FIELD)));
    }
    if context.lacks_ipv6() {
        let detail = "is not used unless spec.networking.ipFamilies holds IPv4 and IPv6";
        findings.warn(&own_path, detail);
    }
}

/// Rules 20 to 22 for the fields that are set.
fn ranges(fields: &[(&str, &str)], path: &Path<'_>, findings: &mut Findings) {
    let errors = &mut findings.errors;
    let mut readable: Vec<(Cidr<'_>, Path<'_>)> = Vec::with_capacity(fields.len());
    for (name, text) in fields {
        if text.is_empty() {
            continue;
        }
        let field = path.child(name);
        if let Some(range) = cidr::validate_canonical(text, &field, errors) {
            cidr::validate_ipv6(&range, &field, errors);
            if *name == "podCIDR" && range.prefix() > POD_PREFIX_PER_NODE {
                let detail = format!(
                    "IPv6 pod CIDR prefix length must be ≤ {POD_PREFIX_PER_NODE}; \
                     the kube-controller-manager allocates a /{POD_PREFIX_PER_NODE} per node"
                );
                errors.push(Error::invalid(&field, *text, detail));
            }
            readable.push((range, field));
        }
    }
    cidr::validate_disjoint(&readable, errors);
}
