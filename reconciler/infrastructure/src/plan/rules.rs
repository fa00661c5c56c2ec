//! The rules of our group (contract §3.5), compared in Neutron's normalised form.
//!
//! Only our rules are added and removed; what others added (bastion access, the cloud controller) is told and
//! stays (decision D7a). A rule is ours when the state names its id or its description carries our marker.

use std::collections::{BTreeMap, BTreeSet};

use fabric_openstack_types::Evidence;
use fabric_openstack_types::{
    Owned,
    ids::{SecurityGroupId, SecurityGroupRuleId},
    marker::Mark,
    network::{Direction, EtherType, NewSecurityGroupRule, RuleShape, SecurityGroup, SecurityGroupRule},
};
use ipnet::IpNet;

use super::{
    SecurityGroupStep,
    items::{Item, Verb},
};
use crate::{
    state::{Key, State},
    target::{Ipv6, Target},
};

/// First and last port of Kubernetes' node port range.
const NODE_PORTS: (u16, u16) = (30000, 32767);

/// A rule that we want, before its group is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OurRule {
    /// What it is for, as written into its description.
    pub purpose: String,
    /// Its form; a rule about the group itself gets the group's id later.
    shape: RuleShape,
    same_group: bool,
}

impl OurRule {
    /// The form in this group.
    pub fn shape(&self, group: &SecurityGroupId) -> RuleShape {
        let remote_group_id = self.same_group.then(|| group.clone());
        RuleShape { remote_group_id, ..self.shape.clone() }
    }

    /// The rule to create in this group.
    pub fn new_in(&self, group: &SecurityGroupId, target: &Target) -> NewSecurityGroupRule {
        NewSecurityGroupRule {
            security_group_id: group.clone(),
            description: target.marker.description_after(&self.purpose),
            shape: self.shape(group),
        }
    }
}

/// What happens to the rules of our group.
#[derive(Clone, Debug, Default)]
pub struct RulesStep {
    /// Rules to add.
    pub missing: Vec<OurRule>,
    /// Rules that we made and no longer want.
    pub obsolete: Vec<Owned<SecurityGroupRule>>,
    /// How many of the wanted rules are there, whoever made them.
    pub present: usize,
    /// Ids of those of them that we made: remembered in the state.
    pub ours: Vec<SecurityGroupRuleId>,
    /// Rules of others.
    pub foreign: Vec<SecurityGroupRule>,
}

impl RulesStep {
    pub(super) fn items(&self) -> Vec<Item> {
        let kind = "security group rule";
        let add = self.missing.iter().map(|rule| Item::create(kind, &rule.purpose));
        let remove = self.obsolete.iter().map(|rule| {
            let (rule, reason) = (rule.get(), "ours, but no longer wanted");
            Item::new(Verb::Delete, kind, &name_of(rule), Some(rule.id.as_str()), reason)
        });
        let foreign = self.foreign.iter().map(|rule| {
            Item::new(Verb::Report, kind, &name_of(rule), Some(rule.id.as_str()), "added by others, stays")
        });
        let keep = (self.present > 0)
            .then(|| Item::new(Verb::Keep, kind, &format!("{} rules", self.present), None, "as they should be"));
        keep.into_iter().chain(add).chain(remove).chain(foreign).collect()
    }
}

/// A rule in words.
fn name_of(rule: &SecurityGroupRule) -> String {
    if !rule.description.is_empty() {
        return rule.description.clone();
    }
    let shape = &rule.shape;
    let direction = match shape.direction {
        Direction::Ingress => "ingress",
        Direction::Egress => "egress",
    };
    let ports = match (shape.port_range_min, shape.port_range_max) {
        (Some(min), Some(max)) if min == max => format!(" port {min}"),
        (Some(min), Some(max)) => format!(" ports {min}-{max}"),
        _ => String::new(),
    };
    let peer = match (&shape.remote_ip_prefix, &shape.remote_group_id) {
        (Some(prefix), _) => format!(" {prefix}"),
        (None, Some(group)) => format!(" group {group}"),
        (None, None) => String::new(),
    };
    let protocol = shape.protocol.as_deref().unwrap_or("any");
    format!("{:?} {direction} {protocol}{ports}{peer}", shape.ethertype)
}

/// `reserved`: the range of the subnet that keeps IPv6 pods' addresses, if it is there.
pub(super) fn plan(
    target: &Target,
    state: &State,
    group: &SecurityGroupStep,
    reserved: Option<IpNet>,
) -> Option<RulesStep> {
    match group {
        SecurityGroupStep::Use(_) => None,
        SecurityGroupStep::Create(_) => Some(RulesStep { missing: wanted(target, reserved), ..RulesStep::default() }),
        SecurityGroupStep::Have { group, .. } => Some(compare(target, state, group.get(), reserved)),
    }
}

