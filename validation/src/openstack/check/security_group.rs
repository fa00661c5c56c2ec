//! The least that a security group must let pass for nodes to work, and whether it does.

use fabric_openstack_types::{
    ids::SecurityGroupId,
    network::{Direction, EtherType, RuleShape, SecurityGroup},
};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// The NodePort range.
pub const NODE_PORTS: (u16, u16) = (30_000, 32_767);

/// The rules that nodes need at least, in Neutron's normalised form, IPv4 first: everything inside the group, node ports
/// from everywhere, everything out; for dual-stack the same for IPv6. `pods` are the ranges that show on the wire (none
/// while the pod network runs an overlay); everything from there comes in.
pub fn minimum(group: &SecurityGroupId, dual_stack: bool, pods: &[IpNet]) -> Vec<RuleShape> {
    let mut rules = Vec::new();
    for ethertype in [EtherType::IPv4, EtherType::IPv6] {
        if ethertype == EtherType::IPv4 || dual_stack {
            rules.push(RuleShape {
                remote_group_id: Some(group.clone()),
                ..RuleShape::any(Direction::Ingress, ethertype)
            });
            rules.extend(["tcp", "udp"].map(|protocol| RuleShape {
                protocol: Some(protocol.to_owned()),
                port_range_min: Some(NODE_PORTS.0),
                port_range_max: Some(NODE_PORTS.1),
                remote_ip_prefix: Some(everywhere(ethertype)),
                ..RuleShape::any(Direction::Ingress, ethertype)
            }));
            rules.push(RuleShape::any(Direction::Egress, ethertype));
        }
        let of_family = pods.iter().filter(|range| family(range) == ethertype);
        rules.extend(of_family.map(|range| RuleShape {
            remote_ip_prefix: Some(range.trunc()),
            ..RuleShape::any(Direction::Ingress, ethertype)
        }));
    }
    rules
}

/// Those rules of the [`minimum`] that the group's own rules don't cover. Letting in the whole of the node subnet counts
/// as letting in the group; `nodes` are the node subnets' ranges as far as they are known.
pub fn missing(group: &SecurityGroup, dual_stack: bool, pods: &[IpNet], nodes: &[IpNet]) -> Vec<RuleShape> {
    let shapes: Vec<&RuleShape> = group.rules.iter().map(|rule| &rule.shape).collect();
    let mut lacking = minimum(&group.id, dual_stack, pods);
    lacking.retain(|wanted| !covered(&shapes, wanted) && !covered_by_range(&shapes, wanted, nodes));
    lacking
}

/// Whether everything that `wanted` lets pass also passes `rule`: an equal rule, or a broader one (any protocol, a wider
/// port range, a wider or no prefix).
pub fn covers(rule: &RuleShape, wanted: &RuleShape) -> bool {
    covers_but_ports(rule, wanted) && {
        let ((first, last), (from, to)) = (ports(rule), ports(wanted));
        first <= from && to <= last
    }
}

/// Whether `rules` together cover `wanted`, also when its ports are split over several of them.
pub fn covered(rules: &[&RuleShape], wanted: &RuleShape) -> bool {
    let mut ranges: Vec<(u16, u16)> =
        rules.iter().filter(|rule| covers_but_ports(rule, wanted)).map(|rule| ports(rule)).collect();
    ranges.sort_unstable();
    let (from, to) = ports(wanted);
    let mut next = u32::from(from);
    for (first, last) in ranges {
        if u32::from(first) > next {
            return false;
        }
        next = next.max(u32::from(last) + 1);
        if next > u32::from(to) {
            return true;
        }
    }
    false
}

/// A rule in words: `ingress IPv4 tcp 30000-32767 from 0.0.0.0/0`.
pub fn describe(rule: &RuleShape) -> String {
    let (direction, peer) = match rule.direction {
        Direction::Ingress => ("ingress", "from"),
        Direction::Egress => ("egress", "to"),
    };
    let ethertype = match rule.ethertype {
        EtherType::IPv4 => "IPv4",
        EtherType::IPv6 => "IPv6",
    };
    let protocol = rule.protocol.as_deref().unwrap_or("any protocol");
    let ports = match (rule.port_range_min, rule.port_range_max) {
        (None, None) => String::new(),
        _ => format!(" {}-{}", ports(rule).0, ports(rule).1),
    };
    let remote = match (&rule.remote_ip_prefix, &rule.remote_group_id, &rule.remote_address_group_id) {
        (Some(range), ..) => range.to_string(),
        (None, Some(group), _) => format!("group {group}"),
        (None, None, Some(group)) => format!("address group {group}"),
        (None, None, None) => "anywhere".to_owned(),
    };
    format!("{direction} {ethertype} {protocol}{ports} {peer} {remote}")
}

fn covered_by_range(rules: &[&RuleShape], wanted: &RuleShape, nodes: &[IpNet]) -> bool {
    if wanted.remote_group_id.is_none() {
        return false;
    }
    let mut of_family = nodes.iter().filter(|range| family(range) == wanted.ethertype).peekable();
    of_family.peek().is_some()
        && of_family.all(|range| {
            let from_nodes =
                RuleShape { remote_group_id: None, remote_ip_prefix: Some(range.trunc()), ..wanted.clone() };
            covered(rules, &from_nodes)
        })
}

fn covers_but_ports(rule: &RuleShape, wanted: &RuleShape) -> bool {
    rule.direction == wanted.direction
        && rule.ethertype == wanted.ethertype
        && covers_protocol(rule.protocol.as_deref(), wanted.protocol.as_deref())
        && covers_remote(rule, wanted)
}

fn covers_protocol(rule: Option<&str>, wanted: Option<&str>) -> bool {
    match (rule.and_then(protocol_number), wanted.and_then(protocol_number)) {
        (None, _) => true,
        (Some(rule), wanted) => Some(rule) == wanted,
    }
}

/// One spelling a protocol: Neutron keeps names and numbers as they were written, and any is no protocol.
fn protocol_number(protocol: &str) -> Option<String> {
    match protocol.to_ascii_lowercase().as_str() {
        "any" => None,
        "6" => Some("tcp".to_owned()),
        "17" => Some("udp".to_owned()),
        other => Some(other.to_owned()),
    }
}

/// The remotes are alternatives in Neutron, at most one is set; should there be more, all must fit.
fn covers_remote(rule: &RuleShape, wanted: &RuleShape) -> bool {
    let prefix = match (&rule.remote_ip_prefix, &wanted.remote_ip_prefix) {
        (None, _) => true,
        (Some(rule), _) if rule.prefix_len() == 0 => true,
        (Some(rule), Some(wanted)) => rule.contains(wanted),
        (Some(_), None) => false,
    };
    prefix
        && (rule.remote_group_id.is_none() || rule.remote_group_id == wanted.remote_group_id)
        && (rule.remote_address_group_id.is_none() || rule.remote_address_group_id == wanted.remote_address_group_id)
}

fn ports(rule: &RuleShape) -> (u16, u16) {
    (rule.port_range_min.unwrap_or(0), rule.port_range_max.unwrap_or(u16::MAX))
}

fn everywhere(ethertype: EtherType) -> IpNet {
    match ethertype {
        EtherType::IPv4 => IpNet::V4(Ipv4Net::default()),
        EtherType::IPv6 => IpNet::V6(Ipv6Net::default()),
    }
}

fn family(range: &IpNet) -> EtherType {
    match range {
        IpNet::V4(_) => EtherType::IPv4,
        IpNet::V6(_) => EtherType::IPv6,
    }
}
