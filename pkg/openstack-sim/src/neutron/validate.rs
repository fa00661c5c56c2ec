//! Converters and validators of Neutron's API layer. Errors are the reasons that it gives.

use std::net::IpAddr;

use ipnet::IpNet;
use serde_json::{Value, json};

use super::errors::invalid_input;
use crate::json::{text as member_text, text_opt};
use crate::request::Reply;

type Checked = Result<Value, String>;

/// Text of at most `max` characters.
pub(crate) fn text(value: &Value, max: usize) -> Checked {
    let Some(text) = value.as_str() else { return Err(format!("'{}' is not a valid string", shown(value))) };
    if text.chars().count() > max {
        return Err(format!("'{text}' exceeds maximum length of {max}"));
    }
    Ok(value.clone())
}

/// A truth value in any of the spellings that are understood.
pub(crate) fn boolean(value: &Value) -> Result<Value, Reply> {
    let word = match value {
        Value::Bool(_) => return Ok(value.clone()),
        Value::String(s) => s.to_lowercase(),
        other => other.to_string(),
    };
    match word.as_str() {
        "true" | "1" => Ok(Value::from(true)),
        "false" | "0" => Ok(Value::from(false)),
        _ => Err(invalid_input(format!("'{}' cannot be converted to boolean", shown(value)))),
    }
}

/// A whole number, also as text.
pub(crate) fn integer(value: &Value) -> Result<Value, Reply> {
    let number = match value {
        Value::Number(n) => n.as_i64(),
        Value::String(s) => s.parse().ok(),
        _ => None,
    };
    number.map(Value::from).ok_or_else(|| invalid_input(format!("'{}' is not an integer", shown(value))))
}

/// One of a few texts.
pub(crate) fn one_of(value: &Value, allowed: &[&str]) -> Checked {
    match value.as_str() {
        Some(text) if allowed.contains(&text) => Ok(value.clone()),
        _ => Err(format!("{} is not in valid_values", shown(value))),
    }
}

/// A UUID in a form that Neutron takes.
pub(crate) fn uuid(value: &Value) -> Checked {
    match value.as_str().map(uuid::Uuid::parse_str) {
        Some(Ok(_)) => Ok(value.clone()),
        _ => Err(format!("'{}' is not a valid UUID", shown(value))),
    }
}

/// An address of either family.
pub(crate) fn ip(value: &Value) -> Checked {
    match value.as_str().map(str::parse::<IpAddr>) {
        Some(Ok(_)) => Ok(value.clone()),
        _ => Err(format!("'{}' is not a valid IP address", shown(value))),
    }
}

/// A list, each entry checked alike. Null is an empty list.
pub(crate) fn each(value: &Value, check: impl Fn(&Value) -> Checked) -> Checked {
    match value {
        Value::Null => Ok(json!([])),
        Value::Array(items) => items.iter().map(check).collect::<Result<Vec<_>, _>>().map(Value::from),
        other => Err(format!("'{}' is not a list", shown(other))),
    }
}

/// Addresses of DNS servers.
pub(crate) fn nameservers(value: &Value) -> Checked {
    each(value, |v| ip(v).map_err(|why| format!("'{}' is not a valid nameserver. {why}", shown(v))))
}

/// Allocation pools.
pub(crate) fn ranges(value: &Value) -> Checked {
    each(value, |range| {
        for key in ["start", "end"] {
            ip(range.get(key).unwrap_or(&Value::Null))?;
        }
        Ok(json!({"start": range.get("start"), "end": range.get("end")}))
    })
}

/// Host routes and extra routes.
pub(crate) fn routes(value: &Value) -> Checked {
    each(value, |route| {
        let (destination, nexthop) = (member_text(route, "destination"), route.get("nexthop").unwrap_or(&Value::Null));
        if destination.parse::<IpNet>().is_err() {
            return Err(format!("'{destination}' is not a valid IP subnet"));
        }
        ip(nexthop)?;
        Ok(json!({"destination": destination, "nexthop": nexthop}))
    })
}

/// Fixed addresses of a port or a gateway.
pub(crate) fn fixed_ips(value: &Value) -> Checked {
    each(value, |fixed| {
        let Some(members) = fixed.as_object() else {
            return Err(format!("Invalid data format for fixed IP: '{}'", shown(fixed)));
        };
        for (key, member) in members {
            match key.as_str() {
                "subnet_id" => uuid(member)?,
                "ip_address" => ip(member)?,
                _ => return Err(format!("Invalid data format for fixed IP: unexpected key '{key}'")),
            };
        }
        Ok(fixed.clone())
    })
}

/// A router's gateway. Null and an empty object take it away.
pub(crate) fn gateway(value: &Value) -> Checked {
    let Some(members) = value.as_object() else {
        return if value.is_null() { Ok(json!({})) } else { Err(format!("'{}' is not a dictionary", shown(value))) };
    };
    if members.is_empty() {
        return Ok(json!({}));
    }
    uuid(members.get("network_id").unwrap_or(&Value::Null))?;
    for (key, member) in members {
        match key.as_str() {
            "network_id" => {}
            "enable_snat" if member.is_boolean() => {}
            "external_fixed_ips" => {
                fixed_ips(member)?;
            }
            _ => return Err(format!("'{key}' has an unexpected value")),
        }
    }
    Ok(value.clone())
}

/// A protocol as text; numbers become text, `any` becomes null.
pub(crate) fn protocol(value: &Value) -> Value {
    match value {
        Value::Number(n) => Value::from(n.to_string()),
        Value::String(s) if s == "any" => Value::Null,
        Value::String(s) => Value::from(s.to_lowercase()),
        _ => Value::Null,
    }
}

/// Is the text a UUID?
pub(crate) fn is_uuid(text: &str) -> bool {
    uuid::Uuid::parse_str(text).is_ok()
}

/// A value as Python prints it inside quotes.
fn shown(value: &Value) -> String {
    match value {
        Value::String(s) => s.clone(),
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        other => other.to_string(),
    }
}

/// The optional address of a fixed IP.
pub(crate) fn address_of(fixed: &Value) -> Option<IpAddr> {
    text_opt(fixed, "ip_address").and_then(|a| a.parse().ok())
}
