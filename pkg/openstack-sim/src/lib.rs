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
