//! Attributes of Neutron's resources, and what the API layer does with a body before anybody else sees it.
//!
//! ```text
//! body ─► JSON? ─► envelope? ─► known attributes? ─► may be set here? ─► convert, validate ─► defaults
//! ```

use serde_json::{Map, Value, json};

use super::errors::{bad_request, bad_value, invalid_input};
use super::validate;
use crate::request::{Body, Reply, Request};
use crate::state::Who;

/// What an attribute may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    /// Text of at most so many characters.
    Text(usize),
    /// A truth value, also as text or 0 and 1.
    Bool,
    /// A whole number, also as text.
    Int,
    /// A whole number or null.
    IntOrNull,
    /// One of these numbers.
    IntOf(&'static [i64]),
    /// One of these texts.
    Of(&'static [&'static str]),
    /// One of these texts, or null.
    OfOrNull(&'static [&'static str]),
    Uuid,
    UuidOrNull,
    Uuids,
    IpOrNull,
    Ips,
    /// `[{"start", "end"}]`
    Ranges,
    /// `[{"destination", "nexthop"}]`
    Routes,
    /// `[{"subnet_id", "ip_address"}]`
    FixedIps,
    /// `{"network_id", "enable_snat", "external_fixed_ips"}` or null
    Gateway,
    Tags,
    /// A list of texts.
    Texts,
    /// A protocol's name or number, or null.
    Protocol,
    Any,
}

/// What happens when a POST does not name the attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Absent {
    Refused,
    Null,
    Empty,
    False,
    True,
    List,
    Text(&'static str),
    /// It stays absent; the resource decides.
    Left,
}

/// One attribute.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attr {
    pub(crate) name: &'static str,
    pub(crate) kind: Kind,
    pub(crate) absent: Absent,
    pub(crate) post: bool,
    pub(crate) put: bool,
    /// Only administrators may set it.
    pub(crate) admin: bool,
}

impl Attr {
    /// An attribute that a POST and a PUT may set.
    pub(crate) const fn new(name: &'static str, kind: Kind, absent: Absent) -> Self {
        Self { name, kind, absent, post: true, put: true, admin: false }
    }

    /// One that the service alone sets.
    pub(crate) const fn read(name: &'static str) -> Self {
        Self { name, kind: Kind::Any, absent: Absent::Left, post: false, put: false, admin: false }
    }

    /// One that no PUT may change.
    pub(crate) const fn fixed(mut self) -> Self {
        self.put = false;
        self
    }

    /// One that only an administrator may set.
    pub(crate) const fn admin(mut self) -> Self {
        self.admin = true;
        self
    }
}

/// What all resources with Neutron's standard attributes have.
pub(crate) const STANDARD: [Attr; 7] = [
    Attr::read("id"),
    Attr::read("project_id"),
    Attr::read("tenant_id"),
    Attr::read("revision_number"),
    Attr::read("created_at"),
    Attr::read("updated_at"),
    Attr::read("tags"),
];

/// The document inside the envelope: one, or several of a bulk request.
pub(crate) fn unwrap(req: &Request, single: &str, plural: &str) -> Result<Vec<Map<String, Value>>, Reply> {
    let lost = || bad_request(format!("Unable to find '{single}' in request body"));
    let doc = match &req.body {
        Body::Malformed => return Err(bad_request("Body contains invalid data")),
        Body::Empty => return Err(lost()),
        Body::Json(doc) => doc,
    };
    if let Some(inner) = doc.get(single).and_then(Value::as_object) {
        return Ok(vec![inner.clone()]);
    }
    let many = doc.get(plural).and_then(Value::as_array).ok_or_else(lost)?;
    many.iter().map(|d| d.as_object().cloned().ok_or_else(lost)).collect()
}

/// Checks a POST and fills in the defaults. `project_id` names the owner afterwards.
pub(crate) fn for_post(attrs: &[Attr], given: Map<String, Value>, who: &Who) -> Result<Map<String, Value>, Reply> {
    known(attrs, &given)?;
    let mut out = Map::new();
    let owner = given.get("project_id").or_else(|| given.get("tenant_id")).and_then(Value::as_str);
    let owner = owner.unwrap_or(&who.project).to_owned();
    if owner != who.project && !who.admin() {
        return Err(bad_request(
            "Specifying 'project_id' other than the authenticated project in request is not allowed for the current user.",
        ));
    }
    for attr in attrs {
        let named = given.get(attr.name).filter(|_| !matches!(attr.name, "project_id" | "tenant_id"));
        match named {
            Some(_) if !attr.post => {
                return Err(bad_request(format!("Attribute '{}' not allowed in POST", attr.name)));
            }
            Some(value) => {
                out.insert(attr.name.to_owned(), convert(attr, value)?);
            }
            None => default(attr, &mut out)?,
        }
    }
    out.insert("project_id".to_owned(), Value::from(owner));
    Ok(out)
}

