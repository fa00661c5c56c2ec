//! Which cloud a command works on, and how it logs in.
//!
//! ```text
//!   --secret FILE │ Secret in -f ─┐        CloudProfile: Keystone URL, CA, insecure (for a Secret), requestTimeout
//!   --cloud NAME │ OS_* │ only one ├─► Credentials ─► Client
//!   --cloud demo ─► embedded ──────┘
//! ```

use std::{path::PathBuf, time::Duration};

use fabric_apis::openstack::v1alpha1::CloudProfileConfig;
use fabric_openstack::{
    Client, Error, Options,
    config::{self, Surroundings, secret},
};
use fabric_openstack_types::credentials::{AuthMethod, Credentials, Scope, UserRef};

use crate::{
    embedded::{self, Embedded},
    exit::{Result, Stop},
    objects::{self, Login},
    output,
};

/// The choice of a cloud.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct CloudArgs {
    /// Cloud of clouds.yaml, or `demo`: one embedded in this program. Without it OS_CLOUD (also for a `demo` of
    /// clouds.yaml) and the other OS_* count
    #[arg(long, value_name = "NAME", conflicts_with = "secret")]
    pub(crate) cloud: Option<String>,
    /// Gardener's cloudprovider Secret to log in with
    #[arg(long, value_name = "FILE")]
    pub(crate) secret: Option<PathBuf>,
}

/// What the choice depends on beside the arguments.
pub(crate) struct Place<'a> {
    /// The operator's profile.
    pub(crate) profile: Option<&'a CloudProfileConfig>,
    /// The shoot's region.
    pub(crate) region: Option<&'a str>,
    /// A Secret among the objects.
    pub(crate) login: Option<&'a Login>,
    /// The command, if it may change the cloud.
    pub(crate) verb: Option<&'a str>,
}

/// A cloud to work on.
pub(crate) struct Session {
    pub(crate) client: Client,
    /// Its name, for people and for the folder of its states.
    pub(crate) label: String,
    /// The region that calls go to.
    pub(crate) region: Option<String>,
    pub(crate) embedded: Option<Embedded>,
}

impl Session {
    /// Chooses the cloud and prepares a client. Nothing is sent yet.
    ///
    /// # Errors
    /// No cloud is named; its credentials cannot be read or used.
    pub(crate) async fn open(args: &CloudArgs, place: &Place<'_>) -> Result<Self> {
        if args.cloud.as_deref() == Some(embedded::NAME) {
            if config::known(&Surroundings::of_process()).is_ok_and(|known| known.iter().any(|it| it == embedded::NAME))
            {
                output::tell(
                    "note: --cloud demo is the embedded cloud; the demo of clouds.yaml is chosen by OS_CLOUD=demo",
                );
            }
            let embedded = Embedded::start(&Embedded::default_file()?, place.verb).await?;
            return Self::on(embedded, place).await;
        }
        let (mut credentials, label) = credentials(args, place)?;
        if let Some(region) = place.region {
            credentials.region = Some(region.to_owned());
        }
        Self::connect(credentials, label, place, None).await
    }

    /// The same on an embedded cloud that runs already.
    ///
    /// # Errors
    /// As [`Session::open`].
    pub(crate) async fn on(embedded: Embedded, place: &Place<'_>) -> Result<Self> {
        let mut credentials = embedded.credentials();
        if let Some(region) = place.region {
            credentials.region = Some(region.to_owned());
        }
        Self::connect(credentials, embedded::NAME.to_owned(), place, Some(embedded)).await
    }

    async fn connect(
        credentials: Credentials,
        label: String,
        place: &Place<'_>,
        embedded: Option<Embedded>,
    ) -> Result<Self> {
        let mut options = Options::default();
        if let Some(text) = place.profile.and_then(|profile| profile.request_timeout.as_deref()) {
            options.request_timeout = duration(text).ok_or_else(|| {
                Stop::error(format!("CloudProfile: requestTimeout: {text:?} is no duration"))
                    .next("write it like 60s or 1m30s")
            })?;
        }
        let region = credentials.region.clone();
        let client = Client::connect(credentials, options).await.map_err(Stop::error)?;
        Ok(Self { client, label, region, embedded })
    }

