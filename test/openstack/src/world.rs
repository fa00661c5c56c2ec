//! A project of its own for each test, and the users in it.

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use fabric_openstack_types::credentials::{AuthMethod, Credentials, DomainRef, Interface, Scope, UserRef};
use futures::future::join_all;
use serde_json::{Value, json};

use crate::{
    lab::{Facts, Lab, log_in},
    raw::{Raw, Service, text},
};

const PASSWORD: &str = "only-for-this-test";

/// One test's project.
#[derive(Clone, Debug)]
pub struct World(Arc<Inner>);

/// What a world holds.
#[derive(Debug)]
pub struct Inner {
    /// Where the cloud is.
    pub facts: Facts,
    /// A word of this test alone, in every name.
    pub prefix: String,
    /// The project.
    pub project: String,
    /// The cloud's administrator.
    pub admin: Raw,
    /// The user who hands things over, and whose other things stand beside.
    pub owner: Raw,
    gardener: (String, String),
    users: Vec<String>,
    /// What an administrator made for this test outside the project, to be deleted after it: service and path.
    outside: Mutex<Vec<(Service, String)>>,
}

impl std::ops::Deref for World {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// Runs a test in a world of its own, and takes the world away afterwards, also when the test fails.
pub fn case<F>(name: &str, body: impl FnOnce(World) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    case_with(name, &["member"], body);
}

/// The same, with more roles for the shoot's user.
pub fn case_with<F>(name: &str, roles: &[&str], body: impl FnOnce(World) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(lab) = Lab::of_environment() else {
        eprintln!("SKIPPED {name}: no cloud; bring the lab up and name it: eval \"$(hack/lab env)\"");
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async {
        let world = World::new(&lab, roles).await;
        let ended = tokio::spawn(body(world.clone())).await;
        world.take_away().await;
        if let Err(error) = ended {
            std::panic::resume_unwind(error.into_panic());
        }
    });
}

impl World {
    async fn new(lab: &Lab, roles: &[&str]) -> Self {
        let facts = lab.facts.clone();
        let admin = Raw::log_in(&facts, &lab.admin).await;
        let prefix = format!("t{}", &uuid::Uuid::new_v4().simple().to_string()[..7]);
        let known = admin.list(Service::Identity, "roles", "roles").await;
        let role = |name: &str| text(&known.iter().find(|role| role["name"] == name).expect("role")["id"]);
        let new = json!({"project": {"name": prefix, "domain_id": facts.domain_id}});
        let project = text(&admin.post(Service::Identity, "projects", new).await["project"]["id"]);
        let mut users = Vec::new();
        for (who, roles) in [("owner", &["member"][..]), ("gardener", roles)] {
            let user = json!({"user": {
                "name": format!("{prefix}-{who}"), "domain_id": facts.domain_id, "password": PASSWORD,
            }});
            let id = text(&admin.post(Service::Identity, "users", user).await["user"]["id"]);
            for name in roles {
                let grant = format!("projects/{project}/users/{id}/roles/{}", role(name));
                admin.call(Service::Identity, reqwest::Method::PUT, &grant, None).await;
            }
            users.push(id);
        }
        let owner = Raw::log_in(&facts, &password(&users[0], &project)).await;
        let gardener = (format!("{prefix}-gardener"), users[1].clone());
        Self(Arc::new(Inner { facts, prefix, project, admin, owner, gardener, users, outside: Mutex::default() }))
    }

    /// What the shoot's user logs in with.
    pub fn credentials(&self) -> Credentials {
        Credentials {
            auth_url: self.facts.auth_url.clone(),
            method: AuthMethod::Password {
                user: UserRef::Name {
                    name: self.gardener.0.clone(),
                    domain: DomainRef::Id(self.facts.domain_id.clone()),
                },
                password: PASSWORD.to_owned().into(),
                scope: Scope::ProjectId(self.project.clone()),
            },
            region: Some(self.facts.region.clone()),
            interface: Interface::Public,
            ca_cert: None,
            insecure: false,
            endpoint_overrides: std::collections::BTreeMap::new(),
        }
    }

    /// The shoot's user, by raw HTTP: to change things behind our back, and to look at its key pairs.
    pub async fn gardener(&self) -> Raw {
        Raw::log_in(&self.facts, &password(&self.gardener.1, &self.project)).await
    }

    /// A name that nobody else has.
    pub fn name(&self, name: &str) -> String {
        format!("{}-{name}", self.prefix)
    }

