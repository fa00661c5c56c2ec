//! The client against a small server of our own: what a cloud does seldom, and what it must never see.

mod login;
mod lost;
mod quirks;
mod redaction;
mod server;
mod tls;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};

use fabric_openstack_types::{
    Evidence, Owned,
    credentials::{AuthMethod, Credentials, DomainRef, Interface, Scope, UserRef},
};
use futures::future::BoxFuture;
use tokio::time::Instant;

use crate::{Client, Clock, Options};

pub(crate) const PASSWORD: &str = "correct-horse-battery";

pub(crate) fn credentials(auth_url: &str) -> Credentials {
    Credentials {
        auth_url: auth_url.to_owned(),
        method: AuthMethod::Password {
            user: UserRef::Name { name: "demo".to_owned(), domain: DomainRef::Name("demo".to_owned()) },
            password: PASSWORD.into(),
            scope: Scope::ProjectName { name: "demo".to_owned(), domain: DomainRef::Name("demo".to_owned()) },
        },
        region: None,
        interface: Interface::Public,
        ca_cert: None,
        insecure: false,
        endpoint_overrides: BTreeMap::new(),
    }
}

fn owned<T>(resource: T) -> Owned<T> {
    Owned::by(Evidence::Created, resource)
}

/// A clock that a wait moves, at once.
#[derive(Debug)]
struct Jumping {
    start: Instant,
    waits: Mutex<Vec<Duration>>,
}

impl Jumping {
    fn new() -> Arc<Self> {
        Arc::new(Self { start: Instant::now(), waits: Mutex::default() })
    }

    fn waits(&self) -> Vec<Duration> {
        self.waits.lock().unwrap().clone()
    }

    fn jump(&self, by: Duration) {
        self.waits.lock().unwrap().push(by);
    }
}

impl Clock for Jumping {
    fn now(&self) -> Instant {
        self.start + self.waits().iter().sum::<Duration>()
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.jump(duration);
        Box::pin(std::future::ready(()))
    }
}

/// A client of the server whose waits take no time, and its clock.
async fn client(url: &str) -> (Client, Arc<Jumping>) {
    let clock = Jumping::new();
    let options = Options { clock: clock.clone(), ..Options::default() };
    let client = Client::connect(credentials(url), options).await.unwrap();
    (client, clock)
}
