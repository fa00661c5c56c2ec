//! Everything in a project by content, to be compared byte for byte.

use std::collections::BTreeMap;

use futures::future::join_all;
use serde_json::Value;

use crate::{
    raw::{Raw, Service, text},
    world::World,
};

/// Kind and id to content, without what counts changes or tells when.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot(pub BTreeMap<String, String>);

const NEUTRON: [(&str, &str); 7] = [
    ("networks", "networks"),
    ("subnets", "subnets"),
    ("routers", "routers"),
    ("ports", "ports"),
    ("security-groups", "security_groups"),
    ("floatingips", "floatingips"),
    ("subnetpools", "subnetpools"),
];

impl World {
    /// What the project holds, and the key pairs of the owner and of the shoot's user.
    pub async fn snapshot(&self) -> Snapshot {
        let gardener = self.gardener().await;
        let neutron = NEUTRON.map(|(path, key)| {
            let path = format!("{path}?project_id={}", self.project);
            async move { (key, self.owner.list(Service::Network, &path, key).await) }
        });
        let neutron = async { join_all(neutron).await };
        let shares = self.owner.list(Service::Share, "share-networks/detail", "share_networks");
        let balancers = self.owner.list(Service::LoadBalancer, "loadbalancers", "loadbalancers");
        let keys = |who: Raw| async move {
            let found = who.list(Service::Compute, "os-keypairs", "keypairs").await;
            found.into_iter().map(|entry| entry["keypair"].clone()).collect::<Vec<_>>()
        };
        let (neutron, shares, balancers, hers, his) =
            tokio::join!(neutron, shares, balancers, keys(self.owner.clone()), keys(gardener));
        let mut all = BTreeMap::new();
        let rest = [("share network", shares), ("load balancer", balancers)];
        for (kind, list) in neutron.into_iter().chain(rest) {
            for it in list {
                all.insert(format!("{kind} {}", text(&it["id"])), canonical(it));
            }
        }
        for (kind, list) in [("key pair of the owner", hers), ("key pair of the shoot's user", his)] {
            for it in list {
                all.insert(format!("{kind} {}", text(&it["name"])), canonical(it));
            }
        }
        Snapshot(all)
    }
}

/// Sorted keys; lists of texts are sets to Neutron and come in any order.
fn canonical(mut value: Value) -> String {
    sort(&mut value);
    serde_json::to_string(&value).unwrap()
}

fn sort(value: &mut Value) {
    match value {
        Value::Object(map) => {
            for counter in ["revision_number", "updated_at"] {
                map.remove(counter);
            }
            map.sort_keys();
            map.values_mut().for_each(sort);
        }
        Value::Array(list) => {
            list.iter_mut().for_each(sort);
            list.sort_by_key(ToString::to_string);
        }
        _ => {}
    }
}

impl Snapshot {
    /// What differs from `later`, a line each.
    pub fn differences(&self, later: &Self) -> Vec<String> {
        let gone = self.0.iter().filter_map(|(key, before)| match later.0.get(key) {
            None => Some(format!("{key} is gone: {before}")),
            Some(after) if after != before => Some(format!("{key} changed:\n  {before}\n  {after}")),
            Some(_) => None,
        });
        let new = later.0.iter().filter(|(key, _)| !self.0.contains_key(*key));
        gone.chain(new.map(|(key, after)| format!("{key} is new: {after}"))).collect()
    }

    /// Fails, with the differences, unless `later` is the same.
    #[track_caller]
    pub fn assert_same(&self, later: &Self, when: &str) {
        let differences = self.differences(later);
        assert!(differences.is_empty(), "{when}:\n{}", differences.join("\n"));
    }

    /// Fails unless everything here is the same in `later`, which may hold more.
    #[track_caller]
    pub fn assert_kept(&self, later: &Self, when: &str) {
        let lost: Vec<String> = self.differences(later).into_iter().filter(|it| !it.contains(" is new: ")).collect();
        assert!(lost.is_empty(), "{when}:\n{}", lost.join("\n"));
    }

    /// How many of a kind there are.
    pub fn count(&self, kind: &str) -> usize {
        self.0.keys().filter(|key| key.starts_with(&format!("{kind} "))).count()
    }
}

impl Snapshot {
    /// Fails unless everything here is in `later` too, whatever became of it.
    #[track_caller]
    pub fn assert_there(&self, later: &Self, when: &str) {
        let gone: Vec<&String> = self.0.keys().filter(|key| !later.0.contains_key(*key)).collect();
        assert!(gone.is_empty(), "{when}: gone: {gone:?}");
    }

    /// Fails unless everything here is the same in `later`, but for these kinds.
    #[track_caller]
    pub fn assert_kept_but(&self, later: &Self, but: &[&str], when: &str) {
        let mut here = self.clone();
        here.0.retain(|key, _| !but.iter().any(|kind| key.starts_with(&format!("{kind} "))));
        here.assert_kept(later, when);
    }
}
