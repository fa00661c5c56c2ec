//! A project of its own for each test, and the users in it.

use std::{
    future::Future,
    sync::{Arc, Mutex},
};

use fabric_openstack_sim::{Cloud, Config, Seed, Service as SimService};
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
    /// The project's name.
    pub project_name: String,
    /// The cloud's administrator.
    pub admin: Raw,
    /// The user who hands things over, and whose other things stand beside.
    pub owner: Raw,
    gardener: Mutex<Person>,
    people: Vec<Person>,
    embedded: Option<Cloud>,
    /// What an administrator made for this test outside the project, to be deleted after it: service and path.
    outside: Mutex<Vec<(Service, String)>>,
}

impl std::ops::Deref for World {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

/// Somebody who logs in.
#[derive(Clone, Debug)]
struct Person {
    id: String,
    name: String,
    password: String,
}

/// Runs a case on the lab, in a project of its own, and takes that away afterwards, also when the case fails.
/// Without a lab it says so.
pub fn on_lab<F>(case: impl FnOnce(World) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let Some(lab) = Lab::of_environment() else {
        println!("SKIPPED: no lab: run `hack/lab up` and `eval \"$(hack/lab env)\"` first");
        return;
    };
    run(async {
        let world = World::on_lab(&lab).await;
        let ended = tokio::spawn(case(world.clone())).await;
        world.take_away().await;
        if let Err(error) = ended {
            std::panic::resume_unwind(error.into_panic());
        }
    });
}

/// Runs a case on an embedded cloud of its own.
pub fn on_embedded<F: Future<Output = ()>>(case: impl FnOnce(World) -> F) {
    run(async { case(World::on_embedded().await).await });
}

fn run(work: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(work);
}

fn new_prefix() -> String {
    format!("t{}", &uuid::Uuid::new_v4().simple().to_string()[..7])
}

impl World {
    async fn on_lab(lab: &Lab) -> Self {
        let facts = lab.facts.clone();
        let admin = Raw::log_in(&facts, &lab.admin).await;
        let prefix = new_prefix();
        let new = json!({"project": {"name": prefix, "domain_id": facts.domain_id}});
        let project = text(&admin.post(Service::Identity, "projects", new).await["project"]["id"]);
        let mut people = Vec::new();
        for who in ["owner", "gardener"] {
            let name = format!("{prefix}-{who}");
            let user = json!({"name": name, "domain_id": facts.domain_id, "password": PASSWORD});
            let made = admin.post(Service::Identity, "users", json!({"user": user})).await;
            let id = text(&made["user"]["id"]);
            grant(&admin, &project, &id, "member").await;
            people.push(Person { id, name, password: PASSWORD.to_owned() });
        }
        Self::of(facts, prefix.clone(), (project, prefix), admin, people, None).await
    }

    async fn on_embedded() -> Self {
        let seed = Seed::default();
        let cloud = Cloud::start(Config { seed: seed.clone(), ..Config::default() }).await.expect("free ports");
        let id = |table: &str, name: &str| cloud.id(table, name).expect(name);
        let (network, balancer) = (cloud.base_url(SimService::Network), cloud.base_url(SimService::LoadBalancer));
        let facts = Facts {
            auth_url: cloud.auth_url(),
            region: cloud.region(),
            network,
            compute: format!("{}/v2.1", cloud.base_url(SimService::Compute)),
            share: format!("{}/v2", cloud.base_url(SimService::SharedFileSystem)),
            load_balancer: balancer,
            hold_file: String::new(),
            domain: "demo".to_owned(),
            domain_id: id("domains", "demo"),
            external_network: "public".to_owned(),
            external_network_id: id("networks", "public"),
        };
        let root = json!({"name": "admin", "domain": {"id": "default"}, "password": seed.admin_password});
        let admin = log_in(&root, &json!({"name": "admin", "domain": {"id": "default"}}));
        let admin = Raw::log_in(&facts, &admin).await;
        let person =
            |name: &str| Person { id: id("users", name), name: name.to_owned(), password: seed.user_password.clone() };
        // Each cloud is fresh: its one project is this test's.
        let people = vec![person("netadmin"), person("demo")];
        let project = (id("projects", "demo"), "demo".to_owned());
        Self::of(facts, new_prefix(), project, admin, people, Some(cloud)).await
    }

