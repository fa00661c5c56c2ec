//! The dynamic rules at admission: the controller's own, in a time box, with a word for what could not be checked.
//!
//! ```text
//!  object, profile, secret ─► subject ─► sessions (one client a login) ─► Listings (seconds) ─► prepare ─► told
//!                               └ why not ─────────────────────── time is over, cloud fails ─► a warning ┘
//! ```

mod clouds;
mod listings;
mod subject;
mod told;

use std::sync::Arc;
use std::time::{Duration, Instant};

use fabric_apis::field::{ErrorType, Findings, Path};
use fabric_infrastructure::{Failure, Input, State, prepare};
use fabric_openstack::RetryPolicy;
use fabric_validation::openstack::admission::{Entry, Resolved, Reviewed};
use fabric_validation::openstack::check::Checked;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use crate::fetch::{Fetch, resolve};
use clouds::Clouds;

pub use listings::Listings;

/// What the dynamic rules may do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Mode {
    /// They are not asked.
    #[default]
    Off,
    /// What they find is told as a warning.
    Warn,
    /// What they find refuses the object; what could not be checked is told as a warning.
    Enforce,
}

/// The longest time box. With [`crate::handler`]'s time for other objects it stays below a webhook's 10 s.
pub const LONGEST: Duration = Duration::from_secs(6);

/// The dynamic rules of one program.
pub struct Dynamic {
    enforce: bool,
    time: Duration,
    clouds: Clouds,
    checks: Family<Labels, Histogram>,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Labels {
    outcome: &'static str,
}

/// Where one check is about, and with what.
struct Subject {
    input: Input,
    credentials: fabric_openstack_types::credentials::Credentials,
}

/// Why an object can't be checked against its cloud, for the person who wrote it.
type Unchecked = String;

impl Dynamic {
    /// The rules in this mode, each check in a time box of at most [`LONGEST`]; `None` when they are off.
    ///
    /// Registers `admission_dynamic_check_duration_seconds{outcome}` (`clean`, `found`, `unchecked`). Calls to clouds are
    /// counted in `openstack`.
    pub fn new(
        mode: Mode,
        time: Duration,
        openstack: fabric_openstack::Metrics,
        registry: &mut Registry,
    ) -> Option<Self> {
        if mode == Mode::Off {
            return None;
        }
        let time = time.min(LONGEST);
        // 1 ms … 8 s: from all listings known to past the time box.
        let checks: Family<Labels, Histogram> =
            Family::new_with_constructor(|| Histogram::new(exponential_buckets(0.001, 2.0, 14)));
        registry.register_with_unit(
            "admission_dynamic_check_duration",
            "Time of checks against the cloud",
            Unit::Seconds,
            checks.clone(),
        );
        let options = fabric_openstack::Options {
            // A service that hangs costs its own findings, not those of the others: what has answered is judged.
            request_timeout: time.mul_f64(0.4),
            retry: RetryPolicy {
                attempts: 2,
                base: Duration::from_millis(100),
                longest: Duration::from_millis(200),
                total: time.mul_f64(0.2),
                in_use: Duration::ZERO,
            },
            metrics: Some(openstack),
            ..fabric_openstack::Options::default()
        };
        Some(Self { enforce: mode == Mode::Enforce, time, clouds: Clouds::new(options), checks })
    }

    /// What the cloud says about an object that the static rules like. Ends before `end`.
    pub(crate) async fn review(
        &self,
        entry: &Entry,
        reviewed: &Reviewed<'_>,
        resolved: &mut Resolved,
        fetch: &dyn Fetch,
        end: Instant,
    ) -> Findings {
        let Some(about) = subject::About::of(entry, reviewed) else { return Findings::default() };
        let begun = Instant::now();
        resolve(fetch, end, resolved, |resolved| about.references(resolved)).await;
        let path = about.path();
        let result = match about.subject(resolved) {
            Ok(subject) => self.check(&subject, end.min(Instant::now() + self.time)).await,
            Err(why) => Err(why),
        };
        let (outcome, findings) = match result {
            Ok(checked) => told::told(checked, self.enforce, &path),
            Err(why) => ("unchecked", told::unchecked(&why, &path)),
        };
        self.checks.get_or_create(&Labels { outcome }).observe(begun.elapsed().as_secs_f64());
        findings
    }

    async fn check(&self, subject: &Subject, end: Instant) -> Result<Checked, Unchecked> {
        match tokio::time::timeout_at(end.into(), self.ask(subject)).await {
            Ok(result) => result,
            Err(_elapsed) => Err(format!("the cloud did not answer within {:?}", self.time)),
        }
    }

    async fn ask(&self, subject: &Subject) -> Result<Checked, Unchecked> {
        let (client, listings) = self.clouds.open(&subject.credentials).await.map_err(|error| error.to_string())?;
        let (mut checked, remembered) = look(client.clone(), &listings, &subject.input).await?;
        if is_wrong(&checked) {
            // Who is told to mend something in the cloud will look again in a moment; and what is wrong by an older
            // look may have been mended already.
            listings.forget();
            if remembered {
                checked = look(client, &listings, &subject.input).await?.0;
                if is_wrong(&checked) {
                    listings.forget();
                }
            }
        }
        Ok(checked)
    }
}

/// Whether the specification and the cloud don't fit, by what is known.
fn is_wrong(checked: &Checked) -> bool {
    checked.findings.errors.iter().any(|error| error.kind != ErrorType::InternalError)
}

/// One look, and whether a part of it was an older one's.
async fn look(
    client: fabric_openstack::Client,
    listings: &Arc<Listings>,
    input: &Input,
) -> Result<(Checked, bool), Unchecked> {
    let cloud = listings::Remembering::new(client, Arc::clone(listings));
    match prepare(&cloud, input, &State::default()).await {
        Ok(prepared) => Ok((prepared.checked, cloud.has_remembered())),
        Err(Failure::Invalid(findings)) => Err(format!("it can't be read: {}", findings.errors)),
        // Looking ends before anything is planned or changed.
        Err(Failure::Checks(checked)) => Ok((checked, cloud.has_remembered())),
        Err(failure @ (Failure::Plan(_) | Failure::Apply(_))) => Err(failure.to_string()),
    }
}

/// A path of a field of the reviewed object.
fn path_of(text: &'static str) -> Path<'static> {
    Path::new(text)
}
