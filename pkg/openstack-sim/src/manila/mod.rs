//! Manila's part: share networks with their subnets, and the quota for them.

mod share_networks;

use hyper::Method;
use serde_json::{Value, json};

use crate::json::{set, wrap};
use crate::keystone;
use crate::neutron::quotas;
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who};
use crate::{Service, microversion};

/// The newest microversion.
const NEWEST: u32 = 99;

/// The microversion from which quota sets have a path without `os-`.
const QUOTA_SETS: u32 = 7;

/// The default limit of share networks.
const SHARE_NETWORKS: i64 = 10;

/// Manila's error envelope, whose key says what kind of error it is.
pub(crate) fn fault(status: u16, message: String) -> Reply {
    let kind = match status {
        400 => "badRequest",
        403 => "forbidden",
        404 => "itemNotFound",
        409 => "conflictingRequest",
        _ => "computeFault",
    };
    Reply::json(status, wrap(kind, json!({"code": status, "message": message})))
}

/// Answers a request to Manila.
pub(crate) fn handle(st: &mut State, req: &Request) -> Outcome {
    let parts = req.parts();
    if parts.is_empty() {
        return Ok(discovery(st, 300));
    }
    let who = keystone::caller(st, req)?;
    let asked = req.header("x-openstack-manila-api-version");
    let minor = microversion::parse(asked, 0, NEWEST).map_err(|wrong| {
        let malformed = matches!(wrong, microversion::Wrong::Malformed(_));
        let reply = wrong.reply(fault);
        if malformed { reply } else { versioned(reply, asked.unwrap_or_default()) }
    })?;
    let answer = match parts.as_slice() {
        ["v2", rest @ ..] => route(st, req, &who, minor, rest),
        _ => Err(Reply::no_route("")),
    };
    let shown = format!("2.{minor}");
    answer.map(|r| versioned(r, &shown)).map_err(|r| versioned(r, &shown))
}

fn versioned(reply: Reply, version: &str) -> Reply {
    reply.with("X-OpenStack-Manila-API-Version", version).with("Vary", "X-OpenStack-Manila-API-Version")
}

fn route(st: &mut State, req: &Request, who: &Who, minor: u32, rest: &[&str]) -> Outcome {
    match (&req.method, rest) {
        (&Method::GET, []) => Ok(discovery(st, 200)),
        (_, ["share-networks", rest @ ..]) => share_networks::handle(st, req, who, minor, rest),
        (&Method::GET, ["types"]) => Ok(Reply::json(200, json!({"volume_types": [], "share_types": []}))),
        (&Method::GET, ["availability-zones"]) => Ok(Reply::json(200, json!({"availability_zones": []}))),
        (_, ["os-quota-sets", project]) if minor < QUOTA_SETS => quota_sets(st, req, who, project),
        (_, ["quota-sets", project]) if minor >= QUOTA_SETS => quota_sets(st, req, who, project),
        _ => Err(Reply::no_route("")),
    }
}

fn quota_sets(st: &mut State, req: &Request, who: &Who, project: &str) -> Outcome {
    match req.method {
        Method::GET if who.admin() || who.owns(project) => {
            let mut body = quota_set(st, project);
            set(&mut body, "id", project);
            Ok(Reply::json(200, wrap("quota_set", body)))
        }
        Method::PUT if who.admin() => {
            let wanted = req.member("quota_set");
            let wanted = wanted.as_object().ok_or_else(|| fault(400, "quota_set is missing".to_owned()))?;
            quotas::put(st, "share", project, wanted);
            Ok(Reply::json(200, wrap("quota_set", quota_set(st, project))))
        }
        Method::DELETE if who.admin() => {
            quotas::reset(st, "share", project);
            Ok(Reply::empty(202))
        }
        _ => Err(fault(403, "Policy doesn't allow quota_set:update to be performed.".to_owned())),
    }
}

fn quota_set(st: &State, project: &str) -> Value {
    let of = |name: &str, default: i64| quotas::limit(st, "share", project, name, default);
    json!({
        "shares": of("shares", 50), "gigabytes": of("gigabytes", 1000), "snapshots": of("snapshots", 50),
        "snapshot_gigabytes": of("snapshot_gigabytes", 1000),
        "share_networks": of("share_networks", SHARE_NETWORKS), "share_groups": of("share_groups", 50),
        "share_group_snapshots": of("share_group_snapshots", 50),
    })
}

fn discovery(st: &State, status: u16) -> Reply {
    let href = format!("{}/v2/", st.base(Service::SharedFileSystem));
    Reply::json(
        status,
        json!({"versions": [{
            "id": "v2.0", "status": "CURRENT", "version": format!("2.{NEWEST}"), "min_version": "2.0",
            "updated": "2015-08-27T11:33:21Z",
            "links": [
                {"rel": "describedby", "type": "text/html", "href": "http://docs.openstack.org/"},
                {"rel": "self", "href": href},
            ],
            "media-types": [{
                "base": "application/json", "type": "application/vnd.openstack.share+json;version=1",
            }],
        }]}),
    )
}
