//! What a user makes and hands over, by raw HTTP.

use std::{future::Future, time::Duration};

use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::{
    raw::{Service, text},
    shoot::SSH_KEY,
    world::World,
};

/// The range of a given node subnet.
pub const NODES: &str = "10.250.0.0/19";

/// A network with a subnet and a router on it.
#[derive(Clone, Debug)]
pub struct Given {
    /// The network.
    pub network: String,
    /// The IPv4 subnet, [`NODES`].
    pub subnet: String,
    /// The router, with a way out and an interface on the subnet.
    pub router: String,
}

impl World {
    /// A network, a subnet, a router and the interface between them.
    pub async fn given(&self) -> Given {
        let network = self.network("net").await;
        let (subnet, router) = tokio::join!(self.subnet(&network, "nodes", NODES), self.router("router"));
        self.interface(&router, &subnet).await;
        Given { network, subnet, router }
    }

    async fn make(&self, path: &str, key: &str, fields: Value) -> Value {
        let mut answer = self.owner.post(Service::Network, path, json!({key: fields})).await;
        answer[key].take()
    }

    /// A network.
    pub async fn network(&self, name: &str) -> String {
        text(&self.make("networks", "network", json!({"name": self.name(name)})).await["id"])
    }

    /// A subnet; IPv6 ones configure themselves.
    pub async fn subnet(&self, network: &str, name: &str, cidr: &str) -> String {
        let mut fields = json!({"name": self.name(name), "network_id": network, "cidr": cidr, "ip_version": 4});
        if cidr.contains(':') {
            fields["ip_version"] = json!(6);
            fields["ipv6_address_mode"] = json!("slaac");
            fields["ipv6_ra_mode"] = json!("slaac");
        }
        text(&self.make("subnets", "subnet", fields).await["id"])
    }

    /// A router with a way out.
    pub async fn router(&self, name: &str) -> String {
        let gateway = json!({"network_id": self.facts.external_network_id});
        let fields = json!({"name": self.name(name), "external_gateway_info": gateway});
        text(&self.make("routers", "router", fields).await["id"])
    }

    /// Puts a router on a subnet, and waits until the port is ACTIVE.
    pub async fn interface(&self, router: &str, subnet: &str) -> String {
        let path = format!("routers/{router}/add_router_interface");
        let port = text(&self.owner.put(Service::Network, &path, json!({"subnet_id": subnet})).await["port_id"]);
        let path = format!("ports/{port}");
        self.until("the interface is ACTIVE", || async { self.look(&path).await.unwrap()["status"] == "ACTIVE" }).await;
        port
    }

    /// Looks until something is so.
    pub async fn until<F: Future<Output = bool>>(&self, what: &str, is_so: impl Fn() -> F) {
        let deadline = Instant::now() + Duration::from_secs(30);
        while !is_so().await {
            assert!(Instant::now() < deadline, "not within 30 s: {what}");
            sleep(Duration::from_millis(200)).await;
        }
    }

    /// What stands beside a shoot and is none of its business: the owner's subnet, port and group on the same
    /// network and router, and a key pair of the shoot's name.
    pub async fn bystanders(&self, given: &Given, shoot: &str) {
        let other = self.subnet(&given.network, "other", "10.251.0.0/24").await;
        let interface = self.interface(&given.router, &other);
        let port = self.port(&given.network, &given.subnet, "10.250.3.3");
        tokio::join!(interface, port, self.group("bystander"), self.key_pair(shoot));
    }

    /// A key pair of the owner.
    pub async fn key_pair(&self, name: &str) {
        let key = json!({"keypair": {"name": name, "public_key": SSH_KEY}});
        self.owner.post(Service::Compute, "os-keypairs", key).await;
    }

    /// A security group with the rules that nodes need.
    pub async fn group(&self, name: &str) -> String {
        let fields = json!({"name": self.name(name), "description": "rules of the platform team"});
        let id = text(&self.make("security-groups", "security_group", fields).await["id"]);
        let rule = |fields: Value| {
            let mut rule = json!({"security_group_id": id, "direction": "ingress", "ethertype": "IPv4"});
            rule.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            rule
        };
        let ports =
            |protocol: &str| rule(json!({"protocol": protocol, "port_range_min": 30000, "port_range_max": 32767}));
        let rules = json!({"security_group_rules": [
            rule(json!({"remote_group_id": id})), ports("tcp"), ports("udp"),
        ]});
        self.owner.post(Service::Network, "security-group-rules", rules).await;
        id
    }

    /// A port that belongs to nobody's shoot.
    pub async fn port(&self, network: &str, subnet: &str, address: &str) -> String {
        let fields = json!({
            "name": self.name("port"), "network_id": network,
            "fixed_ips": [{"subnet_id": subnet, "ip_address": address}],
        });
        text(&self.make("ports", "port", fields).await["id"])
    }

    /// A Manila share network under its full name.
    pub async fn share_network(&self, name: &str, network: &str, subnet: &str) -> String {
        let fields = json!({"name": name, "neutron_net_id": network, "neutron_subnet_id": subnet});
        let made = self.owner.post(Service::Share, "share-networks", json!({"share_network": fields})).await;
        text(&made["share_network"]["id"])
    }

    /// A load balancer under its full name, ACTIVE.
    pub async fn load_balancer(&self, name: &str, subnet: &str) -> String {
        let id = self.young_load_balancer(name, subnet).await;
        let path = format!("loadbalancers/{id}");
        self.until("the load balancer is ACTIVE", || async {
            let status = self.owner.get(Service::LoadBalancer, &path).await;
            status["loadbalancer"]["provisioning_status"] == "ACTIVE"
        })
        .await;
        id
    }

    /// A load balancer under its full name, as it is when it was just asked for.
    pub async fn young_load_balancer(&self, name: &str, subnet: &str) -> String {
        let fields = json!({"name": name, "vip_subnet_id": subnet});
        let made = self.owner.post(Service::LoadBalancer, "loadbalancers", json!({"loadbalancer": fields})).await;
        text(&made["loadbalancer"]["id"])
    }

    /// Adds routes to a router, as a cloud controller does.
    pub async fn routes(&self, router: &str, routes: &[(&str, &str)]) {
        let routes: Vec<Value> = routes.iter().map(|(to, via)| json!({"destination": to, "nexthop": via})).collect();
        let path = format!("routers/{router}/add_extraroutes");
        self.owner.put(Service::Network, &path, json!({"router": {"routes": routes}})).await;
    }

    /// A resource of Neutron, `None` when it is gone.
    pub async fn look(&self, path: &str) -> Option<Value> {
        let (status, body) = self.owner.send(Service::Network, Method::GET, path, None).await;
        (status == 200).then(|| body.as_object().unwrap().values().next().unwrap().clone())
    }
}
