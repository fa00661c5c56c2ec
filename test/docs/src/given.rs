//! What a user could hand over, made in the embedded cloud: the same things as `hack/lab given` makes in the lab.

use std::collections::BTreeMap;

use fabric_openstack_sim::{Cloud, Service, User};
use serde_json::{Value, json};

/// What the placeholders of examples stand for.
pub type Values = BTreeMap<&'static str, String>;

const NODES: &str = "10.250.0.0/19";
const NODES_V6: &str = "fd00:250::/64";

/// Made-up values, for what needs no cloud.
pub(crate) fn made_up() -> Values {
    let id = |number: u32| format!("00000000-0000-4000-8000-{number:012}");
    let mut values = identity("http://127.0.0.1:5000/v3", "RegionOne");
    for (number, name) in (1..).zip([
        "NETWORK_ID",
        "SUBNET_ID",
        "SUBNET_V6_ID",
        "ROUTER_ID",
        "SECURITY_GROUP_ID",
        "SHARE_NETWORK_ID",
        "SUBNET_POOL_ID",
        "SUBNET_POOL_V6_ID",
    ]) {
        values.insert(name, id(number));
    }
    values
}

/// What is the same for every fresh cloud.
fn identity(auth_url: &str, region: &str) -> Values {
    [
        ("AUTH_URL", auth_url),
        ("REGION", region),
        ("DOMAIN", "demo"),
        ("PROJECT", "demo"),
        ("USERNAME", "demo"),
        ("PASSWORD", "demo"),
        ("APPLICATION_CREDENTIAL_ID", "0123456789abcdef0123456789abcdef"),
        ("APPLICATION_CREDENTIAL_NAME", "ci"),
        ("APPLICATION_CREDENTIAL_SECRET", "ci-secret"),
        ("FLOATING_POOL", "public"),
        ("FLOATING_SUBNET", "public-v4"),
        ("NODES_CIDR", NODES),
        ("NODES_CIDR_V6", NODES_V6),
    ]
    .map(|(name, value)| (name, value.to_owned()))
    .into()
}

/// Makes everything, and tells what it is called.
pub(crate) fn make(cloud: &Cloud) -> Values {
    let user = cloud.user("demo").expect("the user demo");
    let id = |table: &str, name: &str| cloud.id(table, name).expect("a thing of the seed");
    let network = create(&user, "network", json!({"name": "given-network"}));
    let subnet = |name: &str, more: Value| {
        let mut body = json!({"name": name, "network_id": network});
        body.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        create(&user, "subnet", body)
    };
    let v4 = subnet("given-nodes", json!({"ip_version": 4, "cidr": NODES, "dns_nameservers": ["1.1.1.1"]}));
    let slaac = json!({"ip_version": 6, "cidr": NODES_V6, "ipv6_ra_mode": "slaac", "ipv6_address_mode": "slaac"});
    let v6 = subnet("given-nodes-v6", slaac);
    let gateway = json!({"network_id": id("networks", "public")});
    let router = create(&user, "router", json!({"name": "given-router", "external_gateway_info": gateway}));
    for subnet in [&v4, &v6] {
        let path = format!("/v2.0/routers/{router}/add_router_interface");
        let answer = user.put(Service::Network, &path, json!({"subnet_id": subnet}));
        assert_eq!(answer.status, 200, "{}", answer.body);
    }
    let group = create(&user, "security_group", json!({"name": "given-nodes"}));
    rules(&user, &group);
    let shares = json!({"name": "given-shares", "neutron_net_id": network, "neutron_subnet_id": v4});
    let shares = user.post(Service::SharedFileSystem, "/v2/share-networks", json!({"share_network": shares}));
    let mut values = identity(&cloud.auth_url(), &cloud.region());
    values.extend([
        ("NETWORK_ID", network.clone()),
        ("SUBNET_ID", v4),
        ("SUBNET_V6_ID", v6),
        ("ROUTER_ID", router),
        ("SECURITY_GROUP_ID", group),
        ("SHARE_NETWORK_ID", shares.text("/share_network/id")),
        ("SUBNET_POOL_ID", id("subnetpools", "shared-v4")),
        ("SUBNET_POOL_V6_ID", id("subnetpools", "shared-v6")),
        ("APPLICATION_CREDENTIAL_ID", id("application_credentials", "ci")),
    ]);
    values
}

fn create(user: &User<'_>, kind: &str, body: Value) -> String {
    let path = format!("/v2.0/{}s", kind.replace('_', "-"));
    let answer = user.post(Service::Network, &path, json!({kind: body}));
    assert_eq!(answer.status, 201, "{kind}: {}", answer.body);
    answer.text(&format!("/{kind}/id"))
}

/// The least that nodes need; a fresh group allows all egress by itself.
fn rules(user: &User<'_>, group: &str) {
    let mut rules = Vec::new();
    for family in ["IPv4", "IPv6"] {
        let ingress = json!({"security_group_id": group, "direction": "ingress", "ethertype": family});
        let with = |more: Value| {
            let mut rule = ingress.clone();
            rule.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
            rule
        };
        rules.push(with(json!({"remote_group_id": group})));
        rules.extend(
            ["tcp", "udp"]
                .map(|protocol| with(json!({"protocol": protocol, "port_range_min": 30000, "port_range_max": 32767}))),
        );
    }
    let answer = user.post(Service::Network, "/v2.0/security-group-rules", json!({"security_group_rules": rules}));
    assert_eq!(answer.status, 201, "{}", answer.body);
}

/// A file with its placeholders filled in.
pub(crate) fn render(text: &str, values: &Values) -> String {
    let mut text = text.to_owned();
    for (name, value) in values {
        text = text.replace(&format!("${{{name}}}"), value);
    }
    if let Some(at) = text.find("${") {
        panic!("no value for {}", text[at..].lines().next().unwrap_or_default());
    }
    text
}
