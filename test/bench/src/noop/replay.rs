//! Sends what the plan says, in its order and with its parallelism, and asks no more of an answer than upstream needs.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use fabric_infrastructure::State;
use fabric_openstack_types::Service;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::Sent;
use super::plan::{Stage, What};
use super::shoot::{POOL, Pattern, Told};

/// A plan for one shoot. All texts are made beforehand: the peer pays for calls and for nothing else.
pub(super) struct Replay {
    http: reqwest::Client,
    auth_url: String,
    region: String,
    login: Value,
    stages: Vec<Vec<Arc<Step>>>,
}

/// A task with its calls, for this shoot.
struct Step {
    stage: &'static str,
    name: &'static str,
    section: &'static str,
    /// Places of other steps of the stage.
    after: Vec<usize>,
    calls: Vec<Request>,
}

enum Request {
    Login,
    Get { service: Service, path: String, finds: String },
    Put { service: Service, path: String, body: &'static str },
}

/// What a login brings.
struct Session {
    token: String,
    endpoints: HashMap<&'static str, String>,
}

impl Replay {
    pub(super) fn new(cloud: &Told, pattern: Pattern, state: &State, plan: &[Stage]) -> anyhow::Result<Self> {
        let tenant = cloud.tenant()?;
        let method = json!({"methods": ["application_credential"],
            "application_credential": {"id": tenant.id, "secret": tenant.secret}});
        let stages = plan.iter().map(|stage| steps(stage, pattern, state)).collect::<anyhow::Result<_>>()?;
        Ok(Self {
            http: reqwest::Client::builder().no_proxy().build()?,
            auth_url: format!("{}/auth/tokens", cloud.auth_url),
            region: cloud.region.clone(),
            login: json!({"auth": {"identity": method}}),
            stages,
        })
    }

    fn requests(&self) -> impl Iterator<Item = &Request> {
        self.stages.iter().flatten().flat_map(|step| &step.calls)
    }

    /// How many requests of the plan change something, or seem to.
    pub(super) fn mutations(&self) -> usize {
        self.requests().filter(|request| matches!(request, Request::Put { .. })).count()
    }

    /// One reconcile: stage after stage, in each every task as soon as those before it are done.
    ///
    /// # Errors
    /// An answer that is no success, or does not contain what was looked for.
    pub(super) async fn run(&self) -> anyhow::Result<Sent> {
        let mut sent = Sent::default();
        for stage in &self.stages {
            let (first, rest) = stage.split_first().context("a stage begins with a login")?;
            ensure!(matches!(first.calls.as_slice(), [Request::Login]), "a stage begins with a login");
            let session = Arc::new(self.log_in().await.context(first.name)?);
            sent.tokens += 1;
            sent.calls += self.graph(rest, &session).await?;
        }
        Ok(sent)
    }

    async fn graph(&self, steps: &[Arc<Step>], session: &Arc<Session>) -> anyhow::Result<u64> {
        let (mut running, mut sent) = (JoinSet::new(), 0);
        // The login has place 0 and is done.
        let (mut begun, mut done) = (vec![false; steps.len()], vec![true]);
        done.resize(steps.len() + 1, false);
        loop {
            let is_done = |place: &usize| done.get(*place).copied().unwrap_or(false);
            for (place, (step, begun)) in steps.iter().zip(&mut begun).enumerate() {
                if !*begun && step.after.iter().all(is_done) {
                    *begun = true;
                    let (http, step, session) = (self.http.clone(), Arc::clone(step), Arc::clone(session));
                    running.spawn(async move {
                        for request in &step.calls {
                            send(&http, &session, request).await.context(step.name)?;
                        }
                        anyhow::Ok((place + 1, step.calls.len() as u64))
                    });
                }
            }
            let Some(ended) = running.join_next().await else { break };
            let (place, calls) = ended??;
            sent += calls;
            if let Some(done) = done.get_mut(place) {
                *done = true;
            }
        }
        ensure!(done.iter().all(|done| *done), "a task never began");
        Ok(sent)
    }

