use fabric_openstack::{Query, api::Network};
use fabric_openstack_types::{
    ErrorClass,
    ids::{SecurityGroupId, SecurityGroupRuleId},
    network::{
        Direction, EtherType, NewSecurityGroup, NewSecurityGroupRule, RuleShape, SecurityGroup, SecurityGroupUpdate,
    },
};
use reqwest::Method;
use serde_json::json;

use super::{ABSENT, failure, made};
use crate::{Stage, raw};

fn ports(protocol: &str, min: u16, max: u16, from: &str) -> RuleShape {
    let from: ipnet::IpNet = from.parse().unwrap();
    let ethertype = if from.addr().is_ipv6() { EtherType::IPv6 } else { EtherType::IPv4 };
    RuleShape {
        protocol: Some(protocol.to_owned()),
        port_range_min: Some(min),
        port_range_max: Some(max),
        remote_ip_prefix: Some(from),
        ..RuleShape::any(Direction::Ingress, ethertype)
    }
}

/// The shapes of a shoot's rules.
fn shapes(group: &SecurityGroupId) -> Vec<RuleShape> {
    let from_group =
        |ethertype| RuleShape { remote_group_id: Some(group.clone()), ..RuleShape::any(Direction::Ingress, ethertype) };
    vec![
        from_group(EtherType::IPv4),
        from_group(EtherType::IPv6),
        ports("tcp", 30000, 32767, "0.0.0.0/0"),
        ports("udp", 30000, 32767, "0.0.0.0/0"),
        ports("tcp", 30000, 32767, "::/0"),
        RuleShape {
            remote_ip_prefix: Some("10.96.0.0/11".parse().unwrap()),
            ..RuleShape::any(Direction::Ingress, EtherType::IPv4)
        },
    ]
}

fn rules(stage: &Stage, group: &SecurityGroupId, shapes: Vec<RuleShape>) -> Vec<NewSecurityGroupRule> {
    let rule = |shape| NewSecurityGroupRule {
        security_group_id: group.clone(),
        description: stage.marker().description_after("rule"),
        shape,
    };
    shapes.into_iter().map(rule).collect()
}

async fn group(stage: &Stage) -> SecurityGroup {
    let new =
        NewSecurityGroup { name: stage.name("group"), description: stage.marker().description_after("Cluster Nodes") };
    let group = stage.member.create_security_group(&new).await.unwrap();
    assert_eq!((&group.name, &group.description), (&new.name, &new.description));
    group
}

/// Our rules come back in the shape in which we compare them, in one call; a second time makes nothing.
pub async fn rules_come_back_as_sent_and_once(stage: &Stage) {
    let client = &stage.member;
    let group = group(stage).await;
    // Neutron's own two: everything may leave.
    let mut own: Vec<_> = group.rules.iter().map(|rule| rule.shape.clone()).collect();
    own.sort();
    let egress =
        [RuleShape::any(Direction::Egress, EtherType::IPv4), RuleShape::any(Direction::Egress, EtherType::IPv6)];
    assert_eq!(own, egress);
    let id = made(group.id.clone());
    let wanted = rules(stage, &group.id, shapes(&group.id));
    let before = client.stats().calls;
    let first = client.create_security_group_rules(&id, &wanted).await.unwrap();
    assert_eq!(client.stats().calls - before, 1);
    for (rule, new) in first.iter().zip(&wanted) {
        assert_eq!((&rule.shape, &rule.description), (&new.shape, &new.description));
    }
    // The same again, with one more: the old ones are found, the new one is made.
    let more = ports("tcp", 22, 22, "10.0.0.0/8");
    let wanted = [wanted, rules(stage, &group.id, vec![more])].concat();
    let second = client.create_security_group_rules(&id, &wanted).await.unwrap();
    assert_eq!(second[..first.len()], first[..]);
    assert_eq!(second.len(), wanted.len());
    let listed = client.security_groups(&Query::id(group.id.as_str())).await.unwrap();
    assert_eq!(listed[0].rules.len(), 2 + wanted.len());
    let gone = made(second[0].id.clone());
    client.delete_security_group_rule(&gone).await.unwrap();
    client.delete_security_group_rule(&gone).await.unwrap();
    assert!(client.create_security_group_rules(&id, &[]).await.unwrap().is_empty());
}

