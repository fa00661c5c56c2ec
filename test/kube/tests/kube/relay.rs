//! A cloud that stops in the middle, for one test alone: the lab's own services go on for the tests beside it.
//!
//! ```text
//!  program ─┬─► relay ─► Keystone    a login's catalog names the relay instead of Neutron; after it Neutron stops
//!           └─► relay ─► Neutron     bytes pass, hang, or no connection is taken
//! ```

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use fabric_test_openstack::Facts;
use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

const SUBJECT: &str = "x-subject-token";

/// What Neutron does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Neutron {
    Answers,
    /// It takes connections and what is sent, and says nothing.
    Hangs,
    /// It cuts its connections and takes none any more, for good.
    Refuses,
}

/// The way to the lab's Keystone and Neutron. It is closed when this goes.
pub(crate) struct Relay {
    /// Keystone's address on this way.
    pub(crate) auth_url: String,
    keystone: Arc<Keystone>,
    _ways: JoinSet<()>,
}

struct Keystone {
    facts: Facts,
    http: reqwest::Client,
    neutron_url: String,
    neutron: watch::Sender<Neutron>,
    after_login: Mutex<Option<Neutron>>,
    connections: AtomicUsize,
}

impl Relay {
    /// A way on which the first login is the last thing before Neutron does this.
    pub(crate) async fn stopping(facts: &Facts, after_login: Neutron) -> Self {
        let (keystones, neutrons) = (listen().await, listen().await);
        let url = |listener: &TcpListener| format!("http://{}", listener.local_addr().unwrap());
        let auth_url = format!("{}/v3", url(&keystones));
        let keystone = Arc::new(Keystone {
            facts: facts.clone(),
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            neutron_url: url(&neutrons),
            neutron: watch::Sender::new(Neutron::Answers),
            after_login: Mutex::new(Some(after_login)),
            connections: AtomicUsize::new(0),
        });
        let mut ways = JoinSet::new();
        ways.spawn(neutron(neutrons, Arc::clone(&keystone)));
        ways.spawn(logins(keystones, Arc::clone(&keystone)));
        Self { auth_url, keystone, _ways: ways }
    }

    /// Whether the login was answered, and Neutron stopped.
    pub(crate) fn has_stopped(&self) -> bool {
        self.keystone.after_login.lock().unwrap().is_none()
    }

    /// How many connections Neutron was asked for, and took.
    pub(crate) fn connections(&self) -> usize {
        self.keystone.connections.load(Ordering::SeqCst)
    }

    /// Lets a Neutron that hangs answer whoever comes from now on.
    pub(crate) fn goes_on(&self) {
        self.keystone.neutron.send_replace(Neutron::Answers);
    }
}

async fn listen() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

async fn logins(listener: TcpListener, keystone: Arc<Keystone>) {
    let mut connections = JoinSet::new();
    loop {
        let (caller, keystone) = (TokioIo::new(listener.accept().await.unwrap().0), Arc::clone(&keystone));
        let service = service_fn(move |request| Arc::clone(&keystone).forward(request));
        connections.spawn(hyper::server::conn::http1::Builder::new().serve_connection(caller, service));
    }
}

impl Keystone {
    /// One request, and what follows from its answer.
    async fn forward(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, reqwest::Error> {
        let (mut asked, body) = request.into_parts();
        for name in [header::HOST, header::CONTENT_LENGTH, header::CONNECTION] {
            asked.headers.remove(name);
        }
        let url = format!("{}{}", self.facts.auth_url.trim_end_matches("/v3"), asked.uri);
        let request = self.http.request(asked.method, url).headers(asked.headers);
        let answer = request.body(body.collect().await.unwrap().to_bytes()).send().await?;
        let mut response = Response::builder().status(answer.status());
        for name in [header::CONTENT_TYPE.as_str(), SUBJECT] {
            if let Some(value) = answer.headers().get(name) {
                response = response.header(name, value);
            }
        }
        let login = answer.headers().contains_key(SUBJECT);
        let mut body = answer.bytes().await?;
        if login {
            body = self.led_here(&body).into();
            if let Some(next) = self.after_login.lock().unwrap().take() {
                self.neutron.send_replace(next);
            }
        }
        Ok(response.body(Full::new(body)).unwrap())
    }

    /// A token whose catalog leads to this way's Neutron.
    fn led_here(&self, token: &[u8]) -> Vec<u8> {
        let mut token: Value = serde_json::from_slice(token).unwrap();
        let services = token["token"]["catalog"].as_array_mut().expect("a token with a catalog");
        let neutron = services.iter_mut().find(|service| service["type"] == "network").expect("Neutron");
        for endpoint in neutron["endpoints"].as_array_mut().unwrap() {
            let path = endpoint["url"].as_str().and_then(|url| url.strip_prefix(&self.facts.network));
            endpoint["url"] = json!(format!("{}{}", self.neutron_url, path.expect("the lab's Neutron")));
        }
        token.to_string().into_bytes()
    }
}

/// Takes Neutron's connections until it refuses them; then those that are open are cut as well.
async fn neutron(listener: TcpListener, keystone: Arc<Keystone>) {
    let mut state = keystone.neutron.subscribe();
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => {
                keystone.connections.fetch_add(1, Ordering::SeqCst);
                connections.spawn(connection(accepted.unwrap().0, Arc::clone(&keystone)));
            }
            () = until(&mut state, |state| state == Neutron::Refuses) => return,
        }
    }
}

/// Passes bytes until Neutron stops; from then on the connection is open, and silent.
async fn connection(mut caller: TcpStream, keystone: Arc<Keystone>) {
    let mut state = keystone.neutron.subscribe();
    let pass = async {
        let mut end = TcpStream::connect(keystone.facts.network.trim_start_matches("http://")).await.unwrap();
        // However it ends, both sides are closed.
        let _ = tokio::io::copy_bidirectional(&mut caller, &mut end).await;
    };
    tokio::select! {
        biased;
        () = until(&mut state, |state| state != Neutron::Answers) => std::future::pending().await,
        () = pass => {}
    }
}

async fn until(state: &mut watch::Receiver<Neutron>, is_so: impl Fn(Neutron) -> bool) {
    let _ = state.wait_for(|state| is_so(*state)).await;
}
