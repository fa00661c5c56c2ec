//! Rules of security groups, in the normal form in which Neutron keeps and compares them.

use ipnet::IpNet;
use serde_json::{Value, json};

use super::errors::{bad_value, error, group_not_found, invalid_input, rule_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, Shape, field, quotas, security_groups, store};
use crate::json::{drop_members, member, owned, set, text};
use crate::request::Reply;
use crate::state::{State, Who, table};

const ATTRS: &[Attr] = &[
    Attr::new("security_group_id", Kind::Uuid, Absent::Refused).fixed(),
    Attr::new("ethertype", Kind::Of(&["IPv4", "IPv6"]), Absent::Text("IPv4")).fixed(),
    Attr::new("direction", Kind::Any, Absent::Refused).fixed(),
    Attr::new("protocol", Kind::Protocol, Absent::Null).fixed(),
    Attr::new("port_range_min", Kind::IntOrNull, Absent::Null).fixed(),
    Attr::new("port_range_max", Kind::IntOrNull, Absent::Null).fixed(),
    Attr::new("remote_ip_prefix", Kind::Any, Absent::Null).fixed(),
    Attr::new("remote_address_group_id", Kind::UuidOrNull, Absent::Null).fixed(),
    Attr::read("normalized_cidr"),
    Attr::new("remote_group_id", Kind::UuidOrNull, Absent::Null).fixed(),
    Attr::read("belongs_to_default_sg"),
    Attr::new("description", Kind::Text(255), Absent::Empty),
    Attr::read("standard_attr_id"),
    // Named here: a rule has no tags of its own.
    Attr::read("tags"),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "security_group_rule",
    plural: "security_group_rules",
    path: "security-group-rules",
    table: table::RULES,
    attrs: ATTRS,
    not_found: rule_not_found,
    shared: |st, who, doc| {
        st.get(table::GROUPS, text(doc, "security_group_id")).is_some_and(|g| who.owns(text(g, "project_id")))
    },
    view: |_, _, doc, _| {
        let mut out = doc.clone();
        drop_members(&mut out, &["tags", "standard_attr_id"]);
        out
    },
    create,
    update: |st, _, id, fields| {
        st.change(table::RULES, id, &fields);
        Ok(())
    },
    delete,
};

/// Names and numbers of the protocols that rules may name.
const PROTOCOLS: [(&str, u8); 25] = [
    ("ah", 51),
    ("dccp", 33),
    ("egp", 8),
    ("esp", 50),
    ("gre", 47),
    ("hopopt", 0),
    ("icmp", 1),
    ("igmp", 2),
    ("ip", 0),
    ("ipip", 4),
    ("ipv6-encap", 41),
    ("ipv6-frag", 44),
    ("ipv6-icmp", 58),
    ("icmpv6", 58),
    ("ipv6-nonxt", 59),
    ("ipv6-opts", 60),
    ("ipv6-route", 43),
    ("ospf", 89),
    ("pgm", 113),
    ("rsvp", 46),
    ("sctp", 132),
    ("tcp", 6),
    ("udp", 17),
    ("udplite", 136),
    ("vrrp", 112),
];

fn protocol_number(protocol: &str) -> Option<u8> {
    let named = PROTOCOLS.iter().find(|p| p.0 == protocol).map(|p| p.1);
    named.or_else(|| protocol.parse().ok())
}

fn create(st: &mut State, who: &Who, mut fields: Fields) -> Result<String, Reply> {
    let direction = field(&fields, "direction");
    if !matches!(direction, "ingress" | "egress") {
        return Err(bad_value("direction", format!("{direction} is not in valid_values")));
    }
    check_protocol(&mut fields)?;
    check_ports(&fields)?;
    check_remote(&mut fields)?;
    let group = field(&fields, "security_group_id").to_owned();
    if let Some(remote) = fields.get("remote_group_id").and_then(Value::as_str) {
        security_groups::RESOURCE.find(st, who, remote)?;
    }
    let owner = owned(security_groups::RESOURCE.find(st, who, &group)?, "project_id");
    if !who.may_write(&owner) {
        return Err(group_not_found(&group));
    }
    let wanted = key(&Value::Object(fields.clone()));
    let twin = st.all(table::RULES).find(|r| text(r, "security_group_id") == group && key(r) == wanted);
    if let Some(twin) = twin {
        let message = format!("Security group rule already exists. Rule id is {}.", text(twin, "id"));
        return Err(error(409, "SecurityGroupRuleExists", message));
    }
    let project = field(&fields, "project_id").to_owned();
    quotas::check(st, &project, "security_group_rule")?;
    Ok(save(st, fields))
}

