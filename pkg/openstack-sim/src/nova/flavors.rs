//! The two flavors of a fresh cloud. Nothing is booted with them.

use serde_json::{Value, json};

use super::fault;
use crate::Service;
use crate::request::{Outcome, Reply};
use crate::state::State;

/// Id, name, MB of memory, virtual processors, GB of disk.
const FLAVORS: [(&str, &str, i64, i64, i64); 2] = [("1", "m1.small", 2048, 1, 20), ("2", "m1.large", 8192, 4, 80)];

pub(crate) fn handle(st: &State, rest: &[&str]) -> Outcome {
    match rest {
        [] => {
            let short = |f: &Value| json!({"id": f.get("id"), "name": f.get("name"), "links": f.get("links")});
            Ok(Reply::json(200, json!({"flavors": all(st).iter().map(short).collect::<Vec<_>>()})))
        }
        ["detail"] => Ok(Reply::json(200, json!({"flavors": all(st)}))),
        [id] => {
            let found = all(st).into_iter().find(|f| f.get("id").and_then(Value::as_str) == Some(id));
            let lost = || fault(404, format!("Flavor {id} could not be found."));
            found.map(|f| Reply::json(200, json!({"flavor": f}))).ok_or_else(lost)
        }
        _ => Err(Reply::no_route("")),
    }
}

fn all(st: &State) -> Vec<Value> {
    let base = st.base(Service::Compute);
    FLAVORS
        .iter()
        .map(|(id, name, ram, vcpus, disk)| {
            json!({
                "id": id, "name": name, "ram": ram, "disk": disk, "swap": "",
                "OS-FLV-EXT-DATA:ephemeral": 0, "OS-FLV-DISABLED:disabled": false, "vcpus": vcpus,
                "os-flavor-access:is_public": true, "rxtx_factor": 1.0,
                "links": [
                    {"rel": "self", "href": format!("{base}/v2.1/flavors/{id}")},
                    {"rel": "bookmark", "href": format!("{base}/flavors/{id}")},
                ],
            })
        })
        .collect()
}
