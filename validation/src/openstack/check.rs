//! Dynamic rules: does the cloud hold what the specification names, and does it fit?
//!
//! ```text
//!   InfrastructureConfig ─┐
//!   Context (networking) ─┼─► check ─► Checked { findings: errors + warnings, failures }
//!   Observed (one look) ──┘
//! ```
//!
//! Pure over one observation, the same that the plan reads (decision D9). Errors are the rules of the specification and
//! whatever would make the reconcile fail for certain; what only looks wrong is a warning.
//!
//! Invariants:
//! - All findings at once: no rule stops another, except that without credentials nothing can be judged.
//! - A query that failed is an internal error on exactly the fields whose rules needed it. A query that a rule of the
//!   specification needed and that was never made is one too: unknown is not the same as fine.
//! - A warning is given only on knowledge; a failed query never makes one.
//! - Rules look only at given resources, and at what stands in their way there. Ours are the plan's business.

mod given;
mod routes;
pub mod security_group;

#[cfg(test)]
mod tests;

use fabric_apis::{
    field::{Error, Findings, Path, quote},
    openstack::v1alpha1::InfrastructureConfig,
};
use fabric_openstack_types::{
    ApiError,
    observed::{Observed, Queried},
};
use ipnet::IpNet;

/// What the rules must know beside the specification.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Where the config stands in the object that the user wrote; [`Path::nil`] for a bare config.
    pub path: Path<'a>,
    /// The shoot's technical ID, the name of its own subnets.
    pub technical_id: &'a str,
    /// `spec.networking.nodes`; `None`: not known, nothing is compared with it.
    pub nodes: Option<IpNet>,
    /// The pod ranges of both families. `networks.ipv6.podCIDR` counts even when it is not among them.
    pub pods: &'a [IpNet],
    /// The shoot has IPv4 and IPv6.
    pub dual_stack: bool,
    /// The pod network runs without an overlay: pod addresses show on the wire.
    pub overlay_off: bool,
}

/// What the dynamic rules found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Checked {
    /// Errors in the order of the rules, and warnings.
    pub findings: Findings,
    /// The failed calls behind the internal errors, each once, for their class and Gardener code. None, and yet errors:
    /// the specification itself is the problem.
    pub failures: Vec<ApiError>,
}

/// Applies every dynamic rule to what was observed.
pub fn check(config: &InfrastructureConfig, context: &Context<'_>, observed: &Observed) -> Checked {
    let mut checker = Checker { config, context, observed, result: Checked::default() };
    if let Some(Err(error)) = &observed.project {
        // Without credentials every other query fails for the same reason; say it once.
        checker.result.findings.error(Error::internal(&Path::nil(), format!("could not authenticate: {error}")));
        checker.remember(error);
        return checker.result;
    }
    checker.floating_pool();
    checker.network();
    checker.workers();
    checker.subnet(given::NODES);
    checker.router();
    checker.interface(given::NODES);
    checker.security_group();
    checker.subnet(given::NODES_IPV6);
    checker.interface(given::NODES_IPV6);
    checker.share_network();
    checker.result
}

/// One run of the rules.
struct Checker<'a> {
    config: &'a InfrastructureConfig,
    context: &'a Context<'a>,
    observed: &'a Observed,
    result: Checked,
}

/// What became of looking for one given resource.
enum Lookup<'a, T> {
    /// It is there.
    Found(&'a T),
    /// It is not there, or not visible for us.
    Missing,
    /// The query failed.
    Failed(&'a ApiError),
    /// The query was not made.
    NotAsked,
}

/// Looks for the resource with this id in a query's result.
fn look_up<'a, T>(query: &'a Option<Queried<Vec<T>>>, id: &str, id_of: impl Fn(&T) -> &str) -> Lookup<'a, T> {
    match query {
        Some(Ok(all)) => all.iter().find(|it| same_id(id_of(it), id)).map_or(Lookup::Missing, Lookup::Found),
        // A 404 on the very resource is an answer, not a failure.
        Some(Err(error)) if error.is_not_found() && ends_with_id(&error.path, id) => Lookup::Missing,
        Some(Err(error)) => Lookup::Failed(error),
        None => Lookup::NotAsked,
    }
}

impl Checker<'_> {
    /// The resource, `Some(None)` when it is missing. `None`: we can't know, which is reported on `field`, with `what`
    /// naming what could not be read.
    fn known<'a, T>(&mut self, field: &str, what: &str, lookup: Lookup<'a, T>) -> Option<Option<&'a T>> {
        match lookup {
            Lookup::Found(found) => return Some(Some(found)),
            Lookup::Missing => return Some(None),
            Lookup::Failed(error) => self.failed(field, what, error),
            Lookup::NotAsked => self.not_asked(field, what),
        }
        None
    }

    fn not_found(&mut self, field: &str, value: &str) {
        self.result.findings.error(Error::not_found(&self.context.path.child(field), value));
    }

    fn invalid(&mut self, field: &str, value: &str, detail: String) {
        self.result.findings.error(Error::invalid(&self.context.path.child(field), value, detail));
    }

    fn failed(&mut self, field: &str, what: &str, error: &ApiError) {
        let detail = format!("could not get {what}: {error}");
        self.result.findings.error(Error::internal(&self.context.path.child(field), detail));
        self.remember(error);
    }

    fn not_asked(&mut self, field: &str, what: &str) {
        let detail = format!("could not get {what}: the observation did not ask for it");
        self.result.findings.error(Error::internal(&self.context.path.child(field), detail));
    }

    fn warn(&mut self, field: &str, detail: String) {
        self.result.findings.warn(&self.context.path.child(field), detail);
    }

    fn remember(&mut self, error: &ApiError) {
        if !self.result.failures.contains(error) {
            self.result.failures.push(error.clone());
        }
    }

    /// The ranges of the pods, both families.
    fn pods(&self) -> Vec<IpNet> {
        let mut pods = self.context.pods.to_vec();
        let ipv6 = self.config.networks.ipv6.as_ref();
        if let Some(range) = ipv6.and_then(|ipv6| ipv6.pod_cidr.parse().ok())
            && !pods.contains(&range)
        {
            pods.push(range);
        }
        pods
    }
}

/// Whether two ids name the same resource. OpenStack prints UUIDs in lower case; people don't always.
fn same_id(left: &str, right: &str) -> bool {
    left.eq_ignore_ascii_case(right)
}

fn ends_with_id(path: &str, id: &str) -> bool {
    path.rsplit('/').next().is_some_and(|last| same_id(last, id))
}

/// A text that is there: an empty one is a static rule's finding already.
fn present(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// The text as Kubernetes quotes values.
fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    quote(text, &mut out);
    out
}