    async fn log_in(&self) -> anyhow::Result<Session> {
        let answer = self.http.post(&self.auth_url).json(&self.login).send().await?.error_for_status()?;
        let token = answer.headers().get("x-subject-token").context("no token")?.to_str()?.to_owned();
        let body: Value = answer.json().await?;
        let mut endpoints = HashMap::new();
        // As upstream, also for Octavia, which is never asked: it would fail without.
        for service in [Service::Network, Service::Compute, Service::LoadBalancer] {
            let url = self.endpoint(&body, service).with_context(|| format!("no endpoint of {}", service.as_str()))?;
            endpoints.insert(service.as_str(), url);
        }
        Ok(Session { token, endpoints })
    }

    fn endpoint(&self, body: &Value, service: Service) -> Option<String> {
        let kind = match service {
            Service::LoadBalancer => "load-balancer",
            Service::Compute => "compute",
            _ => "network",
        };
        let catalog = body.pointer("/token/catalog")?.as_array()?;
        let entry = catalog.iter().find(|entry| entry.get("type").is_some_and(|it| it == kind))?;
        let endpoints = entry.get("endpoints")?.as_array()?;
        let is = |it: &&Value, key: &str, value: &str| it.get(key).is_some_and(|found| found == value);
        let ours = endpoints.iter().find(|it| is(it, "interface", "public") && is(it, "region_id", &self.region))?;
        ours.get("url")?.as_str().map(str::to_owned)
    }
}

async fn send(http: &reqwest::Client, session: &Session, request: &Request) -> anyhow::Result<()> {
    let url = |service: &Service, path: &str| {
        let endpoint = session.endpoints.get(service.as_str()).context("a service without endpoint")?;
        anyhow::Ok(format!("{endpoint}{path}"))
    };
    let (building, finds) = match request {
        Request::Get { service, path, finds } => (http.get(url(service, path)?), finds.as_str()),
        Request::Put { service, path, body } => {
            let building = http.put(url(service, path)?).header("content-type", "application/json");
            (building.body(*body), "")
        }
        Request::Login => bail!("a login inside of a stage"),
    };
    let answer = building.header("x-auth-token", &session.token).send().await?.error_for_status()?;
    let text = answer.text().await?;
    ensure!(text.contains(finds), "{finds} is not in {text}");
    Ok(())
}

fn steps(stage: &Stage, pattern: Pattern, state: &State) -> anyhow::Result<Vec<Arc<Step>>> {
    let mut steps: Vec<Arc<Step>> = Vec::new();
    for task in stage.tasks {
        let place = |name: &&str| steps.iter().position(|step| step.name == *name);
        let after = task.after.iter().map(|name| place(name).with_context(|| format!("no task {name} before")));
        let after = after.collect::<anyhow::Result<_>>()?;
        let calls = task.calls.iter().filter(|call| call.when.holds(pattern)).map(|call| {
            Ok(match call.what {
                What::Login => Request::Login,
                What::Get { service, path, finds } => {
                    Request::Get { service, path: filled(path, state)?, finds: filled(finds, state)? }
                }
                What::Put { service, path, body } => Request::Put { service, path: filled(path, state)?, body },
            })
        });
        let calls = calls.collect::<anyhow::Result<_>>()?;
        steps.push(Arc::new(Step { stage: stage.name, name: task.name, section: task.section, after, calls }));
    }
    Ok(steps)
}

/// A template with the values of the state in it.
fn filled(template: &str, state: &State) -> anyhow::Result<String> {
    let mut text = String::new();
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        let (key, behind) = after.split_once('}').context("a brace stays open")?;
        let value = if key == "Pool" { Some(POOL) } else { state.data().get(key).map(String::as_str) };
        text += before;
        text += value.filter(|value| !value.is_empty()).with_context(|| format!("the state has no {key}"))?;
        rest = behind;
    }
    Ok(text + rest)
}

impl fmt::Display for Replay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.stages.iter().flatten() {
            for request in &step.calls {
                let line = match request {
                    Request::Login => "POST /auth/tokens".to_owned(),
                    Request::Get { path, .. } => format!("GET  {path}"),
                    Request::Put { path, .. } => format!("PUT  {path}"),
                };
                writeln!(f, "    {:6} {:28} {:24} {line}", step.stage, step.name, step.section)?;
            }
        }
        Ok(())
    }
}
