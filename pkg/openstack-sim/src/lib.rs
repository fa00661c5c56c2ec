//! An OpenStack in memory, over real HTTP on loopback: for demonstrations, for faults on purpose, for tests
//! that want hundreds of clouds.
//!
//! ```text
//!            127.0.0.1, a port for each service
//! client ──► identity ─ network ─ compute ─ sharev2 ─ load-balancer
//!               │  faults (status, latency, stall, reset, cut body)  ─► journal of calls
//!               ▼
//!            dispatch ─► keystone │ neutron │ nova │ manila │ octavia     (a file for each resource)
//!               ▼
//!            State: tables of JSON documents ─► snapshot, save and load
//!               ▲
//!            settle: what is due goes ACTIVE, ERROR or away              (unless held)
//! ```
//!
//! ```no_run
//! # async fn example() -> Result<(), fabric_openstack_sim::SimError> {
//! use fabric_openstack_sim::{Action, Cloud, Config, Fault, Service, When};
//! use serde_json::json;
//!
//! let cloud = Cloud::start(Config::default()).await?;
//! let demo = cloud.user("demo")?; // makes calls without HTTP, for what has to be there beforehand
//! demo.post(Service::Network, "/v2.0/networks", json!({"network": {"name": "given"}}));
//! let given = cloud.snapshot();
//! let busy = Action::Answer { status: 503, body: None, headers: Vec::new() };
//! cloud.faults().add(Fault::on("POST", "/v2.0/routers", busy).when(When::First(2)))?;
//! // … a client works against cloud.auth_url(), with the clouds of cloud.clouds_yaml() …
//! assert_eq!(cloud.calls().mutation_count(), 0);
//! assert_eq!(cloud.snapshot(), given);
//! cloud.stop().await;
//! # Ok(())
//! # }
//! ```
//!
//! Invariants
//! - It depends on no other crate of ours and keeps JSON of its own, so that it cannot mirror a client's mistake.
//!   What it answers is held against recordings of the real services.
//! - A call is carried out as a whole or not at all; a refused one changes nothing.
//! - What a caller may not see is absent for it (404), as in the real Neutron.
//! - Nothing runs in the background but the listeners: time passes when somebody looks.

mod backdoor;
mod clock;
mod cloud;
mod error;
mod faults;
mod journal;
mod json;
mod keystone;
mod manila;
mod microversion;
mod neutron;
mod nova;
mod octavia;
mod persist;
mod request;
mod rng;
mod seed;
mod server;
mod service;
mod settle;
mod state;
mod user;

pub use cloud::{Cloud, Config};
pub use error::SimError;
pub use faults::{Action, Fault, FaultId, Faults, When};
pub use journal::{Call, Journal};
pub use seed::Seed;
pub use service::Service;
pub use user::{Answer, User};

use request::{Reply, Request};
use state::State;

/// Has the service of a request answer it.
fn dispatch(st: &mut State, req: &Request) -> Reply {
    let outcome = match req.service {
        Service::Identity => keystone::handle(st, req),
        Service::Network => neutron::handle(st, req),
        Service::Compute => nova::handle(st, req),
        Service::SharedFileSystem => manila::handle(st, req),
        Service::LoadBalancer => octavia::handle(st, req),
    };
    outcome.unwrap_or_else(|refused| refused)
}
