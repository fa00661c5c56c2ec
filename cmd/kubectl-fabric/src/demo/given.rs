//! What a user of the embedded cloud has before Gardener comes: a network with a subnet on a router, and a security
//! group. And the proof that it was left alone.

use std::{
    fmt::Write,
    time::{Duration, Instant},
};

use fabric_openstack_sim::{Answer, Cloud, Service, User};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::exit::{Result, Stop};

/// The user's resources, by id.
#[derive(Clone, Debug)]
pub(super) struct Given {
    pub(super) network: String,
    pub(super) subnet: String,
    pub(super) router: String,
    pub(super) port: String,
    pub(super) group: String,
}

/// Their names; what is there already under them is taken as it is.
const NETWORK: &str = "team-network";
const SUBNET: &str = "team-nodes";
const ROUTER: &str = "team-router";
const GROUP: &str = "team-nodes";
/// The subnet's range.
const CIDR: &str = "10.180.0.0/24";

impl Given {
    /// Makes what is not there yet, as the cloud's user `demo`.
    ///
    /// # Errors
    /// What the cloud refuses.
    pub(super) fn seed(cloud: &Cloud) -> Result<Self> {
        let user = cloud.user("demo").map_err(Stop::error)?;
        let public = user.find("networks", "public")?;
        let network = user.ensure("network", NETWORK, &json!({}))?;
        let wanted = json!({
            "network_id": network, "ip_version": 4, "cidr": CIDR, "dns_nameservers": ["192.0.2.53"],
        });
        let subnet = user.ensure("subnet", SUBNET, &wanted)?;
        let wanted = json!({"external_gateway_info": {"network_id": public}});
        let router = user.ensure("router", ROUTER, &wanted)?;
        let ports = format!("/v2.0/ports?device_id={router}&device_owner=network:router_interface");
        let ports = user.ask("GET", &ports, Value::Null)?;
        let port = match ports.text("/ports/0/id") {
            id if !id.is_empty() => id,
            _ => {
                let path = format!("/v2.0/routers/{router}/add_router_interface");
                user.ask("PUT", &path, json!({"subnet_id": subnet}))?.text("/port_id")
            }
        };
        let group = user.group()?;
        Ok(Self { network, subnet, router, port, group })
    }