    /// `cloud (region)`.
    pub(crate) fn name(&self) -> String {
        match &self.region {
            Some(region) => format!("{} ({region})", self.label),
            None => self.label.clone(),
        }
    }

    /// Lets go of the cloud; what the embedded one holds is written down.
    ///
    /// # Errors
    /// When that fails.
    pub(crate) fn close(&self) -> Result<()> {
        match &self.embedded {
            Some(embedded) => embedded.save().map_err(|error| Stop::error(format!("embedded cloud: {error}"))),
            None => Ok(()),
        }
    }
}

fn credentials(args: &CloudArgs, place: &Place<'_>) -> Result<(Credentials, String)> {
    let from = Surroundings::of_process();
    let given = args.secret.as_deref().map(objects::login).transpose()?;
    let beside = place.login.filter(|_| args.cloud.is_none());
    if let Some(login) = given.as_ref().or(beside) {
        return of_secret(login, place);
    }
    let credentials = config::load(args.cloud.as_deref(), &from).map_err(no_cloud)?;
    let named = args.cloud.as_deref().or_else(|| from.variable("OS_CLOUD"));
    // A cloud of clouds.yaml that is called like the embedded one must not share its states.
    let named = named.filter(|name| *name != embedded::NAME);
    let label = named.map_or_else(|| label(&credentials), str::to_owned);
    Ok((credentials, label))
}

/// What is wrong with the choice, and for somebody who has no cloud yet: where to get one.
fn no_cloud(error: Error) -> Stop {
    let stop = Stop::error(&error);
    match error {
        Error::NoCloud { .. } => stop.next("without a cloud of your own, try --cloud demo: it is inside this program"),
        Error::UnknownCloud { known, .. } if known.is_empty() => {
            stop.next("write clouds.yaml, or try --cloud demo: it is inside this program")
        }
        Error::UnknownCloud { .. } => stop.next("choose one of these with --cloud or OS_CLOUD, or add it to the file"),
        _ => stop,
    }
}

fn of_secret(login: &Login, place: &Place<'_>) -> Result<(Credentials, String)> {
    let keystone = place.profile.and_then(|profile| profile.keystone(place.region.unwrap_or_default()));
    let defaults = secret::Defaults {
        auth_url: keystone.map(|(url, _)| url.to_owned()),
        region: place.region.map(str::to_owned),
        ca_cert: keystone.and_then(|(_, ca)| ca.map(str::to_owned)),
    };
    let found = secret::credentials(&login.place, &login.data, secret::Usage::Infrastructure, &defaults);
    let mut credentials = found.map_err(Stop::error)?;
    credentials.insecure |= place.profile.is_some_and(|profile| profile.keystone_force_insecure);
    let label = label(&credentials);
    Ok((credentials, label))
}

/// A name for a cloud that has none: where Keystone is, and the project.
fn label(credentials: &Credentials) -> String {
    let host = credentials.auth_url.split("://").last().unwrap_or_default();
    let host = host.split('/').next().unwrap_or_default();
    let project = match &credentials.method {
        AuthMethod::Password { scope: Scope::ProjectId(id), .. } => id,
        AuthMethod::Password { scope: Scope::ProjectName { name, .. }, .. } => name,
        AuthMethod::AppCredentialId { id, .. } => id,
        AuthMethod::AppCredentialName { user: UserRef::Id(user) | UserRef::Name { name: user, .. }, .. } => user,
    };
    format!("{project}@{host}")
}

/// A Go duration: `60s`, `1m30s`.
fn duration(text: &str) -> Option<Duration> {
    let read: jiff::SignedDuration = text.trim().parse().ok()?;
    Duration::try_from(read).ok().filter(|duration| !duration.is_zero())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn go_durations_are_read() {
        let seconds = |text| duration(text).map(|it| it.as_secs_f64());
        for (text, read) in [("60s", Some(60.0)), ("1m30s", Some(90.0)), ("500ms", Some(0.5)), ("1h", Some(3600.0))] {
            assert_eq!(seconds(text), read, "{text}");
        }
        for text in ["", "0s", "-1s", "soon", "60"] {
            assert_eq!(duration(text), None, "{text}");
        }
    }
}