/// Compares the group's rules with what we want.
pub fn compare(target: &Target, state: &State, group: &SecurityGroup, reserved: Option<IpNet>) -> RulesStep {
    let wanted = wanted(target, reserved);
    let purposes: BTreeMap<RuleShape, String> =
        wanted.iter().map(|rule| (rule.shape(&group.id), rule.purpose.clone())).collect();
    let there: BTreeSet<RuleShape> = group.rules.iter().map(|rule| normalised(&rule.shape)).collect();
    let mut step = RulesStep {
        missing: wanted.into_iter().filter(|rule| !there.contains(&rule.shape(&group.id))).collect(),
        ..RulesStep::default()
    };
    for rule in &group.rules {
        if let Some(purpose) = purposes.get(&normalised(&rule.shape)) {
            step.present += 1;
            // Of our form, but perhaps somebody else's: theirs stays when we no longer want it. Upstream's carry the
            // purpose alone.
            if rule.description == *purpose || evidence(target, state, rule).is_some() {
                step.ours.push(rule.id.clone());
            }
        } else if let Some(evidence) = evidence(target, state, rule) {
            step.obsolete.push(Owned::by(evidence, rule.clone()));
        } else {
            step.foreign.push(rule.clone());
        }
    }
    step.ours.sort();
    step
}

fn evidence(target: &Target, state: &State, rule: &SecurityGroupRule) -> Option<Evidence> {
    let in_state = state.list(Key::SecurityGroupRules).any(|id| id == rule.id.as_str());
    match target.marker.judge(&rule.description, &[]) {
        Mark::Ours | Mark::OtherUid => Some(Evidence::Marker),
        Mark::None if in_state => Some(Evidence::State),
        Mark::None | Mark::Foreign => None,
    }
}

/// Neutron's forms of one meaning: protocol in lower case, "any" and -1 as absent.
fn normalised(shape: &RuleShape) -> RuleShape {
    let protocol = shape.protocol.as_deref().map(str::to_ascii_lowercase);
    let protocol = protocol.filter(|protocol| protocol != "any" && protocol != "-1");
    let protocol = protocol.map(|protocol| match protocol.as_str() {
        "6" => "tcp".to_owned(),
        "17" => "udp".to_owned(),
        _ => protocol,
    });
    RuleShape { protocol, ..shape.clone() }
}

/// The rules that a shoot's nodes need.
pub fn wanted(target: &Target, reserved: Option<IpNet>) -> Vec<OurRule> {
    let mut rules = vec![same_group(EtherType::IPv4), egress(EtherType::IPv4), egress(EtherType::IPv6)];
    rules.extend(["tcp", "udp"].map(|protocol| node_ports(EtherType::IPv4, protocol)));
    if target.is_dual_stack() {
        rules.push(same_group(EtherType::IPv6));
        rules.extend(["tcp", "udp"].map(|protocol| node_ports(EtherType::IPv6, protocol)));
    }
    if target.overlay_off {
        // Without an overlay pod addresses arrive at the node as they are (upstream issue 1404).
        let from_pool = reserved.filter(|_| matches!(target.ipv6, Some(Ipv6::Pool(_))));
        rules.extend(target.pod_ranges().into_iter().chain(from_pool).map(pods));
    }
    rules
}

fn same_group(family: EtherType) -> OurRule {
    OurRule {
        purpose: format!("{family:?}: allow all incoming traffic within the same security group"),
        shape: RuleShape::any(Direction::Ingress, family),
        same_group: true,
    }
}

fn egress(family: EtherType) -> OurRule {
    OurRule {
        purpose: format!("{family:?}: allow all outgoing traffic"),
        shape: RuleShape::any(Direction::Egress, family),
        same_group: false,
    }
}

fn node_ports(family: EtherType, protocol: &str) -> OurRule {
    let (first, last) = NODE_PORTS;
    let everywhere = match family {
        EtherType::IPv4 => IpNet::V4(ipnet::Ipv4Net::default()),
        EtherType::IPv6 => IpNet::V6(ipnet::Ipv6Net::default()),
    };
    OurRule {
        purpose: format!("{family:?}: allow all incoming {protocol} traffic with port range {first}-{last}"),
        shape: RuleShape {
            protocol: Some(protocol.to_owned()),
            port_range_min: Some(first),
            port_range_max: Some(last),
            remote_ip_prefix: Some(everywhere),
            ..RuleShape::any(Direction::Ingress, family)
        },
        same_group: false,
    }
}

fn pods(range: IpNet) -> OurRule {
    let family = if matches!(range, IpNet::V4(_)) { EtherType::IPv4 } else { EtherType::IPv6 };
    OurRule {
        purpose: format!("{family:?}: allow all incoming traffic from the pod network (overlay disabled)"),
        shape: RuleShape { remote_ip_prefix: Some(range), ..RuleShape::any(Direction::Ingress, family) },
        same_group: false,
    }
}
