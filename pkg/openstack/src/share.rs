//! Manila's trait: share networks.

use std::sync::atomic::Ordering;

use async_trait::async_trait;
use fabric_openstack_types::{
    ApiError, Owned, Service,
    ids::ShareNetworkId,
    share::{NewShareNetwork, ShareNetwork, ShareNetworkUpdate},
};
use serde::Deserialize;

use crate::{
    api::{Result, SharedFileSystem},
    call::{Answer, Call},
    client::Client,
    neutron::under,
};

const MANILA: Service = Service::SharedFileSystem;
const NETWORKS: &str = "share-networks";
/// Microversion 2.51: a share network has subnets of its own. With an older service we speak its newest.
pub(crate) const MINOR: u16 = 51;

#[derive(Deserialize)]
struct Version {
    #[serde(default)]
    id: String,
    #[serde(default)]
    version: String,
}

#[async_trait]
impl SharedFileSystem for Client {
    async fn share_networks(&self) -> Result<Vec<ShareNetwork>> {
        let call = Call::get(MANILA, &[NETWORKS, "detail"]);
        self.negotiated(|minor| {
            let call = at(&call, minor);
            async move { self.list_by_offset(&call, "share_networks").await }
        })
        .await
    }

    async fn create_share_network(&self, new: &NewShareNetwork) -> Result<ShareNetwork> {
        let call = Call::post(MANILA, &[NETWORKS], under("share_network", new));
        let fits = |found: &ShareNetwork| {
            found.name == new.name
                && found.description == new.description
                && found.is_on(&new.neutron_net_id, &new.neutron_subnet_id)
        };
        let look = || async { Ok(self.share_networks().await?.into_iter().find(fits)) };
        let read = |answer: &Answer| answer.member("share_network");
        self.negotiated(|minor| {
            let call = at(&call, minor);
            async move { self.create(&call, read, look).await }
        })
        .await
    }

    async fn update_share_network(
        &self,
        id: &Owned<ShareNetworkId>,
        change: &ShareNetworkUpdate,
    ) -> Result<ShareNetwork> {
        let call = Call::put(MANILA, &[NETWORKS, id.get().as_str()], Some(under("share_network", change)));
        self.negotiated(|minor| {
            let call = at(&call, minor);
            async move { self.repeat(&call).await?.member("share_network") }
        })
        .await
    }

    async fn delete_share_network(&self, id: &Owned<ShareNetworkId>) -> Result<()> {
        let call = Call::delete(MANILA, &[NETWORKS, id.get().as_str()]);
        self.negotiated(|minor| {
            let call = at(&call, minor);
            async move { self.remove(&call).await }
        })
        .await
    }
}

impl Client {
    /// Runs a call in our microversion; a service that refuses that (406) is asked once for its newest.
    async fn negotiated<T, F>(&self, run: impl Fn(u16) -> F) -> Result<T>
    where
        F: Future<Output = Result<T>>,
    {
        let known = &self.shared.manila_minor;
        let minor = known.load(Ordering::Relaxed);
        match run(minor).await {
            Err(error) if error.status == Some(406) => {
                let newest = self.newest_minor().await?;
                // A service that refuses what it offers will not accept it the second time.
                let usable = newest.filter(|newest| *newest < minor).ok_or(error)?;
                known.store(usable, Ordering::Relaxed);
                run(usable).await
            }
            result => result,
        }
    }

    /// The newest minor version of Manila's second API.
    async fn newest_minor(&self) -> Result<Option<u16>, ApiError> {
        let call = Call::get(MANILA, &[""]);
        let versions: Vec<Version> = self.repeat(&call).await?.member("versions")?;
        let second = versions.iter().find(|version| version.id.starts_with("v2"));
        let minor = second.and_then(|version| version.version.strip_prefix("2."));
        Ok(minor.and_then(|minor| minor.parse().ok()))
    }
}

fn at(call: &Call, minor: u16) -> Call {
    call.clone().header("x-openstack-manila-api-version", format!("2.{minor}"))
}