/// Checks a PUT; only what it names is left.
pub(crate) fn for_put(attrs: &[Attr], given: &Map<String, Value>) -> Result<Map<String, Value>, Reply> {
    known(attrs, given)?;
    let mut out = Map::new();
    for (name, value) in given {
        let Some(attr) = attrs.iter().find(|a| a.name == name) else { continue };
        if !attr.put {
            return Err(bad_request(format!("Cannot update read-only attribute {name}")));
        }
        out.insert(name.clone(), convert(attr, value)?);
    }
    Ok(out)
}

fn known(attrs: &[Attr], given: &Map<String, Value>) -> Result<(), Reply> {
    let strange: Vec<&str> = given.keys().map(String::as_str).filter(|k| !attrs.iter().any(|a| a.name == *k)).collect();
    if strange.is_empty() {
        return Ok(());
    }
    Err(bad_request(format!("Unrecognized attribute(s) '{}'", strange.join(", "))))
}

fn default(attr: &Attr, out: &mut Map<String, Value>) -> Result<(), Reply> {
    let value = match attr.absent {
        Absent::Refused => {
            return Err(bad_request(format!(
                "Failed to parse request. Required attribute '{}' not specified",
                attr.name
            )));
        }
        Absent::Left => return Ok(()),
        Absent::Null => Value::Null,
        Absent::Empty => Value::from(""),
        Absent::False => Value::from(false),
        Absent::True => Value::from(true),
        Absent::List => json!([]),
        Absent::Text(t) => Value::from(t),
    };
    if attr.post {
        out.insert(attr.name.to_owned(), value);
    }
    Ok(())
}

fn convert(attr: &Attr, value: &Value) -> Result<Value, Reply> {
    let name = attr.name;
    let refuse = |reason: String| bad_value(name, reason);
    match attr.kind {
        Kind::Any => Ok(value.clone()),
        Kind::Text(max) => validate::text(value, max).map_err(refuse),
        Kind::Bool => validate::boolean(value),
        Kind::Int => validate::integer(value),
        Kind::IntOrNull if value.is_null() => Ok(Value::Null),
        Kind::IntOrNull => validate::integer(value),
        Kind::IntOf(allowed) => {
            let number = validate::integer(value)?;
            if number.as_i64().is_some_and(|n| allowed.contains(&n)) {
                return Ok(number);
            }
            Err(refuse(format!("{number} is not in valid_values")))
        }
        Kind::OfOrNull(_) if value.is_null() => Ok(Value::Null),
        Kind::Of(allowed) | Kind::OfOrNull(allowed) => validate::one_of(value, allowed).map_err(refuse),
        Kind::UuidOrNull | Kind::IpOrNull if value.is_null() => Ok(Value::Null),
        Kind::Uuid | Kind::UuidOrNull => validate::uuid(value).map_err(refuse),
        Kind::Uuids => validate::each(value, validate::uuid).map_err(refuse),
        Kind::IpOrNull => validate::ip(value).map_err(refuse),
        Kind::Ips => validate::nameservers(value).map_err(refuse),
        Kind::Ranges => validate::ranges(value).map_err(refuse),
        Kind::Routes => validate::routes(value).map_err(refuse),
        Kind::FixedIps => validate::fixed_ips(value).map_err(refuse),
        Kind::Gateway => validate::gateway(value).map_err(refuse),
        Kind::Tags | Kind::Texts => validate::each(value, |v| validate::text(v, 255)).map_err(refuse),
        Kind::Protocol => Ok(validate::protocol(value)),
    }
}

/// Used by the tags API, whose limit is a switch.
pub(crate) fn check_tag(tag: &str, limit: usize) -> Result<(), Reply> {
    match validate::text(&Value::from(tag), limit) {
        Ok(_) => Ok(()),
        Err(reason) => Err(invalid_input(reason)),
    }
}