/// The rules of a bulk request are of one group, and no two of them are the same.
pub(crate) fn check_bulk(rules: &[Fields]) -> Result<(), Reply> {
    let mut groups: Vec<&str> = rules.iter().map(|r| field(r, "security_group_id")).collect();
    groups.dedup();
    if groups.len() > 1 {
        let message = "Only allowed to update rules for one security profile at a time";
        return Err(error(400, "SecurityGroupNotSingleGroupRules", message));
    }
    let mut keys: Vec<Vec<String>> = rules.iter().map(|r| key(&Value::Object(r.clone()))).collect();
    keys.sort();
    keys.dedup();
    if keys.len() < rules.len() {
        let message = "Duplicate Security Group Rule in POST.";
        return Err(error(409, "DuplicateSecurityGroupRuleInPost", message));
    }
    Ok(())
}

fn check_protocol(fields: &mut Fields) -> Result<(), Reply> {
    let protocol = field(fields, "protocol").to_owned();
    if protocol.is_empty() {
        return Ok(());
    }
    if protocol_number(&protocol).is_none() {
        let names: Vec<String> = PROTOCOLS.iter().map(|p| format!("'{}'", p.0)).collect();
        let message = format!(
            "Security group rule protocol {protocol} not supported. Only protocol values (None, 'any', {}) and integer representations [0 to 255] are supported.",
            names.join(", ")
        );
        return Err(error(400, "SecurityGroupRuleInvalidProtocol", message));
    }
    let six = field(fields, "ethertype") == "IPv6";
    let normal = match (six, protocol.as_str()) {
        (true, "icmp" | "icmpv6") => "ipv6-icmp",
        (true, "1") => "58",
        (false, p) if p.starts_with("ipv6-") || p == "icmpv6" => {
            let message = format!("Invalid ethertype IPv4 for protocol {protocol}.");
            return Err(error(400, "SecurityGroupEthertypeConflictWithProtocol", message));
        }
        (_, p) => p,
    };
    fields.insert("protocol".to_owned(), Value::from(normal));
    Ok(())
}

fn check_ports(fields: &Fields) -> Result<(), Reply> {
    let (min, max) = (port(fields, "port_range_min"), port(fields, "port_range_max"));
    if min.is_none() && max.is_none() {
        return Ok(());
    }
    if let Some(wrong) = [min, max].into_iter().flatten().find(|p| !(-1..=65535).contains(p)) {
        return Err(error(400, "SecurityGroupInvalidPortValue", format!("Invalid value for port {wrong}")));
    }
    match protocol_number(field(fields, "protocol")) {
        None => {
            let message = "Must also specify protocol if port range is given.";
            Err(error(400, "SecurityGroupProtocolRequiredWithPorts", message))
        }
        Some(6 | 17 | 33 | 132 | 136) => match (min, max) {
            (Some(0), _) | (_, Some(0)) => Err(error(400, "SecurityGroupInvalidPortValue", "Invalid value for port 0")),
            (Some(min), Some(max)) if min <= max => Ok(()),
            _ => {
                let message = "For TCP/UDP protocols, port_range_min must be <= port_range_max";
                Err(error(400, "SecurityGroupInvalidPortRange", message))
            }
        },
        Some(1 | 58) => icmp(min, max),
        Some(other) => {
            let message =
                format!("Invalid protocol {other} for port range, only supported for DCCP, SCTP, TCP, UDP, UDPLITE.");
            Err(error(400, "SecurityGroupInvalidProtocolForPort", message))
        }
    }
}

fn icmp(kind: Option<i64>, code: Option<i64>) -> Result<(), Reply> {
    for (name, attr, value) in [("type", "port_range_min", kind), ("code", "port_range_max", code)] {
        if let Some(value) = value.filter(|v| !(0..=255).contains(v)) {
            let message = format!("Invalid value for ICMP {name} ({attr}) {value}. It must be 0 to 255.");
            return Err(error(400, "SecurityGroupInvalidIcmpValue", message));
        }
    }
    match (kind, code) {
        (None, Some(code)) => {
            let message =
                format!("ICMP code (port-range-max) {code} is provided but ICMP type (port-range-min) is missing.");
            Err(error(400, "SecurityGroupMissingIcmpType", message))
        }
        _ => Ok(()),
    }
}

fn port(fields: &Fields, key: &str) -> Option<i64> {
    fields.get(key).and_then(Value::as_i64)
}

