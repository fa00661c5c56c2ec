//! The server of the admission programs, from the same libraries: with all rules or with none, for a garden in memory.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context;
use async_trait::async_trait;
use fabric_admission::certificates::{Files, Serving};
use fabric_admission::{
    Health, Kind, Limits, Metrics, Operation, Request, Route, Routes, Rule, Server, Service, Shutdown, Verdict,
};
use fabric_apis::decode;
use fabric_validation::openstack::admission::{Defaults, Lookup, Reference, ReferenceKind, Webhook, entries};
use fabric_webhooks::{Fetch, Rules, routes};
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::json_lines;

/// What the garden's program serves.
const WEBHOOKS: [Webhook; 3] = [Webhook::Validate, Webhook::Secrets, Webhook::Mutate];

#[derive(clap::Args)]
pub(crate) struct Args {
    /// Folder with tls.crt and tls.key
    #[arg(long)]
    cert_dir: PathBuf,
    /// The objects around, one a line
    #[arg(long)]
    garden: PathBuf,
    /// Read what is reviewed and allow it
    #[arg(long)]
    empty: bool,
}

struct Garden(HashMap<Reference, Arc<Lookup>>);

#[async_trait]
impl Fetch for Garden {
    async fn fetch(&self, reference: &Reference) -> Arc<Lookup> {
        self.0.get(reference).cloned().unwrap_or_else(|| Lookup::NotFound.into())
    }
}

impl Garden {
    fn read(path: &PathBuf) -> anyhow::Result<Self> {
        let kinds = [
            ReferenceKind::Secret,
            ReferenceKind::SecretBinding,
            ReferenceKind::CredentialsBinding,
            ReferenceKind::CloudProfile,
        ];
        let mut all = HashMap::new();
        for object in json_lines::<Value>(path)? {
            let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
            let kind = kinds.into_iter().find(|kind| kind.kind() == text("/kind"));
            let Some(kind) = kind else { continue };
            all.insert(
                Reference::new(kind, text("/metadata/namespace"), text("/metadata/name")),
                Lookup::Found(object).into(),
            );
        }
        Ok(Self(all))
    }
}

/// The same table without rules: what is reviewed is read, as for any rule, and allowed.
fn nothing() -> anyhow::Result<Routes> {
    let allow = Arc::new(|request: &Request| {
        for object in request.object.iter().chain(&request.old_object) {
            if decode::documents("", object.bytes()).is_err() {
                return Verdict::undecodable("no object");
            }
        }
        Verdict::allowed()
    });
    Ok(Routes::new(WEBHOOKS.iter().map(|&webhook| {
        entries(webhook).fold(Route::new(webhook.path()), |route, entry| {
            let kind = Kind::new(entry.group, entry.version, entry.kind);
            route.with(Rule::new(kind, &[Operation::Create, Operation::Update], allow.clone()))
        })
    }))?)
}

pub(crate) async fn run(args: Args) -> anyhow::Result<()> {
    let rules = Rules { fetch: Arc::new(Garden::read(&args.garden)?), dynamic: None, defaults: Defaults::default() };
    let routes = if args.empty { nothing()? } else { routes(&WEBHOOKS, &Arc::new(rules))? };
    let mut registry = Registry::default();
    let metrics = Metrics::register(&mut registry);
    let serving = Serving::new();
    let files = |name: &str| args.cert_dir.join(name);
    Files::open(files("tls.crt"), files("tls.key"), Arc::clone(&serving), Some(metrics.clone()))
        .context("certificates")?;
    let service = Service::new(routes, Health::new(), Limits::default(), metrics, registry);
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", json!({"webhooks": listener.local_addr()?.to_string()}));
    let server = Server::new(Arc::new(service), serving, Shutdown::default())?;
    server.run(listener, Vec::new(), std::future::pending()).await;
    Ok(())
}
