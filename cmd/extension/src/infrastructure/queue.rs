//! From the watch to requests: which objects are looked at now.
//!
//! ```text
//!  watch ─► Event ─► Known: new? asked for? ─► requests ─► applier (one at a time for an object, N in all)
//!               └──► Store (what the applier looks up)
//! ```

use std::collections::HashMap;
use std::sync::atomic::Ordering;

use fabric_apis::gardener::Infrastructure;
use futures::{Stream, StreamExt, stream};
use kube::Api;
use kube::runtime::reflector::{ObjectRef, store::Writer};
use kube::runtime::watcher::{self, Event};
use kube::runtime::{WatchStreamExt, watcher as watch};

use super::contract::{Facts, is_update_due};
use super::head::Head;
use super::metrics::Metrics;

/// The name of an object.
pub(crate) type Key = ObjectRef<Head>;

/// What was seen of the objects, to tell a change that counts from one that does not.
#[derive(Debug, Default)]
pub(crate) struct Known {
    seen: HashMap<Key, (Facts, u64)>,
    /// While a list is read: what it has.
    listing: HashMap<Key, (Facts, u64)>,
    ignore_operation: bool,
}

impl Known {
    pub(crate) fn new(ignore_operation: bool) -> Self {
        Self { ignore_operation, ..Self::default() }
    }

    /// The objects that an event gives reason to look at. Of a list none before its end, when the store has them all.
    pub(crate) fn due(&mut self, event: &Event<Head>) -> Vec<Key> {
        match event {
            Event::Init => self.listing.clear(),
            Event::InitApply(head) => {
                self.listing.insert(Key::from_obj(head), (head.facts.clone(), head.status));
            }
            Event::InitDone => {
                let listed = std::mem::take(&mut self.listing);
                let mut due: Vec<Key> = listed.iter().filter(|(key, new)| self.is_due(key, new)).map(first).collect();
                // Oldest names first, so that a start is the same every time.
                due.sort_by(|one, other| (&one.namespace, &one.name).cmp(&(&other.namespace, &other.name)));
                self.seen = listed;
                return due;
            }
            Event::Apply(head) => {
                let (key, new) = (Key::from_obj(head), (head.facts.clone(), head.status));
                let is_due = self.is_due(&key, &new);
                self.seen.insert(key.clone(), new);
                return if is_due { vec![key] } else { Vec::new() };
            }
            Event::Delete(head) => {
                self.seen.remove(&Key::from_obj(head));
            }
        }
        Vec::new()
    }

    fn is_due(&self, key: &Key, (new, status): &(Facts, u64)) -> bool {
        match self.seen.get(key) {
            None => true,
            Some((old, before)) => is_update_due(old, new, before == status, self.ignore_operation),
        }
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.seen.len()
    }
}

fn first((key, _): (&Key, &(Facts, u64))) -> Key {
    key.clone()
}

/// Watches for ever. A watch that breaks, or is too old, is begun anew after a growing pause.
pub(crate) fn requests(
    api: Api<Head>,
    mut store: Writer<Head>,
    mut known: Known,
    metrics: Metrics,
) -> impl Stream<Item = Result<Key, watcher::Error>> + Send {
    let seconds = u32::try_from(fabric_runtime::cluster::WATCH_TIME.as_secs()).unwrap_or(u32::MAX);
    watch(api, watcher::Config::default().timeout(seconds)).default_backoff().flat_map(move |event| {
        let due = match event {
            Ok(event) => {
                let due = known.due(&event);
                store.apply_watcher_event(&event);
                if matches!(event, Event::InitDone) {
                    metrics.synced.store(true, Ordering::Relaxed);
                }
                metrics.objects.set(i64::try_from(known.len()).unwrap_or(i64::MAX));
                due
            }
            Err(error) => {
                tracing::warn!(
                    error = fabric_runtime::cluster::chain(&error),
                    "watching Infrastructures; trying again"
                );
                metrics.watch_errors.inc();
                Vec::new()
            }
        };
        stream::iter(due.into_iter().map(Ok))
    })
}

/// The API path of an Infrastructure, for errors and logs.
pub(crate) fn shown(key: &Key) -> String {
    let kind = <Infrastructure as kube::Resource>::kind(&());
    format!("{kind} {}/{}", key.namespace.as_deref().unwrap_or_default(), key.name)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::infrastructure::contract::OPERATION;

    fn head(name: &str, annotations: Value, status: Value) -> Head {
        serde_json::from_value(json!({
            "metadata": { "name": name, "namespace": "shoot--p--a", "annotations": annotations },
            "spec": { "type": "openstack" },
            "status": status,
        }))
        .unwrap()
    }

    fn names(due: &[Key]) -> Vec<&str> {
        due.iter().map(|key| key.name.as_str()).collect()
    }

    fn list(known: &mut Known, heads: &[Head]) -> Vec<Key> {
        let mut due = known.due(&Event::Init);
        for head in heads {
            due.extend(known.due(&Event::InitApply(head.clone())));
        }
        assert!(due.is_empty(), "before the list is whole nothing can be looked up");
        known.due(&Event::InitDone)
    }

    #[test]
    fn a_first_list_gives_all_and_the_same_list_again_nothing() {
        let mut known = Known::new(false);
        let all = [head("b", json!({}), json!({})), head("a", json!({}), json!({}))];
        assert_eq!(names(&list(&mut known, &all)), ["a", "b"]);
        assert!(list(&mut known, &all).is_empty());
        assert_eq!(known.len(), 2);
    }

    #[test]
    fn what_was_asked_while_the_watch_was_away_is_found_in_the_next_list() {
        let mut known = Known::new(false);
        list(&mut known, &[head("a", json!({}), json!({})), head("b", json!({}), json!({}))]);
        let asked = head("a", json!({ OPERATION: "reconcile" }), json!({}));
        let fresh = head("c", json!({}), json!({}));
        assert_eq!(names(&list(&mut known, &[asked, fresh])), ["a", "c"]);
        assert_eq!(known.len(), 2, "what is no longer listed is forgotten");
    }

    #[test]
    fn our_own_status_is_no_reason() {
        let mut known = Known::new(false);
        list(&mut known, &[head("a", json!({}), json!({}))]);
        let written = head("a", json!({}), json!({ "lastOperation": { "type": "Create", "state": "Error" } }));
        assert!(known.due(&Event::Apply(written)).is_empty());
        let asked = head(
            "a",
            json!({ OPERATION: "reconcile" }),
            json!({ "lastOperation": { "type": "Create", "state": "Error" } }),
        );
        assert_eq!(names(&known.due(&Event::Apply(asked.clone()))), ["a"]);
        known.due(&Event::Delete(asked));
        assert_eq!(known.len(), 0);
    }
}