    /// Waits until the router's port works, as it does where a user has used it for long.
    ///
    /// # Errors
    /// It does not within five seconds.
    pub(super) async fn settled(&self, cloud: &Cloud) -> Result<()> {
        let user = cloud.user("demo").map_err(Stop::error)?;
        let path = format!("/v2.0/ports/{}", self.port);
        let deadline = Instant::now() + Duration::from_secs(5);
        while user.ask("GET", &path, Value::Null)?.text("/port/status") != "ACTIVE" {
            if Instant::now() > deadline {
                return Err(Stop::error("embedded cloud: the router's port does not become ACTIVE"));
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }

    /// The config of one of the five patterns, as a user writes it.
    pub(super) fn config(&self, pattern: u8) -> String {
        let Self { network, subnet, router, group, .. } = self;
        let mut text = String::from(
            "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: InfrastructureConfig\n\
             floatingPoolName: public\nnetworks:\n",
        );
        let mut line = |line: &str| {
            text.push_str("  ");
            text.push_str(line);
            text.push('\n');
        };
        if pattern >= 2 {
            line(&format!("id: {network}"));
        }
        if pattern >= 3 {
            line("router:");
            line(&format!("  id: {router}"));
        }
        if pattern >= 4 {
            line(&format!("subnetId: {subnet}"));
        } else {
            // Both patterns make a subnet in the one given network.
            line(if pattern == 3 { "workers: 10.180.129.0/24" } else { "workers: 10.180.128.0/24" });
        }
        if pattern >= 5 {
            line(&format!("securityGroupId: {group}"));
        }
        text
    }

    /// What each given resource holds, as a hash of all that its owner sees: everything but the number of the revision
    /// and the time of the last change.
    ///
    /// # Errors
    /// A resource that is gone.
    pub(super) fn fingerprints(&self, cloud: &Cloud) -> Result<Vec<(&'static str, &'static str, String)>> {
        let user = cloud.user("demo").map_err(Stop::error)?;
        let all = [
            ("network", NETWORK, "networks", &self.network),
            ("subnet", SUBNET, "subnets", &self.subnet),
            ("router", ROUTER, "routers", &self.router),
            ("router interface", "", "ports", &self.port),
            ("security group", GROUP, "security-groups", &self.group),
        ];
        all.into_iter()
            .map(|(kind, name, path, id)| {
                let seen = user.ask("GET", &format!("/v2.0/{path}/{id}"), Value::Null)?;
                Ok((kind, name, fingerprint(&seen.body)))
            })
            .collect()
    }
}

/// SHA-256 of the content, keys sorted, the first 12 digits.
fn fingerprint(content: &Value) -> String {
    let mut text = String::new();
    canonical(content, &mut text);
    // Writing to a String can't fail, here and below.
    Sha256::digest(text).iter().take(6).fold(String::new(), |mut all, byte| {
        let _ = write!(all, "{byte:02x}");
        all
    })
}

fn canonical(value: &Value, text: &mut String) {
    match value {
        Value::Object(fields) => {
            let mut fields: Vec<_> =
                fields.iter().filter(|(key, _)| !matches!(key.as_str(), "revision_number" | "updated_at")).collect();
            fields.sort_by_key(|(key, _)| *key);
            text.push('{');
            for (key, value) in fields {
                let _ = write!(text, "{key:?}:");
                canonical(value, text);
                text.push(',');
            }
            text.push('}');
        }
        Value::Array(items) => {
            // Neutron lists rules and ids in no order.
            let mut items: Vec<String> = items
                .iter()
                .map(|item| {
                    let mut text = String::new();
                    canonical(item, &mut text);
                    text
                })
                .collect();
            items.sort();
            let _ = write!(text, "[{}]", items.join(","));
        }
        other => {
            let _ = write!(text, "{other}");
        }
    }
}

/// Calls whose refusal is an error.
pub(super) trait Asks {
    /// A call to Neutron.
    fn ask(&self, method: &str, path: &str, body: Value) -> Result<Answer>;

    /// The id of the first thing of this name.
    fn find(&self, collection: &str, name: &str) -> Result<String> {
        let found = self.ask("GET", &format!("/v2.0/{collection}?name={name}"), Value::Null)?;
        Ok(found.text(&format!("/{}/0/id", collection.replace('-', "_"))))
    }

    /// The id of the thing of this name, made if it is not there.
    fn ensure(&self, kind: &str, name: &str, wanted: &Value) -> Result<String> {
        let collection = format!("{kind}s");
        let found = self.find(&collection, name)?;
        if !found.is_empty() {
            return Ok(found);
        }
        let mut wanted = wanted.clone();
        if let Some(fields) = wanted.as_object_mut() {
            fields.insert("name".to_owned(), name.into());
        }
        let key = kind.replace('-', "_");
        let made = self.ask("POST", &format!("/v2.0/{collection}"), json!({ key.clone(): wanted }))?;
        Ok(made.text(&format!("/{key}/id")))
    }

    /// A security group with the least that nodes need.
    fn group(&self) -> Result<String> {
        let found = self.find("security-groups", GROUP)?;
        if !found.is_empty() {
            return Ok(found);
        }
        let group = self.ensure("security-group", GROUP, &json!({}))?;
        let mut rules = vec![json!({
            "security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "remote_group_id": group,
        })];
        rules.extend(["tcp", "udp"].map(|protocol| {
            json!({
                "security_group_id": group, "direction": "ingress", "ethertype": "IPv4", "protocol": protocol,
                "port_range_min": 30000, "port_range_max": 32767, "remote_ip_prefix": "0.0.0.0/0",
            })
        }));
        self.ask("POST", "/v2.0/security-group-rules", json!({"security_group_rules": rules}))?;
        Ok(group)
    }
}

impl Asks for User<'_> {
    fn ask(&self, method: &str, path: &str, body: Value) -> Result<Answer> {
        let answer = self.call(method, Service::Network, path, body);
        if answer.status >= 300 {
            return Err(Stop::error(format!("embedded cloud: {method} {path}: {}: {}", answer.status, answer.body)));
        }
        Ok(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fingerprint_sees_every_change_but_revision_and_time() {
        let before = json!({"router": {"name": "r", "routes": [1, 2], "revision_number": 1, "updated_at": "a"}});
        let same = json!({"router": {"updated_at": "b", "revision_number": 9, "routes": [2, 1], "name": "r"}});
        let other = json!({"router": {"name": "r", "routes": [1, 3], "revision_number": 1, "updated_at": "a"}});
        assert_eq!(fingerprint(&before), fingerprint(&same));
        assert_ne!(fingerprint(&before), fingerprint(&other));
    }

    #[test]
    fn each_pattern_gives_one_thing_more() {
        let text = |id: &str| id.to_owned();
        let given =
            Given { network: text("N"), subnet: text("S"), router: text("R"), port: text("P"), group: text("G") };
        let networks = |pattern| {
            let config: Value = serde_yaml::from_str(&given.config(pattern)).unwrap();
            config["networks"].clone()
        };
        let workers = "10.180.128.0/24";
        assert_eq!(networks(1), json!({"workers": workers}));
        assert_eq!(networks(2), json!({"workers": workers, "id": "N"}));
        assert_eq!(networks(3), json!({"workers": "10.180.129.0/24", "id": "N", "router": {"id": "R"}}));
        assert_eq!(networks(4), json!({"id": "N", "router": {"id": "R"}, "subnetId": "S"}));
        assert_eq!(networks(5), json!({"id": "N", "router": {"id": "R"}, "subnetId": "S", "securityGroupId": "G"}));
    }
}
