//! Limits of the caller's project, and the quota sets behind them.

use hyper::Method;
use serde_json::{Map, Value, json};

use super::fault;
use crate::json::{set, text};
use crate::neutron::quotas;
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// The default limit of key pairs.
pub(crate) const KEY_PAIRS: i64 = 100;

const DEFAULTS: [(&str, i64); 14] = [
    ("cores", 20),
    ("fixed_ips", -1),
    ("floating_ips", -1),
    ("injected_file_content_bytes", 10240),
    ("injected_file_path_bytes", 255),
    ("injected_files", 5),
    ("instances", 10),
    ("key_pairs", KEY_PAIRS),
    ("metadata_items", 128),
    ("ram", 51200),
    ("security_group_rules", -1),
    ("security_groups", -1),
    ("server_group_members", 10),
    ("server_groups", 10),
];

/// `GET /v2.1/limits`
pub(crate) fn limits(st: &State, who: &Who) -> Reply {
    let of = |name: &str| {
        let default = DEFAULTS.iter().find(|d| d.0 == name).map(|d| d.1).unwrap_or(-1);
        quotas::limit(st, "compute", &who.project, name, default)
    };
    let servers = st.all(table::SERVERS).filter(|s| text(s, "tenant_id") == who.project).count();
    Reply::json(
        200,
        json!({"limits": {"rate": [], "absolute": {
            "maxTotalCores": of("cores"), "maxPersonality": of("injected_files"),
            "maxPersonalitySize": of("injected_file_content_bytes"), "maxTotalInstances": of("instances"),
            "maxTotalKeypairs": of("key_pairs"), "maxServerMeta": of("metadata_items"),
            "maxImageMeta": of("metadata_items"), "maxTotalRAMSize": of("ram"),
            "maxServerGroups": of("server_groups"), "maxServerGroupMembers": of("server_group_members"),
            "maxTotalFloatingIps": -1, "maxSecurityGroups": -1, "maxSecurityGroupRules": -1,
            "totalRAMUsed": 0, "totalCoresUsed": 0, "totalInstancesUsed": servers, "totalFloatingIpsUsed": 0,
            "totalSecurityGroupsUsed": 0, "totalServerGroupsUsed": 0,
        }}}),
    )
}

pub(crate) fn quota_sets(st: &mut State, req: &Request, who: &Who, rest: &[&str]) -> Outcome {
    match (&req.method, rest) {
        (&Method::GET, [project]) if who.admin() || who.owns(project) => {
            let mut set_of = Value::Object(quota_set(st, project));
            set(&mut set_of, "id", *project);
            Ok(Reply::json(200, json!({"quota_set": set_of})))
        }
        (&Method::PUT, [project]) if who.admin() => {
            let wanted = req.member("quota_set");
            let wanted = wanted.as_object().ok_or_else(|| fault(400, "quota_set is missing".to_owned()))?;
            quotas::put(st, "compute", project, wanted);
            Ok(Reply::json(200, json!({"quota_set": quota_set(st, project)})))
        }
        (&Method::DELETE, [project]) if who.admin() => {
            quotas::reset(st, "compute", project);
            Ok(Reply::empty(202))
        }
        (&Method::GET | &Method::PUT | &Method::DELETE, [_]) => {
            let verb = match req.method {
                Method::GET => "show",
                Method::PUT => "update",
                _ => "delete",
            };
            let message = format!("Policy doesn't allow os_compute_api:os-quota-sets:{verb} to be performed.");
            Err(fault(403, message))
        }
        _ => Err(Reply::no_route("")),
    }
}

fn quota_set(st: &State, project: &str) -> Map<String, Value> {
    DEFAULTS
        .iter()
        .map(|(name, default)| ((*name).to_owned(), Value::from(quotas::limit(st, "compute", project, name, *default))))
        .collect()
}
