//! Reading the objects that rules ask for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use fabric_runtime::cluster::chain;
use fabric_validation::openstack::admission::{Lookup, Reference, ReferenceKind, Resolved};
use futures::future::join_all;
use kube::Client;
use serde_json::Value;

/// So long a profile or a binding is believed. Long enough for the many shoots of one delivery, too short for an
/// operator to notice; what a binding leads to never changes. Secrets are read each time: nobody's credentials stay in
/// memory for later.
const FRESH: Duration = Duration::from_secs(2);
/// No chain of references is longer (binding, secret, and one to spare).
const ROUNDS: usize = 4;

/// Finds objects by reference.
#[async_trait]
pub trait Fetch: Send + Sync + 'static {
    /// The object, or why there is none. Never a value of a secret in the reason.
    async fn fetch(&self, reference: &Reference) -> Arc<Lookup>;
}

/// Fetches what `wanted` asks for until it asks for nothing more, each round at once, all rounds until `deadline`.
pub(crate) async fn resolve(
    fetch: &dyn Fetch,
    deadline: Instant,
    resolved: &mut Resolved,
    wanted: impl Fn(&Resolved) -> Vec<Reference>,
) {
    for _ in 0..ROUNDS {
        let references = wanted(resolved);
        if references.is_empty() {
            return;
        }
        let lookups = join_all(references.into_iter().map(|reference| async move {
            let lookup = tokio::time::timeout_at(deadline.into(), fetch.fetch(&reference)).await;
            let late = || Lookup::Unreadable("the API server did not answer in time; try again".into()).into();
            let lookup = lookup.unwrap_or_else(|_elapsed| late());
            (reference, lookup)
        }));
        for (reference, lookup) in lookups.await {
            resolved.insert(reference, lookup);
        }
    }
}

/// Fetches from a cluster, with this program's own rights.
pub struct ClusterFetch {
    client: Client,
    kept: Mutex<HashMap<Reference, (Instant, Arc<Lookup>)>>,
}

impl ClusterFetch {
    /// From this cluster.
    pub fn new(client: Client) -> Self {
        Self { client, kept: Mutex::default() }
    }

    fn known(&self, reference: &Reference) -> Option<Arc<Lookup>> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|_, (since, _)| since.elapsed() < FRESH);
        kept.get(reference).map(|(_, found)| Arc::clone(found))
    }

    fn remember(&self, reference: &Reference, found: &Arc<Lookup>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(reference.clone(), (Instant::now(), Arc::clone(found)));
    }
}

#[async_trait]
impl Fetch for ClusterFetch {
    async fn fetch(&self, reference: &Reference) -> Arc<Lookup> {
        let keep =
            !matches!(reference.kind, ReferenceKind::Secret | ReferenceKind::InternalSecret | ReferenceKind::Cluster);
        if keep && let Some(found) = self.known(reference) {
            return found;
        }
        let lookup = Arc::new(self.ask(reference).await);
        if keep && matches!(*lookup, Lookup::Found(_)) {
            self.remember(reference, &lookup);
        }
        lookup
    }
}

impl ClusterFetch {
    async fn ask(&self, reference: &Reference) -> Lookup {
        let Some(path) = path(reference) else {
            // No object can have such a name, and a URL must not be made of it.
            return Lookup::NotFound;
        };
        // From the API server's memory, which spares it a quorum of etcd; only what is not there yet is asked for again.
        match self.get(format!("{path}?resourceVersion=0")).await {
            Lookup::NotFound => self.get(path).await,
            known => known,
        }
    }

    async fn get(&self, path: String) -> Lookup {
        let Ok(request) = http::Request::get(path).body(Vec::new()) else { return Lookup::NotFound };
        match self.client.request::<Value>(request).await {
            Ok(value) => Lookup::Found(value),
            Err(kube::Error::Api(status)) if status.code == 404 => Lookup::NotFound,
            Err(kube::Error::Api(status)) => Lookup::Unreadable(format!("{} ({})", status.message, status.code)),
            // What could not be decoded might be quoted.
            Err(kube::Error::SerdeError(_)) => Lookup::Unreadable("the API server's answer is no JSON".into()),
            Err(error) => Lookup::Unreadable(chain(&error)),
        }
    }
}

