//! The tags of a resource: a sub-resource of its own, since a POST of most resources takes no tags.

use hyper::Method;
use serde_json::{Map, Value, json};

use super::errors::{error, forbidden, invalid_input, no_path};
use super::schema::check_tag;
use super::{Resource, if_match};
use crate::json::{text, texts};
use crate::request::{Outcome, Reply, Request};
use crate::state::{State, Who};

pub(crate) fn handle(
    st: &mut State,
    req: &Request,
    who: &Who,
    resource: &Resource,
    id: &str,
    rest: &[&str],
) -> Outcome {
    if resource.attrs.iter().any(|a| a.name == "tags" && !a.post && !a.put) {
        return Err(no_path()); // a resource without tags
    }
    let doc = resource.find(st, who, id)?;
    let mut tags = texts(doc, "tags");
    tags.sort();
    if req.method != Method::GET {
        if !who.may_write(text(doc, "project_id")) {
            return Err(forbidden(format!("rule:update_{}_tags", resource.plural)));
        }
        if_match(req, doc)?;
    }
    match (&req.method, rest) {
        (&Method::GET, []) => Ok(Reply::json(200, json!({"tags": tags}))),
        (&Method::GET, [tag]) => {
            if tags.iter().any(|t| t == tag) {
                Ok(Reply::empty(204))
            } else {
                Err(not_found(tag))
            }
        }
        (&Method::PUT, []) => {
            let wanted = body(st, req)?;
            save(st, resource, id, wanted.clone());
            Ok(Reply::json(200, json!({"tags": wanted})))
        }
        (&Method::POST, []) => {
            tags.extend(body(st, req)?);
            save(st, resource, id, tags.clone());
            Ok(Reply::json(200, json!({"tags": tags})))
        }
        (&Method::PUT, [tag]) => {
            check_tag(tag, st.settings.tag_limit)?;
            tags.push((*tag).to_owned());
            save(st, resource, id, tags);
            Ok(Reply::empty(201))
        }
        (&Method::DELETE, []) => {
            save(st, resource, id, Vec::new());
            Ok(Reply::empty(204))
        }
        (&Method::DELETE, [tag]) => {
            let left: Vec<String> = tags.iter().filter(|t| t != tag).cloned().collect();
            if left.len() == tags.len() {
                return Err(not_found(tag));
            }
            save(st, resource, id, left);
            Ok(Reply::empty(204))
        }
        _ => Err(no_path()),
    }
}

fn not_found(tag: &str) -> Reply {
    error(404, "TagNotFound", format!("Tag {tag} could not be found."))
}

fn body(st: &State, req: &Request) -> Result<Vec<String>, Reply> {
    let wanted = req.member("tags");
    let items = wanted.as_array().ok_or_else(|| invalid_input("Invalid tags body"))?;
    let mut out: Vec<String> = Vec::new();
    for item in items {
        let tag = item.as_str().ok_or_else(|| invalid_input(format!("'{item}' is not a valid string")))?;
        check_tag(tag, st.settings.tag_limit)?;
        if out.iter().any(|t| t == tag) {
            let quoted: Vec<String> = items.iter().filter_map(Value::as_str).map(|t| format!("'{t}'")).collect();
            return Err(invalid_input(format!("Duplicate items in the list: '[{}]'", quoted.join(", "))));
        }
        out.push(tag.to_owned());
    }
    Ok(out)
}

/// Tags are a set; they are shown in the order of their names.
fn save(st: &mut State, resource: &Resource, id: &str, mut tags: Vec<String>) {
    tags.sort();
    tags.dedup();
    let mut change = Map::new();
    change.insert("tags".to_owned(), Value::from(tags));
    st.change(resource.table, id, &change);
}
