//! Nova's part: key pairs, the list of servers, limits and quotas.

mod flavors;
mod keypairs;
mod limits;
mod md5;
mod servers;

use hyper::Method;
use serde_json::{Value, json};

use crate::json::wrap;
use crate::keystone;
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who};
use crate::{Service, microversion};

/// The newest microversion.
const NEWEST: u32 = 104;

/// Nova's error envelope, whose key says what kind of error it is.
pub(crate) fn fault(status: u16, message: String) -> Reply {
    let kind = match status {
        400 => "badRequest",
        403 => "forbidden",
        404 => "itemNotFound",
        409 => "conflictingRequest",
        413 | 429 => "overLimit",
        _ => "computeFault",
    };
    Reply::json(status, wrap(kind, json!({"code": status, "message": message})))
}

/// Answers a request to Nova.
pub(crate) fn handle(st: &mut State, req: &Request) -> Outcome {
    let parts = req.parts();
    if parts.is_empty() {
        return Ok(discovery_root(st));
    }
    let who = keystone::caller(st, req)?;
    let asked = req
        .header("openstack-api-version")
        .and_then(|h| h.strip_prefix("compute "))
        .or_else(|| req.header("x-openstack-nova-api-version"));
    let minor = microversion::parse(asked, 1, NEWEST).map_err(|wrong| versioned(wrong.reply(fault), asked))?;
    let answer = match parts.as_slice() {
        ["v2.1", rest @ ..] => route(st, req, &who, minor, rest),
        _ => Err(Reply::no_route("")),
    };
    let shown = format!("2.{minor}");
    match answer {
        Ok(reply) => Ok(versioned(reply, Some(&shown))),
        Err(reply) => Err(versioned(reply, Some(&shown))),
    }
}

fn versioned(reply: Reply, version: Option<&str>) -> Reply {
    let version = version.unwrap_or("2.1");
    reply
        .with("OpenStack-API-Version", format!("compute {version}"))
        .with("X-OpenStack-Nova-API-Version", version)
        .with("Vary", "OpenStack-API-Version, X-OpenStack-Nova-API-Version")
}

fn route(st: &mut State, req: &Request, who: &Who, minor: u32, rest: &[&str]) -> Outcome {
    match (&req.method, rest) {
        (&Method::GET, []) => Ok(Reply::json(200, json!({"version": version(st, true)}))),
        (_, ["os-keypairs", rest @ ..]) => keypairs::handle(st, req, who, minor, rest),
        (&Method::GET, ["servers", rest @ ..]) => servers::handle(st, req, who, rest),
        (&Method::GET, ["flavors", rest @ ..]) => flavors::handle(st, rest),
        (&Method::GET, ["limits"]) => Ok(limits::limits(st, who)),
        (_, ["os-quota-sets", rest @ ..]) => limits::quota_sets(st, req, who, rest),
        (&Method::GET, ["os-availability-zone"]) => Ok(Reply::json(
            200,
            json!({"availabilityZoneInfo": [
                {"zoneName": "nova", "zoneState": {"available": true}, "hosts": null},
            ]}),
        )),
        _ => Err(Reply::no_route("")),
    }
}

fn version(st: &State, full: bool) -> Value {
    let href = format!("{}/v2.1/", st.base(Service::Compute));
    let mut out = json!({
        "id": "v2.1", "status": "CURRENT", "version": format!("2.{NEWEST}"), "min_version": "2.1",
        "updated": "2013-07-23T11:33:21Z", "links": [{"rel": "self", "href": href}],
    });
    if full {
        let docs = json!({"rel": "describedby", "type": "text/html", "href": "http://docs.openstack.org/"});
        crate::json::set(&mut out, "links", json!([{"rel": "self", "href": href}, docs]));
        let media = json!([{
            "base": "application/json", "type": "application/vnd.openstack.compute+json;version=2.1",
        }]);
        crate::json::set(&mut out, "media-types", media);
    }
    out
}

fn discovery_root(st: &State) -> Reply {
    let href = format!("{}/v2/", st.base(Service::Compute));
    Reply::json(
        200,
        json!({"versions": [
            {
                "id": "v2.0", "status": "DEPRECATED", "version": "", "min_version": "",
                "updated": "2025-07-04T12:00:00Z", "links": [{"rel": "self", "href": href}],
            },
            version(st, false),
        ]}),
    )
}