    /// Has the administrator make something outside the project; it is deleted after the test. Returns its id.
    pub async fn outside(&self, service: Service, path: &str, key: &str, fields: Value) -> String {
        let made = self.admin.post(service, path, json!({key: fields})).await;
        let id = text(&made[key]["id"]);
        self.outside.lock().unwrap().push((service, format!("{path}/{id}")));
        id
    }

    /// Deletes all that lies in the project, then the project and its users.
    async fn take_away(&self) {
        for round in 0..4 {
            if self.empty_project(round == 3).await {
                break;
            }
        }
        for name in self.names("os-keypairs", Service::Compute, "keypairs").await {
            self.owner.delete(Service::Compute, &format!("os-keypairs/{name}")).await;
        }
        let outside = std::mem::take(&mut *self.outside.lock().unwrap());
        for (service, path) in outside.into_iter().rev() {
            self.admin.delete(service, &path).await;
        }
        for user in &self.users {
            self.admin.delete(Service::Identity, &format!("users/{user}")).await;
        }
        self.admin.delete(Service::Identity, &format!("projects/{}", self.project)).await;
    }

    async fn names(&self, path: &str, service: Service, key: &str) -> Vec<String> {
        let found = self.owner.list(service, path, key).await;
        found.iter().map(|entry| text(&entry["keypair"]["name"])).collect()
    }

    async fn all(&self, service: Service, path: &str, key: &str) -> Vec<Value> {
        let mine =
            if service == Service::Network { format!("{path}?project_id={}", self.project) } else { path.into() };
        self.owner.list(service, &mine, key).await
    }

    /// One try; whether everything went.
    async fn empty_project(&self, last: bool) -> bool {
        let me = &self.owner;
        for balancer in self.all(Service::LoadBalancer, "loadbalancers", "loadbalancers").await {
            let path = format!("loadbalancers/{}?cascade=true", text(&balancer["id"]));
            me.delete(Service::LoadBalancer, &path).await;
        }
        self.settle_balancers().await;
        let shares = self.all(Service::Share, "share-networks", "share_networks").await;
        join_all(shares.iter().map(|it| {
            let path = format!("share-networks/{}", text(&it["id"]));
            async move { me.delete(Service::Share, &path).await }
        }))
        .await;
        let mut clean = true;
        for router in self.all(Service::Network, "routers", "routers").await {
            clean &= self.delete_router(&router).await < 300;
        }
        for (path, key) in [
            ("floatingips", "floatingips"),
            ("ports", "ports"),
            ("networks", "networks"),
            ("subnetpools", "subnetpools"),
        ] {
            let found = self.all(Service::Network, path, key).await;
            for it in found.iter().filter(|it| it["project_id"] == self.project.as_str()) {
                clean &= me.delete(Service::Network, &format!("{path}/{}", text(&it["id"]))).await != 409;
            }
        }
        let groups = self.all(Service::Network, "security-groups", "security_groups").await;
        for group in groups.iter().filter(|group| group["name"] != "default") {
            clean &= me.delete(Service::Network, &format!("security-groups/{}", text(&group["id"]))).await != 409;
        }
        for group in groups.iter().filter(|group| group["name"] == "default") {
            // Only an administrator may, and Neutron makes it anew at the next look.
            self.admin.delete(Service::Network, &format!("security-groups/{}", text(&group["id"]))).await;
        }
        assert!(clean || !last, "project {} of this test cannot be emptied", self.project);
        clean
    }

    async fn settle_balancers(&self) {
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
        while !self.all(Service::LoadBalancer, "loadbalancers", "loadbalancers").await.is_empty() {
            assert!(tokio::time::Instant::now() < deadline, "load balancers do not go");
            tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        }
    }

    async fn delete_router(&self, router: &Value) -> u16 {
        let (me, id) = (&self.owner, text(&router["id"]));
        if router["routes"].as_array().is_some_and(|routes| !routes.is_empty()) {
            me.put(Service::Network, &format!("routers/{id}"), json!({"router": {"routes": []}})).await;
        }
        let ports = me.list(Service::Network, &format!("ports?device_id={id}"), "ports").await;
        for port in ports.iter().filter(|port| port["device_owner"] != "network:router_gateway") {
            let body = json!({"port_id": port["id"]});
            let path = format!("routers/{id}/remove_router_interface");
            me.send(Service::Network, reqwest::Method::PUT, &path, Some(&body)).await;
        }
        me.delete(Service::Network, &format!("routers/{id}")).await
    }
}

fn password(user: &str, project: &str) -> Value {
    log_in(&json!({"id": user, "password": PASSWORD}), &json!({"id": project}))
}
