//! What the status of an Infrastructure has to say of the cloud.

use fabric_apis::openstack::v1alpha1::InfrastructureConfig;
use serde_json::{Value, json};

use crate::{raw::Service, world::World};

impl World {
    /// Fails unless a status says of the cloud what is there, as Gardener reads it (contract §1.2, §3.6), and what is
    /// ours is marked and nothing else.
    /// `shoot`: its technical ID and its uid.
    pub async fn assert_status(
        &self,
        config: &InfrastructureConfig,
        (shoot, uid): (&str, &str),
        status: &Value,
        egress: &[String],
    ) {
        let networks = &status["networks"];
        let id = |value: &Value| value["id"].as_str().unwrap().to_owned();
        let router_path = format!("routers/{}", id(&networks["router"]));
        let network_path = format!("networks/{}", id(networks));
        let subnet_path = format!("subnets/{}", id(&networks["subnets"][0]));
        let group_path = format!("security-groups/{}", id(&status["securityGroups"][0]));
        let (router, network, subnet, group) = tokio::join!(
            self.look(&router_path),
            self.look(&network_path),
            self.look(&subnet_path),
            self.look(&group_path)
        );
        let (router, network, subnet, group) = (router.unwrap(), network.unwrap(), subnet.unwrap(), group.unwrap());

        assert_eq!(router["status"], "ACTIVE");
        let fixed = router["external_gateway_info"]["external_fixed_ips"].as_array().unwrap();
        let ips: Vec<Value> = fixed.iter().map(|ip| ip["ip_address"].clone()).collect();
        assert_eq!(networks["router"]["externalFixedIP"], Value::from(ips.clone()));
        assert_eq!(networks["router"]["ip"], ips[0]);
        let host = |ip: &Value| {
            let ip = ip.as_str().unwrap();
            format!("{ip}/{}", if ip.contains(':') { 128 } else { 32 })
        };
        assert_eq!(egress, ips.iter().map(host).collect::<Vec<_>>());
        assert_eq!(networks["name"], network["name"]);
        assert_eq!(subnet["network_id"], network["id"]);
        let subnets = networks["subnets"].as_array().unwrap();
        assert_eq!(subnets[0], json!({"purpose": "nodes", "id": subnet["id"], "cidr": subnet["cidr"]}));
        assert_eq!(subnets.len() > 1, config.networks.ipv6.is_some(), "{subnets:?}");
        assert_eq!(networks["floatingPool"]["name"], self.facts.external_network.as_str());
        assert_eq!(networks["floatingPool"]["id"], self.facts.external_network_id.as_str());
        assert_eq!(status["securityGroups"], json!([{"purpose": "nodes", "id": group["id"], "name": group["name"]}]));
        assert_eq!(status["node"]["keyName"], shoot);
        let pairs = self.gardener().await.list(Service::Compute, "os-keypairs", "keypairs").await;
        assert_eq!(pairs.len(), 1);
        assert_eq!(pairs[0]["keypair"]["name"], shoot);

        for (kind, resource, ours) in [
            ("network", &network, config.networks.id.is_none()),
            ("subnet", &subnet, config.networks.subnet_id.is_none()),
            ("router", &router, config.networks.router.is_none()),
            ("group", &group, config.networks.security_group_id.is_none()),
        ] {
            let marker = format!("osf:{shoot}/{uid}");
            let marked = resource["description"].as_str().unwrap().ends_with(&marker);
            let mut tags: Vec<&str> =
                resource["tags"].as_array().unwrap().iter().map(|tag| tag.as_str().unwrap()).collect();
            tags.sort_unstable();
            let tagged = tags == [format!("osf:shoot={shoot}"), format!("osf:uid={uid}")];
            assert_eq!((marked, tagged, resource["name"] == shoot), (ours, ours, ours), "{kind}: {resource}");
        }
        if config.networks.security_group_id.is_none() {
            assert_eq!(rules(&group), RULES, "{group}");
        }
    }
}

/// A rule a line, sorted.
fn rules(group: &Value) -> Vec<String> {
    let rules = group["security_group_rules"].as_array().unwrap();
    let mut lines: Vec<String> = rules
        .iter()
        .map(|rule| {
            let own = if rule["remote_group_id"] == group["id"] { "group" } else { "" };
            let word = |key: &str| rule[key].as_str().map_or_else(|| rule[key].to_string(), str::to_owned);
            let words = ["direction", "ethertype", "protocol", "port_range_min", "port_range_max", "remote_ip_prefix"];
            format!("{}{own}", words.map(word).join(" ").replace("null", "-"))
        })
        .collect();
    lines.sort();
    lines
}

const RULES: [&str; 5] = [
    "egress IPv4 - - - -",
    "egress IPv6 - - - -",
    "ingress IPv4 - - - -group",
    "ingress IPv4 tcp 30000 32767 0.0.0.0/0",
    "ingress IPv4 udp 30000 32767 0.0.0.0/0",
];
