//! Neutron's error envelope and the errors that more than one resource gives.

use serde_json::json;

use crate::request::Reply;

/// `{"NeutronError": {"type", "message", "detail"}}`
pub(crate) fn error(status: u16, kind: &str, message: impl Into<String>) -> Reply {
    Reply::json(status, json!({"NeutronError": {"type": kind, "message": message.into(), "detail": ""}}))
}

/// A body or query that the API layer refuses.
pub(crate) fn bad_request(message: impl Into<String>) -> Reply {
    error(400, "HTTPBadRequest", message)
}

/// A value that a validator of the API layer refuses.
pub(crate) fn bad_value(attr: &str, reason: impl std::fmt::Display) -> Reply {
    bad_request(format!("Invalid input for {attr}. Reason: {reason}."))
}

/// A value that a converter or the plug-in refuses.
pub(crate) fn invalid_input(message: impl std::fmt::Display) -> Reply {
    error(400, "InvalidInput", format!("Invalid input for operation: {message}."))
}

/// What the plug-in calls a bad request.
pub(crate) fn bad(resource: &str, message: impl std::fmt::Display) -> Reply {
    error(400, "BadRequest", format!("Bad {resource} request: {message}."))
}

/// The policy forbids it.
pub(crate) fn forbidden(rule: impl std::fmt::Display) -> Reply {
    error(403, "PolicyNotAuthorized", format!("{rule} is disallowed by policy"))
}

/// No address is free.
pub(crate) fn no_address(network: &str) -> Reply {
    error(409, "IpAddressGenerationFailure", format!("No more IP addresses available on network {network}."))
}

/// The path leads nowhere.
pub(crate) fn no_path() -> Reply {
    error(404, "HTTPNotFound", "The resource could not be found.")
}

pub(crate) fn network_not_found(id: &str) -> Reply {
    error(404, "NetworkNotFound", format!("Network {id} could not be found."))
}

pub(crate) fn subnet_not_found(id: &str) -> Reply {
    error(404, "SubnetNotFound", format!("Subnet {id} could not be found."))
}

pub(crate) fn pool_not_found(id: &str) -> Reply {
    error(404, "SubnetPoolNotFound", format!("Subnet pool {id} could not be found."))
}

pub(crate) fn port_not_found(id: &str) -> Reply {
    error(404, "PortNotFound", format!("Port {id} could not be found."))
}

pub(crate) fn router_not_found(id: &str) -> Reply {
    error(404, "RouterNotFound", format!("Router {id} could not be found"))
}

pub(crate) fn group_not_found(id: &str) -> Reply {
    error(404, "SecurityGroupNotFound", format!("Security group {id} does not exist"))
}

pub(crate) fn rule_not_found(id: &str) -> Reply {
    error(404, "SecurityGroupRuleNotFound", format!("Security group rule {id} does not exist"))
}

pub(crate) fn floating_ip_not_found(id: &str) -> Reply {
    error(404, "FloatingIPNotFound", format!("Floating IP {id} could not be found"))
}

pub(crate) fn rbac_not_found(id: &str) -> Reply {
    error(404, "RbacPolicyNotFound", format!("RBAC policy with ID {id} not found"))
}
