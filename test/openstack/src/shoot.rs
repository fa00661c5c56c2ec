//! A shoot whose infrastructure is reconciled, each run as a process of its own would do it.

use std::time::Duration;

use fabric_apis::openstack::v1alpha1::{CloudProfileConfig, InfrastructureConfig};
use fabric_flow::Options;
use fabric_infrastructure::{
    Failure, Input, Reconciled, State, StateStore, Timing, apply_delete,
    observe::{Purpose, observe},
    plan::{Item, Verb},
    plan_delete, prepare, reconcile,
    validate::validate,
};
use fabric_openstack::{Client, Metrics};
use fabric_openstack_types::credentials::Credentials;
use prometheus_client::{encoding::text::encode, registry::Registry};
use serde_json::{Value, json};

use crate::{stores::Saves, world::World};

/// An SSH key of nobody.
pub const SSH_KEY: &str =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPm5ZVdrPwSZaS6PhXaZ0JoTE4sh1p0JZTyZP7vQXKmB nobody@example.org";

/// What went over the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Requests to services.
    pub all: u64,
    /// Those that are no `GET`.
    pub changing: u64,
    /// Tokens asked for.
    pub tokens: u64,
}

/// A run and what it cost.
pub struct Run<T> {
    /// What came of it.
    pub result: T,
    /// What went over the wire.
    pub calls: Calls,
    /// How often the state was saved.
    pub saves: usize,
}

/// A shoot, with the state that its runs leave.
pub struct Shoot {
    /// What is asked for.
    pub input: Input,
    /// The state that the last run saved.
    pub state: State,
    /// What it logs in with.
    pub credentials: Credentials,
    /// How long things may take.
    pub timing: Timing,
}

impl World {
    /// A shoot called `name` with these `networks`.
    pub fn shoot(&self, name: &str, networks: Value) -> Shoot {
        let config = json!({
            "apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureConfig",
            "floatingPoolName": self.facts.external_network, "networks": networks,
        });
        let config: InfrastructureConfig = serde_json::from_value(config).unwrap();
        let shoot = fabric_infrastructure::Shoot {
            technical_id: format!("shoot--{}--{name}", self.prefix),
            uid: uuid::Uuid::new_v4().to_string(),
            region: Some(self.facts.region.clone()),
            nodes: Some("10.250.0.0/16".to_owned()),
            pods: Some("100.96.0.0/11".to_owned()),
            services: Some("100.64.0.0/13".to_owned()),
            ssh_public_key: Some(SSH_KEY.to_owned()),
            ..fabric_infrastructure::Shoot::default()
        };
        Shoot {
            input: Input::bare(config, shoot),
            state: State::default(),
            credentials: self.credentials(),
            timing: Timing {
                poll: Duration::from_millis(if self.is_embedded() { 2 } else { 200 }),
                ..Timing::default()
            },
        }
    }
}

impl Shoot {
    /// Its technical ID.
    pub fn id(&self) -> &str {
        &self.input.shoot.technical_id
    }

    /// Sets the cloud profile.
    pub fn profile(&mut self, profile: Value) {
        self.input.profile = Some(serde_json::from_value::<CloudProfileConfig>(profile).unwrap());
    }

    /// A client as a process makes one, and the registry that counts its calls.
    pub async fn client(&self) -> (Client, Registry) {
        let mut registry = Registry::default();
        let options =
            fabric_openstack::Options { metrics: Some(Metrics::register(&mut registry)), ..Default::default() };
        (Client::connect(self.credentials.clone(), options).await.unwrap(), registry)
    }

    /// Reconciles, and keeps the state that was saved.
    pub async fn apply(&mut self) -> Run<Result<Reconciled, Failure>> {
        self.apply_into(&Saves::default()).await
    }

    /// Reconciles into this store.
    pub async fn apply_into(&mut self, store: &Saves) -> Run<Result<Reconciled, Failure>> {
        let (client, registry) = self.client().await;
        let state = self.state.clone();
        let result = reconcile(&client, &self.input, state, store, self.timing, Options::default()).await;
        self.state = store.last().unwrap_or_else(|| self.state.clone());
        Run { result, calls: calls(&client, &registry), saves: store.count() }
    }

