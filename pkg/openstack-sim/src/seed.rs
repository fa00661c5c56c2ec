//! What a fresh cloud has in it: the same people, networks and pools as the lab with the real services.

use serde_json::json;

use crate::Service;
use crate::json::set;
use crate::keystone::{app_credentials, directory};
use crate::neutron::{networks, pools, security_groups, subnets};
use crate::state::{State, Who, table};

/// The secrets of a fresh cloud. They protect nothing: the cloud listens on loopback and is thrown away.
#[derive(Clone)]
pub struct Seed {
    /// Of the user `admin` in the domain `Default`.
    pub admin_password: String,
    /// Of the users `demo`, `demo-reader`, `netadmin` and `other` in the domain `demo`.
    pub user_password: String,
    /// Of the application credential `ci` of the user `demo`.
    pub application_credential_secret: String,
}

impl Default for Seed {
    fn default() -> Self {
        Self {
            admin_password: "admin".to_owned(),
            user_password: "demo".to_owned(),
            application_credential_secret: "ci-secret".to_owned(),
        }
    }
}

impl std::fmt::Debug for Seed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seed(hidden)")
    }
}

/// Fills an empty cloud.
pub(crate) fn fill(st: &mut State, seed: &Seed) {
    for role in ["reader", "member", "manager", "admin", "netadmin", "service"] {
        let id = st.rng.hex();
        st.put(table::ROLES, json!({"id": id, "name": role}));
    }
    st.put(table::DOMAINS, json!({"id": "default", "name": "Default", "enabled": true}));
    let domain = st.rng.hex();
    st.put(table::DOMAINS, json!({"id": domain, "name": "demo", "enabled": true}));
    catalog(st);
    let admin_project = directory::add_project(st, "admin", "default");
    let service_project = directory::add_project(st, "service", "default");
    let demo = directory::add_project(st, "demo", &domain);
    let other = directory::add_project(st, "other", &domain);
    let everything = ["manager", "member", "reader", "admin"];
    let admin = user(st, "admin", "default", &seed.admin_password);
    grant(st, &admin_project, &admin, &everything);
    grant(st, "system", &admin, &everything);
    for name in ["neutron", "nova", "manila", "octavia"] {
        let id = user(st, name, "default", &seed.admin_password);
        grant(st, &service_project, &id, &["manager", "member", "reader", "admin", "service"]);
    }
    for project in [&admin_project, &demo, &other] {
        security_groups::ensure_default(st, project);
    }
    let mut demo_user = String::new();
    for (name, project, roles) in [
        ("demo", &demo, ["reader", "member"].as_slice()),
        ("other", &other, &["reader", "member"]),
        ("demo-reader", &demo, &["reader"]),
        ("netadmin", &demo, &["reader", "member", "netadmin"]),
    ] {
        let id = user(st, name, &domain, &seed.user_password);
        grant(st, project, &id, roles);
        if name == "demo" {
            demo_user = id;
        }
    }
    let who =
        Who { user: demo_user, project: demo, roles: vec!["reader".to_owned(), "member".to_owned()], ..Who::default() };
    let wanted = json!({"name": "ci", "description": "for programs", "roles": [{"name": "member"}]});
    app_credentials::add(st, &who, &wanted, &seed.application_credential_secret);
    networking(st, &admin_project);
}

fn catalog(st: &mut State) {
    for service in Service::ALL {
        let mut doc = json!({"id": st.rng.hex(), "type": service.catalog_type(), "name": service.catalog_name()});
        for interface in ["_public", "_internal", "_admin"] {
            let id = st.rng.hex();
            set(&mut doc, interface, id);
        }
        st.put(table::CATALOG, doc);
    }
}

fn user(st: &mut State, name: &str, domain: &str, password: &str) -> String {
    let id = st.rng.hex();
    st.put(
        table::USERS,
        json!({"id": id, "name": name, "domain_id": domain, "enabled": true, "options": {}, "_password": password}),
    );
    id
}

fn grant(st: &mut State, place: &str, user: &str, roles: &[&str]) {
    let doc = json!({"id": format!("{place}/{user}"), "user": user, "project": place, "roles": roles});
    st.put(table::GRANTS, doc);
}

/// The external network with two IPv4 subnets and one of IPv6, and a shared default pool of each family.
fn networking(st: &mut State, project: &str) {
    let who =
        Who { project: project.to_owned(), roles: vec!["admin".to_owned(), "member".to_owned()], ..Who::default() };
    let network = json!({
        "name": "public", "router:external": true, "provider:network_type": "flat",
        "provider:physical_network": "public",
    });
    let public = networks::seed(st, &who, &network);
    for (name, version, cidr, gateway) in [
        ("public-v4", 4, "172.24.4.0/24", "172.24.4.1"),
        ("public-v4-b", 4, "172.24.5.0/24", "172.24.5.1"),
        ("public-v6", 6, "2001:db8::/64", "2001:db8::1"),
    ] {
        let subnet = json!({
            "name": name, "network_id": public, "ip_version": version, "cidr": cidr, "gateway_ip": gateway,
            "enable_dhcp": false,
        });
        subnets::seed(st, &who, &subnet);
    }
    for (name, cidr, length) in [("shared-v4", "10.160.0.0/12", 24), ("shared-v6", "2001:db8:a000::/44", 64)] {
        let pool = json!({
            "name": name, "prefixes": [cidr], "default_prefixlen": length, "shared": true, "is_default": true,
        });
        pools::seed(st, &who, &pool);
    }
}
