//! What Neutron's collections have in common: list, read, create, change, delete, tag.

use std::sync::atomic::Ordering;

use fabric_openstack_types::{ApiError, Service, ids::ProjectId};
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use crate::{
    api::{Identity, Query},
    call::{Call, is_gone},
    client::Client,
};

const NEUTRON: Service = Service::Network;

/// A collection of Neutron's API.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Collection {
    /// In the URL.
    pub(crate) path: &'static str,
    /// In the body of a list.
    pub(crate) many: &'static str,
    /// In the body of one.
    pub(crate) one: &'static str,
}

const fn collection(path: &'static str, many: &'static str, one: &'static str) -> Collection {
    Collection { path, many, one }
}

pub(crate) const NETWORKS: Collection = collection("networks", "networks", "network");
pub(crate) const SUBNETS: Collection = collection("subnets", "subnets", "subnet");
pub(crate) const ROUTERS: Collection = collection("routers", "routers", "router");
pub(crate) const PORTS: Collection = collection("ports", "ports", "port");
pub(crate) const POOLS: Collection = collection("subnetpools", "subnetpools", "subnetpool");
pub(crate) const GROUPS: Collection = collection("security-groups", "security_groups", "security_group");
pub(crate) const RULES: Collection = collection("security-group-rules", "security_group_rules", "security_group_rule");

/// How a lost creation is found again: by the name and the description that it was given.
pub(crate) struct Marked<'a> {
    pub(crate) name: &'a str,
    pub(crate) description: &'a str,
}

impl Client {
    pub(crate) async fn neutron_list<T: DeserializeOwned>(
        &self,
        of: Collection,
        query: &Query,
    ) -> Result<Vec<T>, ApiError> {
        let mut call = Call::get(NEUTRON, &[of.path]);
        for (key, value) in query.pairs() {
            call = call.query(key, value.as_str());
        }
        self.list(call, of.many).await
    }

    pub(crate) async fn neutron_get<T: DeserializeOwned>(&self, of: Collection, id: &str) -> Result<T, ApiError> {
        let call = Call::get(NEUTRON, &[of.path, id]);
        self.repeat(&call).await?.member(of.one)
    }

    /// Creates; after a lost answer looks in our project for a marked one that `fits`.
    pub(crate) async fn neutron_create<T: DeserializeOwned>(
        &self,
        of: Collection,
        new: &impl Serialize,
        marked: Marked<'_>,
        fits: impl Fn(&T) -> bool,
    ) -> Result<T, ApiError> {
        let call = Call::post(NEUTRON, &[of.path], under(of.one, new));
        let look = || async {
            let project: ProjectId = self.project_id().await?;
            let query = Query::project(&project).and("name", marked.name).and("description", marked.description);
            let found = self.neutron_list::<T>(of, &query).await?;
            Ok(found.into_iter().find(&fits))
        };
        self.create(&call, |answer| answer.member(of.one), look).await
    }

    pub(crate) async fn neutron_update<T: DeserializeOwned>(
        &self,
        of: Collection,
        id: &str,
        change: &impl Serialize,
    ) -> Result<T, ApiError> {
        let call = Call::put(NEUTRON, &[of.path, id], Some(under(of.one, change)));
        self.repeat(&call).await?.member(of.one)
    }

    pub(crate) async fn neutron_delete(&self, of: Collection, id: &str) -> Result<(), ApiError> {
        self.remove(&Call::delete(NEUTRON, &[of.path, id])).await
    }

    /// Adds tags, all in one call where Neutron has the extension `tag-creation` (2025.1), else one by one.
    pub(crate) async fn neutron_tag(&self, of: Collection, id: &str, tags: &[String]) -> Result<(), ApiError> {
        let at_once = &self.shared.tags_at_once;
        if tags.len() > 1 && at_once.load(Ordering::Relaxed) {
            let call = Call::post(NEUTRON, &[of.path, id, "tags"], json!({ "tags": tags }));
            match self.send(&call).await {
                Ok(_) => return Ok(()),
                Err(failure) if is_unknown_path(&failure.error) => at_once.store(false, Ordering::Relaxed),
                // Adding a tag twice is no harm, and one by one it says which it is that is wrong.
                Err(_) => {}
            }
        }
        for tag in tags {
            let call = Call::put(NEUTRON, &[of.path, id, "tags", tag], None);
            self.repeat(&call).await?;
        }
        Ok(())
    }
}

/// Whether the path or the method is unknown, not the object.
fn is_unknown_path(error: &ApiError) -> bool {
    match error.status {
        Some(404) => !is_gone(error),
        Some(status) => matches!(status, 405 | 501),
        None => false,
    }
}

/// `{key: value}`.
pub(crate) fn under(key: &str, value: &impl Serialize) -> Value {
    json!({ key: value })
}
