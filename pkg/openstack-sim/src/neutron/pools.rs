//! Subnet pools, and the allocation of subnets from them.

use ipnet::IpNet;
use serde_json::{Value, json};

use super::errors::{bad, error, invalid_input, pool_not_found};
use super::schema::{Absent, Attr, Kind};
use super::{Fields, Resource, Shape, field, query, quotas, rbac, store};
use crate::json::{flag, int, set, text, texts};
use crate::request::Reply;
use crate::state::{State, Who, table};

const ATTRS: &[Attr] = &[
    Attr::new("name", Kind::Text(255), Absent::Refused),
    Attr::new("default_prefixlen", Kind::Int, Absent::Left),
    Attr::new("min_prefixlen", Kind::Int, Absent::Left),
    Attr::new("max_prefixlen", Kind::Int, Absent::Left),
    Attr::new("is_default", Kind::Bool, Absent::False).admin(),
    Attr::new("shared", Kind::Bool, Absent::False).fixed().admin(),
    Attr::new("prefixes", Kind::Texts, Absent::Refused),
    Attr::read("ip_version"),
    Attr::new("default_quota", Kind::IntOrNull, Absent::Null),
    Attr::new("address_scope_id", Kind::UuidOrNull, Absent::Null),
    Attr::new("description", Kind::Text(255), Absent::Empty),
];

pub(crate) static RESOURCE: Resource = Resource {
    single: "subnetpool",
    plural: "subnetpools",
    path: "subnetpools",
    table: table::POOLS,
    attrs: ATTRS,
    not_found: pool_not_found,
    shared: |st, who, doc| query::shared(doc) || rbac::grants(st, who, "subnetpool", text(doc, "id")),
    view,
    create,
    update,
    delete,
};

/// The lengths are texts on the wire.
fn view(_st: &State, _who: &Who, doc: &Value, _shape: Shape) -> Value {
    let mut out = doc.clone();
    for key in ["default_prefixlen", "min_prefixlen", "max_prefixlen"] {
        set(&mut out, key, int(doc, key).to_string());
    }
    out
}

/// Creates a subnet pool of a fresh cloud and gives its id.
pub(crate) fn seed(st: &mut State, who: &Who, doc: &Value) -> String {
    super::seed(st, who, &RESOURCE, doc)
}

fn create(st: &mut State, _who: &Who, fields: Fields) -> Result<String, Reply> {
    let project = field(&fields, "project_id").to_owned();
    quotas::check(st, &project, "subnetpool")?;
    let mut prefixes: Vec<IpNet> = Vec::new();
    for prefix in fields.get("prefixes").and_then(Value::as_array).into_iter().flatten() {
        let text = prefix.as_str().unwrap_or_default();
        let net: IpNet = text.parse().map_err(|_| invalid_input(format!("'{text}' is not a valid CIDR")))?;
        prefixes.push(net.trunc());
    }
    let Some(first) = prefixes.first() else { return Err(bad("subnetpool", "prefixes must not be empty")) };
    if prefixes.iter().any(|p| p.max_prefix_len() != first.max_prefix_len()) {
        let message = "Illegal prefix bounds: prefixes of different IP versions";
        return Err(error(400, "PrefixVersionMismatch", message));
    }
    let (version, min, max) = if first.addr().is_ipv4() { (4, 8, 32) } else { (6, 64, 128) };
    let get = |key: &str, default: i64| fields.get(key).and_then(Value::as_i64).unwrap_or(default);
    let min = get("min_prefixlen", min);
    let id = st.rng.id();
    let doc = json!({
        "id": id, "name": fields.get("name"), "project_id": project,
        "default_prefixlen": get("default_prefixlen", min), "min_prefixlen": min,
        "max_prefixlen": get("max_prefixlen", max), "is_default": fields.get("is_default"),
        "shared": fields.get("shared"),
        "prefixes": prefixes.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "ip_version": version, "default_quota": fields.get("default_quota"),
        "address_scope_id": null, "description": fields.get("description"),
    });
    store(st, table::POOLS, &id, doc, 0);
    Ok(id)
}

fn update(st: &mut State, _who: &Who, id: &str, fields: Fields) -> Result<(), Reply> {
    st.change(table::POOLS, id, &fields);
    Ok(())
}

fn delete(st: &mut State, _who: &Who, id: &str) -> Result<(), Reply> {
    if st.find(table::SUBNETS, "subnetpool_id", id).is_some() {
        let message = "Unable to delete subnet pool: Subnet pool has existing allocations.";
        return Err(error(400, "SubnetPoolDeleteError", message));
    }
    st.remove(table::POOLS, id);
    Ok(())
}