/// Where the API server has the object. `None` for names that no object has.
fn path(reference: &Reference) -> Option<String> {
    let (namespace, name) = (reference.namespace.as_str(), reference.name.as_str());
    let fits = |text: &str| {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '.' | ':');
        !text.is_empty() && text.len() <= 253 && text.chars().all(plain) && text != "." && text != ".."
    };
    if !fits(name) || reference.kind.is_namespaced() != fits(namespace) {
        return None;
    }
    let root = match reference.kind.api_version() {
        core if !core.contains('/') => format!("/api/{core}"),
        grouped => format!("/apis/{grouped}"),
    };
    let plural = reference.kind.plural();
    Some(if reference.kind.is_namespaced() {
        format!("{root}/namespaces/{namespace}/{plural}/{name}")
    } else {
        format!("{root}/{plural}/{name}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_its_place_and_no_name_leads_elsewhere() {
        for (kind, namespace, name, expected) in [
            (ReferenceKind::Secret, "garden-dev", "keys", Some("/api/v1/namespaces/garden-dev/secrets/keys")),
            (
                ReferenceKind::CredentialsBinding,
                "garden-dev",
                "b",
                Some("/apis/security.gardener.cloud/v1alpha1/namespaces/garden-dev/credentialsbindings/b"),
            ),
            (ReferenceKind::CloudProfile, "", "os", Some("/apis/core.gardener.cloud/v1beta1/cloudprofiles/os")),
            (
                ReferenceKind::Cluster,
                "x",
                "shoot--a--b",
                Some("/apis/extensions.gardener.cloud/v1alpha1/clusters/shoot--a--b"),
            ),
            (ReferenceKind::Secret, "", "keys", None),
            (ReferenceKind::Secret, "garden-dev", "", None),
            (ReferenceKind::Secret, "garden-dev", "..", None),
            (ReferenceKind::Secret, "garden-dev", "a/b", None),
            (ReferenceKind::Secret, "a/secrets/b?x=", "keys", None),
            (ReferenceKind::CloudProfile, "", "os?watch=true", None),
        ] {
            let reference = Reference::new(kind, namespace, name);
            assert_eq!(path(&reference).as_deref(), expected, "{reference}");
        }
    }

    /// Answers after a while, and a secret only to who knows the binding.
    struct Slow(Duration);

    #[async_trait]
    impl Fetch for Slow {
        async fn fetch(&self, reference: &Reference) -> Arc<Lookup> {
            tokio::time::sleep(self.0).await;
            Lookup::Found(Value::String(reference.name.clone())).into()
        }
    }

    fn chain_of_two(resolved: &Resolved) -> Vec<Reference> {
        let binding = Reference::new(ReferenceKind::SecretBinding, "n", "binding");
        let secret = Reference::new(ReferenceKind::Secret, "n", "secret");
        let wanted = if resolved.get(&binding).is_some() { vec![binding, secret] } else { vec![binding] };
        wanted.into_iter().filter(|reference| resolved.get(reference).is_none()).collect()
    }

    #[tokio::test]
    async fn chains_are_followed_and_end_with_the_deadline() {
        let secret = Reference::new(ReferenceKind::Secret, "n", "secret");
        for (pause, found) in [(0, true), (400, false)] {
            let mut resolved = Resolved::new();
            let deadline = Instant::now() + Duration::from_millis(200);
            resolve(&Slow(Duration::from_millis(pause)), deadline, &mut resolved, chain_of_two).await;
            assert!(Instant::now() < deadline + Duration::from_millis(150));
            let lookup = resolved.get(&secret).unwrap();
            assert_eq!(matches!(lookup, Lookup::Found(_)), found, "{lookup:?}");
        }
    }
}
