//! The Lease object.

use std::time::Duration;

use async_trait::async_trait;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{MicroTime, ObjectMeta};
use kube::api::{Api, Patch, PatchParams, PostParams};
use kube::{Client, ResourceExt};

use super::{LeaseError, LeaseStore, Record};
use crate::cluster::chain;

/// A Lease in a cluster. Needs `get`, `create` and `patch` on it.
pub struct ClusterLease {
    api: Api<Lease>,
    name: String,
}

impl ClusterLease {
    /// The Lease `name` in `namespace`.
    pub fn new(client: Client, namespace: &str, name: impl Into<String>) -> Self {
        Self { api: Api::namespaced(client, namespace), name: name.into() }
    }
}

#[async_trait]
impl LeaseStore for ClusterLease {
    async fn read(&self) -> Result<Option<Record>, LeaseError> {
        Ok(self.api.get_opt(&self.name).await.map_err(error)?.map(record))
    }

    async fn write(&self, record: &Record) -> Result<Record, LeaseError> {
        let spec = LeaseSpec {
            holder_identity: Some(record.holder.clone()),
            lease_duration_seconds: Some(i32::try_from(record.duration.as_secs()).unwrap_or(i32::MAX)),
            acquire_time: record.acquired.map(MicroTime),
            renew_time: record.renewed.map(MicroTime),
            lease_transitions: Some(record.transitions),
            ..LeaseSpec::default()
        };
        let metadata = ObjectMeta {
            name: Some(self.name.clone()),
            resource_version: record.version.clone(),
            ..ObjectMeta::default()
        };
        let lease = Lease { metadata, spec: Some(spec) };
        let written = if record.version.is_some() {
            // With a version inside, a patch is refused like a replacement when somebody else wrote; and it leaves
            // labels and owners alone.
            self.api.patch(&self.name, &PatchParams::default(), &Patch::Merge(&lease)).await
        } else {
            self.api.create(&PostParams::default(), &lease).await
        };
        written.map(self::record).map_err(error)
    }
}

fn record(lease: Lease) -> Record {
    let version = lease.resource_version();
    let spec = lease.spec.unwrap_or_default();
    let seconds = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok()).unwrap_or_default();
    Record {
        holder: spec.holder_identity.unwrap_or_default(),
        duration: Duration::from_secs(seconds),
        acquired: spec.acquire_time.map(|time| time.0),
        renewed: spec.renew_time.map(|time| time.0),
        transitions: spec.lease_transitions.unwrap_or_default(),
        version,
    }
}

/// 409 is both: it is there already, and it changed. A lease that is gone (404 on a patch) is looked for again.
fn error(error: kube::Error) -> LeaseError {
    match error {
        kube::Error::Api(status) if matches!(status.code, 404 | 409) => LeaseError::Conflict,
        other => LeaseError::Unavailable(chain(&other)),
    }
}