    async fn of(
        facts: Facts,
        prefix: String,
        (project, project_name): (String, String),
        admin: Raw,
        people: Vec<Person>,
        embedded: Option<Cloud>,
    ) -> Self {
        let owner = Raw::log_in(&facts, &password(&people[0], &project)).await;
        let gardener = Mutex::new(people[1].clone());
        Self(Arc::new(Inner {
            facts,
            prefix,
            project,
            project_name,
            admin,
            owner,
            gardener,
            people,
            outside: Mutex::default(),
            embedded,
        }))
    }

    fn shoots_user(&self) -> Person {
        self.gardener.lock().unwrap().clone()
    }

    /// Lets the shoot's user set SNAT and external addresses, as the role `netadmin` may.
    pub async fn empower(&self) {
        match &self.embedded {
            None => grant(&self.admin, &self.project, &self.shoots_user().id, "netadmin").await,
            Some(_) => *self.gardener.lock().unwrap() = self.people[0].clone(),
        }
    }

    /// What the shoot's user logs in with.
    pub fn credentials(&self) -> Credentials {
        let user = self.shoots_user();
        Credentials {
            auth_url: self.facts.auth_url.clone(),
            method: AuthMethod::Password {
                user: UserRef::Name { name: user.name, domain: DomainRef::Id(self.facts.domain_id.clone()) },
                password: user.password.into(),
                scope: Scope::ProjectId(self.project.clone()),
            },
            region: Some(self.facts.region.clone()),
            interface: Interface::Public,
            ca_cert: None,
            insecure: false,
            endpoint_overrides: std::collections::BTreeMap::new(),
        }
    }

    /// The same as entries of Gardener's secret `cloudprovider`.
    pub fn secret(&self) -> Value {
        let user = self.shoots_user();
        json!({"domainName": self.facts.domain, "tenantName": self.project_name,
               "username": user.name, "password": user.password})
    }

    /// The same user, by an application credential of this name.
    pub async fn application_credential(&self, name: &str) -> Credentials {
        let (user, secret) = (self.shoots_user(), "only-for-this-test-as-well".to_owned());
        let new = json!({"name": name, "secret": secret, "roles": [{"name": "member"}]});
        let path = format!("users/{}/application_credentials", user.id);
        self.gardener().await.post(Service::Identity, &path, json!({"application_credential": new})).await;
        let user = UserRef::Name { name: user.name, domain: DomainRef::Id(self.facts.domain_id.clone()) };
        let method = AuthMethod::AppCredentialName { name: name.to_owned(), user, secret: secret.into() };
        Credentials { method, ..self.credentials() }
    }

    /// The shoot's user, by raw HTTP: to change things behind our back, and to look at its key pairs.
    pub async fn gardener(&self) -> Raw {
        Raw::log_in(&self.facts, &password(&self.shoots_user(), &self.project)).await
    }

    /// Where the case runs, as a word.
    pub fn place(&self) -> &'static str {
        if self.is_embedded() { "sequences_embedded" } else { "sequences_real" }
    }

    /// Whether the cloud is the embedded one.
    pub fn is_embedded(&self) -> bool {
        self.embedded.is_some()
    }

    /// The embedded cloud, for faults; `None` on the lab.
    pub fn embedded(&self) -> Option<&Cloud> {
        self.embedded.as_ref()
    }

    /// What is made is ready at once, and no call is remembered from before: for very many runs.
    pub fn hurry(&self) {
        if let Some(cloud) = &self.embedded {
            cloud.set_delay(std::time::Duration::from_millis(1));
            cloud.calls().clear();
        }
    }

    /// Stops the data plane, of the whole lab, until the result is dropped.
    pub fn hold(&self) -> Hold {
        self.hold_data_plane(true);
        Hold(self.clone())
    }

    fn hold_data_plane(&self, on: bool) {
        match &self.embedded {
            Some(cloud) => cloud.hold(on),
            None if on => std::fs::write(&self.facts.hold_file, "").unwrap(),
            None => std::fs::remove_file(&self.facts.hold_file).unwrap(),
        }
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
        for person in &self.people {
            self.admin.delete(Service::Identity, &format!("users/{}", person.id)).await;
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

fn password(person: &Person, project: &str) -> Value {
    log_in(&json!({"id": person.id, "password": person.password}), &json!({"id": project}))
}

async fn grant(admin: &Raw, project: &str, user: &str, role: &str) {
    let roles = admin.list(Service::Identity, &format!("roles?name={role}"), "roles").await;
    let path = format!("projects/{project}/users/{user}/roles/{}", text(&roles[0]["id"]));
    admin.call(Service::Identity, reqwest::Method::PUT, &path, None).await;
}

/// While this lives, no status moves.
#[derive(Debug)]
pub struct Hold(World);

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.hold_data_plane(false);
    }
}
