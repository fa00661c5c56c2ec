//! Key pairs. They belong to a user, not to a project, and are only ever imported: making one needs RSA.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper::Method;
use serde_json::{Value, json};

use super::{fault, md5};
use crate::clock;
use crate::json::{drop_members, int, member, set, text, wrap};
use crate::neutron::quotas;
use crate::request::{Body, Outcome, Reply, Request};
use crate::state::{State, Who, table};

/// The microversion from which a key pair has a type.
const TYPED: u32 = 2;
/// The microversion from which a creation answers 201 and a deletion 204.
const STATUS: u32 = 2;
/// The microversion from which Nova makes no pairs any more.
const IMPORT_ONLY: u32 = 92;

pub(crate) fn handle(st: &mut State, req: &Request, who: &Who, minor: u32, rest: &[&str]) -> Outcome {
    match (&req.method, rest) {
        (&Method::GET, []) => Ok(list(st, who, minor)),
        (&Method::POST, []) => create(st, req, who, minor),
        (&Method::GET, [name]) => {
            let doc = find(st, who, name)?;
            let mut shown = shown(doc, minor);
            for (key, value) in [("deleted", json!(false)), ("deleted_at", json!(null)), ("updated_at", json!(null))] {
                set(&mut shown, key, value);
            }
            set(&mut shown, "id", int(doc, "_serial"));
            set(&mut shown, "created_at", member(doc, "created_at"));
            Ok(Reply::json(200, wrap("keypair", shown)))
        }
        (&Method::DELETE, [name]) => {
            find(st, who, name)?;
            st.remove(table::KEYPAIRS, &id(who, name));
            Ok(Reply::empty(if minor < STATUS { 202 } else { 204 }))
        }
        _ => Err(Reply::no_route("")),
    }
}

fn id(who: &Who, name: &str) -> String {
    format!("{}/{name}", who.user)
}

fn find<'a>(st: &'a State, who: &Who, name: &str) -> Result<&'a Value, Reply> {
    let lost = || fault(404, format!("Keypair {name} not found for user {}", who.user));
    st.get(table::KEYPAIRS, &id(who, name)).ok_or_else(lost)
}

fn shown(doc: &Value, minor: u32) -> Value {
    let mut out = doc.clone();
    drop_members(&mut out, &["id", "_serial", "created_at"]);
    if minor < TYPED {
        drop_members(&mut out, &["type"]);
    }
    out
}

fn list(st: &State, who: &Who, minor: u32) -> Reply {
    let mine = st.all(table::KEYPAIRS).filter(|k| text(k, "user_id") == who.user);
    let rows: Vec<Value> = mine
        .map(|k| {
            let mut out = shown(k, minor);
            drop_members(&mut out, &["user_id"]);
            wrap("keypair", out)
        })
        .collect();
    Reply::json(200, json!({"keypairs": rows}))
}

fn create(st: &mut State, req: &Request, who: &Who, minor: u32) -> Outcome {
    if matches!(req.body, Body::Malformed) {
        return Err(fault(400, "There is no such action: malformed request body".to_owned()));
    }
    let wanted = req.member("keypair");
    let name = text(&wanted, "name").to_owned();
    if name.is_empty() {
        let message = "Invalid input for field/attribute name. Value: . '' should be non-empty";
        return Err(fault(400, message.to_owned()));
    }
    let Some(key) = wanted.get("public_key").and_then(Value::as_str) else {
        if minor >= IMPORT_ONLY {
            let message = format!(
                "Invalid input for field/attribute keypair. Value: {{'name': '{name}'}}. 'public_key' is a required property"
            );
            return Err(fault(400, message));
        }
        return Err(fault(501, "The embedded cloud makes no key pairs, it only imports public keys".to_owned()));
    };
    let fingerprint = fingerprint(key)
        .ok_or_else(|| fault(400, "Keypair data is invalid: failed to generate fingerprint".to_owned()))?;
    let limit = quotas::limit(st, "compute", &who.project, "key_pairs", super::limits::KEY_PAIRS);
    let count = st.all(table::KEYPAIRS).filter(|k| text(k, "user_id") == who.user).count();
    if limit >= 0 && i64::try_from(count).unwrap_or(i64::MAX) >= limit {
        return Err(fault(403, "Quota exceeded, too many key pairs.".to_owned()));
    }
    if find(st, who, &name).is_ok() {
        return Err(fault(409, format!("Key pair '{name}' already exists.")));
    }
    let serial = st.next_serial();
    let doc = json!({
        "id": id(who, &name), "type": "ssh", "name": name, "public_key": key, "fingerprint": fingerprint,
        "user_id": who.user, "_serial": serial, "created_at": clock::micros(),
    });
    let shown = shown(&doc, minor);
    st.put(table::KEYPAIRS, doc);
    Ok(Reply::json(if minor < STATUS { 200 } else { 201 }, wrap("keypair", shown)))
}

/// MD5 over the key's bytes, in pairs of digits; `None` when the text is no public key.
fn fingerprint(key: &str) -> Option<String> {
    let mut words = key.split_whitespace();
    let (kind, blob) = (words.next()?, STANDARD.decode(words.next()?).ok()?);
    let length = usize::try_from(u32::from_be_bytes(blob.get(..4)?.try_into().ok()?)).ok()?;
    if blob.get(4..length.checked_add(4)?)? != kind.as_bytes() {
        return None;
    }
    let pairs: Vec<String> = md5::digest(&blob).iter().map(|b| format!("{b:02x}")).collect();
    Some(pairs.join(":"))
}