/// The pool that a new subnet names, or the default one when it asks for that.
pub(crate) fn chosen(st: &State, who: &Who, fields: &Fields, version: i64) -> Result<Option<Value>, Reply> {
    if let Some(id) = fields.get("subnetpool_id").and_then(Value::as_str) {
        let pool = RESOURCE.find(st, who, id)?;
        if int(pool, "ip_version") != version {
            return Err(bad("subnets", "Cannot allocate requested subnet from a pool of another IP version"));
        }
        return Ok(Some(pool.clone()));
    }
    if fields.get("use_default_subnetpool") != Some(&Value::from(true)) {
        return Ok(None);
    }
    let default = |p: &&Value| flag(p, "is_default") && int(p, "ip_version") == version;
    let found = st.all(table::POOLS).filter(|p| RESOURCE.visible(st, who, p)).find(default);
    let lacking = || bad("subnets", format!("No default subnetpool found for IPv{version}"));
    found.cloned().map(Some).ok_or_else(lacking)
}

/// A prefix of the pool: the wanted one if it is free, else the lowest free one of the wanted length.
pub(crate) fn allocate(st: &State, pool: &Value, cidr: Option<IpNet>, length: Option<i64>) -> Result<IpNet, Reply> {
    let taken: Vec<IpNet> = st
        .all(table::SUBNETS)
        .filter(|s| text(s, "subnetpool_id") == text(pool, "id"))
        .filter_map(|s| text(s, "cidr").parse().ok())
        .collect();
    let prefixes: Vec<IpNet> = texts(pool, "prefixes").iter().filter_map(|p| p.parse().ok()).collect();
    let free = |net: &IpNet| !taken.iter().any(|t| t.contains(net) || net.contains(t));
    if let Some(wanted) = cidr {
        if prefixes.iter().any(|p| p.contains(&wanted)) && free(&wanted) {
            return Ok(wanted);
        }
        return Err(no_space("Cannot allocate requested subnet from the available set of prefixes."));
    }
    let length = length.unwrap_or_else(|| int(pool, "default_prefixlen"));
    check_length(pool, length)?;
    let lowest = prefixes.iter().find_map(|prefix| first_free(prefix, length, &taken));
    lowest.ok_or_else(|| no_space(&format!("Insufficient prefix space to allocate subnet size /{length}.")))
}

fn no_space(why: &str) -> Reply {
    error(500, "SubnetAllocationError", format!("Failed to allocate subnet: {why}"))
}

fn check_length(pool: &Value, length: i64) -> Result<(), Reply> {
    let (min, max) = (int(pool, "min_prefixlen"), int(pool, "max_prefixlen"));
    let refuse = |kind: &str, word: &str, bound: i64| {
        let message =
            format!("Unable to allocate subnet with prefix length {length}, {word} allowed prefix is {bound}.");
        Err(error(400, kind, message))
    };
    if length < min {
        return refuse("MinPrefixSubnetAllocationError", "minimum", min);
    }
    if length > max {
        return refuse("MaxPrefixSubnetAllocationError", "maximum", max);
    }
    Ok(())
}

/// Walks over the taken prefixes instead of trying each of the 2^n candidates.
fn first_free(prefix: &IpNet, length: i64, taken: &[IpNet]) -> Option<IpNet> {
    let length = u8::try_from(length).ok().filter(|l| *l >= prefix.prefix_len())?;
    let mut candidate = IpNet::new(prefix.network(), length).ok()?;
    while prefix.contains(&candidate) {
        match taken.iter().find(|t| t.contains(&candidate) || candidate.contains(*t)) {
            None => return Some(candidate),
            Some(hit) => {
                let end =
                    super::addresses::number(hit.broadcast()).max(super::addresses::number(candidate.broadcast()));
                let next = super::addresses::address(end.checked_add(1)?, prefix.addr().is_ipv4())?;
                candidate = IpNet::new(next, length).ok()?.trunc();
                if super::addresses::number(candidate.network()) <= end {
                    return None;
                }
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_prefix_is_found_past_smaller_and_larger_ones() {
        let net = |s: &str| s.parse::<IpNet>().unwrap();
        let prefix = net("10.0.0.0/16");
        let cases: [(&[&str], Option<&str>); 4] = [
            (&[], Some("10.0.0.0/24")),
            (&["10.0.0.128/25"], Some("10.0.1.0/24")),
            (&["10.0.0.0/23", "10.0.2.0/24"], Some("10.0.3.0/24")),
            (&["10.0.0.0/16"], None),
        ];
        for (taken, expected) in cases {
            let taken: Vec<IpNet> = taken.iter().map(|t| net(t)).collect();
            assert_eq!(first_free(&prefix, 24, &taken), expected.map(net), "{taken:?}");
        }
    }
}