/// One remote at most; an address without a mask gets one, and the family has to fit.
fn check_remote(fields: &mut Fields) -> Result<(), Reply> {
    let given = |key: &&str| fields.get(*key).is_some_and(|v| !v.is_null());
    let remotes = ["remote_ip_prefix", "remote_group_id", "remote_address_group_id"];
    let count = remotes.iter().filter(|k| given(k)).count();
    let prefix = match fields.get("remote_ip_prefix") {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) if text.is_empty() => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(other) => return Err(invalid_input(format!("'{other}' is not a valid CIDR"))),
    };
    let mut normal = Value::Null;
    if let Some(text) = prefix {
        let net = text.parse::<IpNet>().or_else(|_| text.parse().map(|a: std::net::IpAddr| IpNet::from(a)));
        let Ok(net) = net else {
            return Err(error(400, "InvalidCIDR", format!("Invalid CIDR {text} given as IP prefix.")));
        };
        if count > 1 {
            return Err(several_remotes());
        }
        let family = if net.addr().is_ipv4() { "IPv4" } else { "IPv6" };
        let ethertype = field(fields, "ethertype");
        if family != ethertype {
            let message = format!("Conflicting value ethertype {ethertype} for CIDR {text}");
            return Err(error(400, "SecurityGroupRuleParameterConflict", message));
        }
        fields.insert("remote_ip_prefix".to_owned(), Value::from(net.to_string()));
        normal = Value::from(net.trunc().to_string());
    } else {
        fields.insert("remote_ip_prefix".to_owned(), Value::Null);
    }
    if count > 1 {
        return Err(several_remotes());
    }
    fields.insert("normalized_cidr".to_owned(), normal);
    Ok(())
}

fn several_remotes() -> Reply {
    let message = "Only one of remote_ip_prefix or remote_group_id or remote_address_group_id may be provided.";
    error(400, "SecurityGroupMultipleRemoteEntites", message)
}

/// What makes two rules the same: everybody is the same as no prefix, a protocol's name as its number.
fn key(rule: &Value) -> Vec<String> {
    let prefix = match text(rule, "remote_ip_prefix") {
        "0.0.0.0/0" | "::/0" => "",
        other => other,
    };
    let protocol = match text(rule, "protocol") {
        "" => "+".to_owned(),
        p => protocol_number(p).map_or_else(|| p.to_owned(), |n| n.to_string()),
    };
    let mut out = vec![prefix.to_owned(), protocol];
    for name in
        ["direction", "ethertype", "port_range_min", "port_range_max", "remote_group_id", "remote_address_group_id"]
    {
        out.push(member(rule, name).to_string());
    }
    out
}

fn save(st: &mut State, fields: Fields) -> String {
    let (id, serial) = (st.rng.id(), st.next_serial());
    let get = |key: &str| fields.get(key).cloned().unwrap_or(Value::Null);
    let group = field(&fields, "security_group_id").to_owned();
    let doc = json!({
        "id": id, "project_id": get("project_id"), "security_group_id": group, "ethertype": get("ethertype"),
        "direction": get("direction"), "protocol": get("protocol"), "port_range_min": get("port_range_min"),
        "port_range_max": get("port_range_max"), "remote_ip_prefix": get("remote_ip_prefix"),
        "remote_address_group_id": get("remote_address_group_id"), "normalized_cidr": get("normalized_cidr"),
        "remote_group_id": get("remote_group_id"), "standard_attr_id": serial, "belongs_to_default_sg": false,
        "description": get("description"),
    });
    store(st, table::RULES, &id, doc, 0);
    st.revise(table::GROUPS, &group);
    id
}

/// A rule that Neutron itself gives a new group; it has no description, and no revision follows from it.
pub(crate) fn add_plain(
    st: &mut State,
    project: &str,
    group: &str,
    direction: &str,
    ethertype: &str,
    remote: Option<&str>,
) {
    let (id, serial) = (st.rng.id(), st.next_serial());
    let doc = json!({
        "id": id, "project_id": project, "security_group_id": group, "ethertype": ethertype,
        "direction": direction, "protocol": null, "port_range_min": null, "port_range_max": null,
        "remote_ip_prefix": null, "remote_address_group_id": null, "normalized_cidr": null,
        "remote_group_id": remote, "standard_attr_id": serial, "belongs_to_default_sg": false,
        "description": null,
    });
    store(st, table::RULES, &id, doc, 0);
}

fn delete(st: &mut State, _who: &Who, id: &str) -> Result<(), Reply> {
    let gone = st.remove(table::RULES, id).ok_or_else(|| rule_not_found(id))?;
    st.revise(table::GROUPS, text(&gone, "security_group_id"));
    Ok(())
}

/// A rule as its group shows it: two members more than by itself, and one that a list leaves open.
pub(crate) fn nested(rule: &Value, shape: Shape) -> Value {
    let mut out = rule.clone();
    if shape == Shape::Listed {
        set(&mut out, "belongs_to_default_sg", Value::Null);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_that_mean_the_same_have_the_same_key() {
        let rule = |prefix: Value, protocol: Value| {
            json!({
                "direction": "ingress", "ethertype": "IPv4", "protocol": protocol, "port_range_min": 1,
                "port_range_max": 2, "remote_ip_prefix": prefix, "remote_group_id": null,
                "remote_address_group_id": null,
            })
        };
        assert_eq!(key(&rule(Value::Null, json!("tcp"))), key(&rule(json!("0.0.0.0/0"), json!("6"))));
        assert_ne!(key(&rule(Value::Null, json!("tcp"))), key(&rule(Value::Null, json!("udp"))));
        assert_ne!(key(&rule(Value::Null, json!("tcp"))), key(&rule(json!("10.0.0.0/8"), json!("tcp"))));
    }
}
