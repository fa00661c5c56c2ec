//! What upstream's extension makes: without marks.

use serde_json::{Value, json};

use crate::{
    raw::{Service, text},
    world::World,
};

impl World {
    /// Makes a pattern 1 cluster as upstream does, with this SSH key and these name servers, and returns its state.
    pub async fn cluster_of_upstream(&self, name: &str, key: &str, dns: &[&str]) -> Value {
        let me = self.gardener().await;
        let make = |path: &'static str, key: &'static str, fields: Value| {
            let me = me.clone();
            async move { text(&me.post(Service::Network, path, json!({key: fields})).await[key]["id"]) }
        };
        let gateway = json!({"network_id": self.facts.external_network_id});
        let network = make("networks", "network", json!({"name": name, "admin_state_up": true}));
        let router = make("routers", "router", json!({"name": name, "external_gateway_info": gateway}));
        let group = make("security-groups", "security_group", json!({"name": name, "description": "Cluster Nodes"}));
        let (network, router, group) = tokio::join!(network, router, group);
        let fields = json!({
            "name": name, "network_id": network, "cidr": "10.250.0.0/19", "ip_version": 4, "dns_nameservers": dns,
        });
        let subnet = make("subnets", "subnet", fields).await;
        self.interface(&router, &subnet).await;
        let rule = |description: &str, fields: Value| {
            let mut rule = json!({"security_group_id": group, "direction": "ingress", "ethertype": "IPv4",
                              "description": description});
            rule.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            rule
        };
        let ports = |protocol: &str| {
            let range = json!({"protocol": protocol, "port_range_min": 30000, "port_range_max": 32767,
                           "remote_ip_prefix": "0.0.0.0/0"});
            rule(&format!("IPv4: allow all incoming {protocol} traffic with port range 30000-32767"), range)
        };
        let same = "IPv4: allow all incoming traffic within the same security group";
        let rules = [rule(same, json!({"remote_group_id": group})), ports("tcp"), ports("udp")];
        me.post(Service::Network, "security-group-rules", json!({"security_group_rules": rules})).await;
        let pair = json!({"keypair": {"name": name, "public_key": key}});
        me.post(Service::Compute, "os-keypairs", pair).await;
        json!({
            "FloatingNetwork": self.facts.external_network_id, "FloatingNetworkName": self.facts.external_network,
            "Network": network, "NetworkName": name, "Router": router, "Subnet": subnet,
            "SecurityGroup": group, "SecurityGroupName": name, "KeyPair": name, "RouterIP": "172.24.4.1",
        })
    }
}
