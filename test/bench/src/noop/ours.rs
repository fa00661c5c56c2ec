//! Ours, as the controller runs it: the same driver, the same cache of sessions, the default waits and limits.

use anyhow::{Context, ensure};
use async_trait::async_trait;
use fabric_flow::Options;
use fabric_infrastructure::{Error, Input, Reconciled, State, StateStore, Timing, reconcile};
use fabric_openstack::{Client, Sessions};
use fabric_openstack_types::credentials::Credentials;

use super::Sent;
use super::shoot::{Pattern, Told};

/// The status of an Infrastructure is no part of the comparison, on neither side.
struct Nowhere;

#[async_trait]
impl StateStore for Nowhere {
    async fn save(&self, _: &State) -> Result<(), Error> {
        Ok(())
    }
}

/// A shoot whose infrastructure stands.
pub(super) struct Ours {
    input: Input,
    credentials: Credentials,
    sessions: Sessions,
    state: State,
}

impl Ours {
    pub(super) async fn create(cloud: &Told, pattern: Pattern) -> anyhow::Result<Self> {
        let (input, credentials) = (cloud.input(pattern)?, cloud.credentials()?);
        let sessions = sessions();
        let client = sessions.client(&credentials).await?;
        let made = once(&client, &input, &State::default()).await.context("creating the infrastructure")?;
        Ok(Self { input, credentials, sessions, state: made.state })
    }

    pub(super) fn state(&self) -> &State {
        &self.state
    }

    /// A reconcile with the token and the connections that are there.
    pub(super) async fn kept(&self) -> anyhow::Result<Sent> {
        self.reconcile(&self.sessions).await
    }

    /// A reconcile that has to log in, and to connect, first.
    pub(super) async fn new_session(&self) -> anyhow::Result<Sent> {
        self.reconcile(&sessions()).await
    }

    async fn reconcile(&self, sessions: &Sessions) -> anyhow::Result<Sent> {
        let client = sessions.client(&self.credentials).await?;
        let before = client.stats();
        let done = once(&client, &self.input, &self.state).await?;
        ensure!(done.state == self.state, "a reconcile that had nothing to do changed the state");
        let after = client.stats();
        Ok(Sent { calls: after.calls - before.calls, tokens: after.tokens - before.tokens })
    }
}

fn sessions() -> Sessions {
    Sessions::new(fabric_openstack::Options::default())
}

async fn once(client: &Client, input: &Input, state: &State) -> anyhow::Result<Reconciled> {
    Ok(reconcile(client, input, state.clone(), &Nowhere, Timing::default(), Options::default()).await?)
}