/// Neutron takes "any" for an absent protocol, and prints protocol numbers and ranges as they were sent.
pub async fn rules_are_normalised(stage: &Stage) {
    let group = group(stage).await;
    let id = made(group.id.clone());
    let mut any_protocol = ports("tcp", 1, 1, "10.1.0.0/16");
    any_protocol.protocol = Some("any".to_owned());
    (any_protocol.port_range_min, any_protocol.port_range_max) = (None, None);
    let mut by_number = ports("6", 80, 80, "10.2.0.0/16");
    by_number.protocol = Some("6".to_owned());
    let host_bits = ports("tcp", 80, 80, "10.3.4.5/16");
    let wanted = rules(stage, &group.id, vec![any_protocol, by_number, host_bits]);
    let made_rules = stage.member.create_security_group_rules(&id, &wanted).await.unwrap();
    let printed: Vec<_> = made_rules
        .iter()
        .map(|rule| (rule.shape.protocol.as_deref(), rule.shape.remote_ip_prefix.map(|p| p.to_string())))
        .collect();
    let prefix = |text: &str| Some(text.to_owned());
    assert_eq!(
        printed,
        [
            (None, prefix("10.1.0.0/16")),
            (Some("6"), prefix("10.2.0.0/16")), // Unlike a subnet's, a rule's range keeps its host bits.
            (Some("tcp"), prefix("10.3.4.5/16")),
        ]
    );
}

/// A group is renamed, is held by a port that wears it, and goes.
pub async fn a_group_in_use_stays(stage: &Stage) {
    let client = &stage.member;
    let group = group(stage).await;
    let id = made(group.id.clone());
    let change = SecurityGroupUpdate { name: Some(stage.name("renamed")), ..SecurityGroupUpdate::default() };
    let renamed = client.update_security_group(&id, &change).await.unwrap();
    assert_eq!(renamed.name, stage.name("renamed"));
    assert_eq!(renamed.description, group.description);
    let network = stage.network("net").await;
    let port = json!({"port": {
        "name": stage.name("port"), "network_id": network.id, "security_groups": [group.id]}});
    let answer = raw::call(client, "network", Method::POST, "/v2.0/ports", Some(port)).await;
    let (class, _, kind) = failure(client.delete_security_group(&id).await);
    assert_eq!((class, kind.as_str()), (ErrorClass::InUse, "SecurityGroupInUse"));
    let path = format!("/v2.0/ports/{}", answer["port"]["id"].as_str().unwrap());
    raw::call(client, "network", Method::DELETE, &path, None).await;
    client.delete_security_group(&id).await.unwrap();
    client.delete_security_group(&id).await.unwrap();
    let absent = made(SecurityGroupRuleId::from(ABSENT));
    client.delete_security_group_rule(&absent).await.unwrap();
}

/// Rules that cannot be are refused by type, and none of their bulk stays.
pub async fn rules_that_cannot_be_are_refused_together(stage: &Stage) {
    let group = group(stage).await;
    let id = made(group.id.clone());
    let good = ports("tcp", 443, 443, "10.0.0.0/8");
    let upside_down = ports("tcp", 2, 1, "10.0.0.0/8");
    let mut nobody = RuleShape::any(Direction::Ingress, EtherType::IPv4);
    nobody.remote_group_id = Some(ABSENT.into());
    for (bad, want) in [
        (upside_down, (ErrorClass::Invalid, "SecurityGroupInvalidPortRange")),
        (nobody, (ErrorClass::NotFound, "SecurityGroupNotFound")),
    ] {
        let bulk = rules(stage, &group.id, vec![good.clone(), bad]);
        let (class, _, kind) = failure(stage.member.create_security_group_rules(&id, &bulk).await);
        assert_eq!((class, kind.as_str()), want);
    }
    let listed = stage.member.security_groups(&Query::id(group.id.as_str())).await.unwrap();
    assert_eq!(listed[0].rules.len(), 2, "{:?}", listed[0].rules);
}
