//! Where a case plays: who may act, and what is known of the cloud.

use std::panic::{AssertUnwindSafe, resume_unwind};

use fabric_openstack::{Client, Options};
use fabric_openstack_types::{
    Marker,
    credentials::Credentials,
    ids::{NetworkId, ProjectId},
};
use futures::FutureExt;
use serde::Deserialize;

use crate::sweep;

/// What is known of a cloud.
#[derive(Clone, Debug, Deserialize)]
pub struct Facts {
    /// The project of `demo`, `demo-reader` and `netadmin`.
    pub project_id: ProjectId,
    /// The project of `other`.
    pub other_project_id: ProjectId,
    /// The user `demo`.
    pub user: String,
    /// The users' and projects' domain.
    pub domain: String,
    /// The name of demo's application credential.
    pub application_credential_name: String,
    /// Its id.
    pub application_credential_id: String,
    /// Its secret.
    pub application_credential_secret: String,
    /// The name of the external network.
    pub external_network: String,
    /// Its id.
    pub external_network_id: NetworkId,
}

/// Stops the data plane, or lets it go on.
pub type Hold = Box<dyn Fn(bool) + Send + Sync>;

/// The clients of a case. They log in when they are first used.
pub struct Stage {
    /// Member of the project.
    pub member: Client,
    /// Reader of the project.
    pub reader: Client,
    /// Member of the project whose policy allows SNAT and external addresses.
    pub netadmin: Client,
    /// Member of another project.
    pub other: Client,
    /// Administrator.
    pub admin: Client,
    /// The member's credentials, to spoil.
    pub credentials: Credentials,
    /// What is known.
    pub facts: Facts,
    /// The beginning of every name that a case gives.
    pub prefix: String,
    hold: Hold,
}

impl std::fmt::Debug for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stage").field("prefix", &self.prefix).finish_non_exhaustive()
    }
}

/// While it lives nothing becomes ACTIVE, for anybody.
pub struct Held<'a>(&'a Stage);

impl std::fmt::Debug for Held<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Held")
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        (self.0.hold)(false);
    }
}

impl Stage {
    /// A stage on a cloud whose users' credentials `credentials` knows, under the names of the lab's `clouds.yaml`.
    pub async fn new(facts: Facts, credentials: impl Fn(&str) -> Credentials, hold: Hold) -> Self {
        let client = async |cloud: &str| {
            let made = Client::connect(credentials(cloud), Options::default()).await;
            made.unwrap_or_else(|error| panic!("cloud {cloud}: {error}"))
        };
        Self {
            member: client("demo").await,
            reader: client("demo-reader").await,
            netadmin: client("netadmin").await,
            other: client("other").await,
            admin: client("admin").await,
            credentials: credentials("demo"),
            facts,
            prefix: format!("ct-{}", &uuid::Uuid::new_v4().simple().to_string()[..10]),
            hold,
        }
    }

    /// A name of this stage.
    pub fn name(&self, what: &str) -> String {
        format!("{}-{what}", self.prefix)
    }

    /// The marker of this stage.
    pub fn marker(&self) -> Marker {
        Marker::new(&self.prefix, "contract")
    }

    /// Stops the data plane until the result is dropped.
    pub fn hold(&self) -> Held<'_> {
        (self.hold)(true);
        Held(self)
    }

    /// Plays a case and sweeps, whatever becomes of it.
    pub async fn play<F: Future<Output = ()>>(self, case: impl FnOnce(&'static Self) -> F) {
        // A case borrows the stage across awaits; one stage a test is not worth a lifetime in every signature.
        let stage: &'static Self = Box::leak(Box::new(self));
        let result = AssertUnwindSafe(case(stage)).catch_unwind().await;
        let left = sweep::sweep(stage).await;
        if let Err(panic) = result {
            resume_unwind(panic);
        }
        assert!(left.is_empty(), "could not be swept away: {left:#?}");
    }
}