    /// Reconciles; must succeed.
    #[track_caller]
    pub fn applied(&mut self) -> impl Future<Output = Run<Reconciled>> {
        let place = std::panic::Location::caller();
        async move {
            let Run { result, calls, saves } = self.apply().await;
            Run { result: result.unwrap_or_else(|error| panic!("{place}: {error}")), calls, saves }
        }
    }

    /// Reconciles against any store, for runs that are cut.
    pub async fn apply_against(&self, store: &dyn StateStore, options: Options) -> Result<Reconciled, Failure> {
        let (client, _) = self.client().await;
        reconcile(&client, &self.input, self.state.clone(), store, self.timing, options).await
    }

    /// Deletes, and keeps the state that was saved.
    pub async fn delete(&mut self) -> Run<Result<State, String>> {
        let (client, registry) = self.client().await;
        let store = Saves::default();
        let result = self.delete_with(&client, &store).await;
        self.state = store.last().unwrap_or_else(|| self.state.clone());
        Run { result, calls: calls(&client, &registry), saves: store.count() }
    }

    /// Deletes against any store, for runs that are cut.
    pub async fn delete_against(&self, store: &dyn StateStore) -> Result<State, String> {
        let (client, _) = self.client().await;
        self.delete_with(&client, store).await
    }

    async fn delete_with(&self, client: &Client, store: &dyn StateStore) -> Result<State, String> {
        let (target, _) = validate(&self.input).map_err(|findings| findings.errors.to_string())?;
        let seen = observe(client, &target, &self.state, Purpose::Delete).await;
        let plan = plan_delete(&target, &seen, &self.state).map_err(|errors| format!("{errors:?}"))?;
        let deleted =
            apply_delete(plan, &target, client, self.state.clone(), store, self.timing, Options::default()).await;
        deleted.map_err(|error| error.to_string())
    }

    /// Deletes; must succeed, and a second deletion must find nothing.
    pub async fn deleted(&mut self) {
        self.delete().await.result.unwrap_or_else(|error| panic!("delete: {error}"));
        assert!(self.state.is_empty(), "nothing is remembered: {:?}", self.state);
        let again = self.delete().await;
        assert!(again.result.is_ok(), "second deletion: {:?}", again.result);
        assert_eq!(again.calls.changing, 0, "the second deletion has nothing to do");
    }

    /// What would be done, as lines.
    pub async fn plan(&self) -> Result<Vec<Item>, Failure> {
        let (client, _) = self.client().await;
        let (target, plan) = prepare(&client, &self.input, &self.state).await?.ready()?;
        Ok(plan.items(&target))
    }

    /// A second run right after one must cost nothing: no change, one token, twelve calls.
    pub async fn assert_settled(&mut self, when: &str) {
        let before = self.state.clone();
        let run = self.applied().await;
        assert_eq!(run.calls.changing, 0, "{when}: a settled infrastructure is not written");
        assert!(run.calls.tokens <= 1 && run.calls.all <= 12, "{when}: {:?}", run.calls);
        assert_eq!(self.state, before, "{when}: the state stays");
    }
}

/// The lines that are not "as it should be".
pub fn unsettled(items: &[Item]) -> Vec<String> {
    let open = items.iter().filter(|item| !matches!(item.verb, Verb::Use | Verb::Keep | Verb::Report));
    open.map(|item| {
        let attributes: Vec<&str> = item.changes.iter().map(|change| change.attribute.as_str()).collect();
        format!("{:?} {} {} [{}]", item.verb, item.kind, item.name, attributes.join(",")).to_lowercase()
    })
    .collect()
}

fn calls(client: &Client, registry: &Registry) -> Calls {
    let mut text = String::new();
    encode(&mut text, registry).unwrap();
    let counted = text.lines().filter(|line| line.starts_with("openstack_request_duration_seconds_count"));
    let changing = counted.filter(|line| !line.contains("method=\"GET\"") && !line.contains("service=\"identity\""));
    let changing = changing.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    let stats = client.stats();
    Calls { all: stats.calls, changing, tokens: stats.tokens }
}
