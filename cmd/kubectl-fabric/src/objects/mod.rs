//! The objects in the input: read in parallel, judged by the rules that need nothing else, then joined with what
//! stands beside them.
//!
//! ```text
//!   sources ─► pool (threads) ─► read: Document ─► Object { Report, Subject?, Beside? }
//!                                                      ├─► admit: profiles, bindings, shoots ─► Report
//!                                                      └─► join: Cluster, CloudProfile ─► Report, Subject
//! ```
//!
//! A file that is neither YAML nor JSON gives one report, and none of its objects counts.

mod admit;
mod join;
mod old;
mod pool;
mod read;

use std::{collections::BTreeMap, sync::Arc};

use fabric_apis::{
    decode::Document,
    field::{Error as FieldError, ErrorList, Findings, Warning},
    gardener::IpFamily,
    openstack::v1alpha1::{CloudProfileConfig, InfrastructureConfig},
};
use fabric_infrastructure::Input;
use serde::Serialize;

use crate::{exit::Result, input::Source};

pub(crate) use old::Old;

/// What was found out about one object.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The file, as it was named.
    #[serde(serialize_with = "text")]
    pub(crate) file: Arc<str>,
    /// The object's place in the file, from 0.
    pub(crate) index: usize,
    /// Its kind; empty for a file that could not be read.
    pub(crate) kind: String,
    /// `name` or `namespace/name`.
    pub(crate) name: String,
    /// What refuses it.
    pub(crate) errors: ErrorList,
    /// What looks wrong.
    pub(crate) warnings: Vec<Warning>,
    /// Where the file breaks, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) syntax: Option<Syntax>,
    /// Why there was nothing to judge (a shoot without workers).
    #[serde(skip)]
    pub(crate) note: Option<String>,
    /// Nobody looked at it: it is another kind, or another provider's.
    #[serde(skip)]
    pub(crate) skipped: bool,
}

fn text<S: serde::Serializer>(text: &Arc<str>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(text)
}

/// Where a file breaks.
#[derive(Debug, Serialize)]
pub(crate) struct Syntax {
    pub(crate) line: usize,
    pub(crate) column: usize,
    #[serde(skip)]
    pub(crate) message: String,
    /// The bytes, to show the place.
    #[serde(skip)]
    pub(crate) bytes: Arc<Vec<u8>>,
}

impl Report {
    pub(crate) fn add(&mut self, findings: Findings) {
        self.errors.extend(findings.errors);
        self.warnings.extend(findings.warnings);
    }
}

/// A shoot's infrastructure, from whichever object described it.
#[derive(Clone, Debug)]
pub(crate) struct Subject {
    /// Everything a reconcile starts from.
    pub(crate) input: Input,
    /// The object's name, without namespace; empty for a bare config.
    pub(crate) name: String,
    /// The object's namespace.
    pub(crate) namespace: String,
    /// The profile that the shoot names: kind, name.
    pub(crate) profile: Option<(String, String)>,
    /// The config before the change, with `--old`.
    pub(crate) before: Option<InfrastructureConfig>,
    /// `Infrastructure.status.state`.
    pub(crate) state: Option<serde_json::Value>,
    /// Whether rules wait for the facts of a `Cluster`.
    pub(crate) wants_cluster: bool,
    /// No rule is for the object: it is in deletion, or as it was.
    pub(crate) leaves: bool,
    /// What it asks for was compared with the operator's offer.
    pub(crate) is_offer_judged: bool,
}

/// What other objects need.
#[derive(Debug)]
pub(crate) enum Beside {
    /// Facts of a shoot, by its technical ID, and its profile.
    Cluster(Box<(fabric_infrastructure::Shoot, Option<CloudProfileConfig>)>),
    /// An offer, by kind, namespace and name.
    Profile(Box<Profile>),
}

/// An offer of the operator.
#[derive(Clone, Debug)]
pub(crate) struct Profile {
    pub(crate) kind: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) config: CloudProfileConfig,
}

/// One object of the input.
#[derive(Debug)]
pub(crate) struct Object {
    pub(crate) report: Report,
    pub(crate) subject: Option<Box<Subject>>,
    pub(crate) beside: Option<Beside>,
    /// A secret that one can log in with.
    pub(crate) login: Option<Login>,
    /// The object itself, where others refer to it or its rules wait for others.
    pub(crate) kept: Option<Document>,
    /// A Shoot whose rules wait for others.
    again: Option<admit::Again>,
}

/// The data of a cloudprovider secret.
#[derive(Clone)]
pub(crate) struct Login {
    /// The file and the secret's name, for messages.
    pub(crate) place: String,
    pub(crate) data: BTreeMap<String, String>,
}

impl Login {
    /// The Keystone domain of user and project.
    pub(crate) fn domain(&self) -> Option<&str> {
        self.data.get("domainName").map(String::as_str).filter(|domain| !domain.is_empty())
    }
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("place", &self.place).finish_non_exhaustive()
    }
}

/// Which rules are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Rules {
    /// Those for a new object.
    Create,
    /// Those for a change.
    Update,
    /// Both.
    All,
}

/// What the rules are told beside the objects.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Which rules; `None`: those for a new object, and with `old` those for a change.
    pub(crate) rules: Option<Rules>,
    /// The objects before the change.
    pub(crate) old: Option<Old>,
    /// `spec.networking.nodes`, for objects that don't say.
    pub(crate) nodes: Option<String>,
    /// `spec.networking.pods`, likewise.
    pub(crate) pods: Option<String>,
    /// `spec.networking.ipFamilies`, likewise.
    pub(crate) ip_families: Option<Vec<IpFamily>>,
    /// The region, likewise.
    pub(crate) region: Option<String>,
    /// The Keystone domain that floating pools may be limited to.
    pub(crate) domain: Option<String>,
    /// The offer that counts for every object.
    pub(crate) profile: Option<CloudProfileConfig>,
}

impl Facts {
    fn asks_create(&self) -> bool {
        self.rules != Some(Rules::Update)
    }

    /// The object before the change, where the rules for a change are asked.
    fn before(&self, report: &Report) -> Option<&Document> {
        self.old.as_ref().filter(|_| self.asks_update())?.document(&report.kind, &report.name)
    }

    fn asks_update(&self) -> bool {
        match self.rules {
            None | Some(Rules::All) => self.old.is_some(),
            Some(Rules::Update) => true,
            Some(Rules::Create) => false,
        }
    }
}

/// Reads and judges every object, in the order of the sources.
///
/// # Errors
/// None about an object: those are in the reports.
pub(crate) fn load(sources: &[Source], facts: &Facts) -> Result<Vec<Object>> {
    let mut objects = pool::read_all(sources, facts);
    if facts.asks_create() {
        admit::judge(&mut objects, facts);
    }
    join::join(&mut objects, facts);
    Ok(objects)
}

/// Reads the offer in the file given with `--cloud-profile`: a CloudProfile, a NamespacedCloudProfile, or the bare
/// CloudProfileConfig.
///
/// # Errors
/// When the file cannot be read or holds none, or several.
pub(crate) fn profile(path: &std::path::Path) -> Result<CloudProfileConfig> {
    let stop = |what: String| {
        crate::exit::Stop::error(format!("{}: {what}", path.display()))
            .next("--cloud-profile takes a CloudProfile, a NamespacedCloudProfile or a CloudProfileConfig")
    };
    let source = Source::File(path.to_owned());
    let bytes = source.read().map_err(&stop)?;
    let documents = fabric_apis::decode::documents("", &bytes).map_err(|error| stop(syntax_text(&error)))?;
    let mut found = Vec::new();
    for document in documents.into_iter().flat_map(crate::objects::read::expand) {
        if let Some(profile) = read::profile(&document).map_err(|errors| stop(errors.to_string()))? {
            found.push(profile.config);
        }
    }
    match (found.pop(), found.len()) {
        (Some(config), 0) => Ok(config),
        (None, _) => Err(stop("holds no profile".to_owned())),
        (Some(_), more) => Err(stop(format!("holds {} profiles, one is needed", more + 1))),
    }
}

/// Reads the secret given with `--secret`.
///
/// # Errors
/// When the file holds no valid cloudprovider secret, or several.
pub(crate) fn login(path: &std::path::Path) -> Result<Login> {
    use crate::exit::Stop;
    let next = "--secret takes Gardener's cloudprovider Secret, as `kubectl get secret -o yaml` prints it";
    let objects = load(&[Source::File(path.to_owned())], &Facts::default())?;
    let stop = |what: String| Stop::error(format!("{}: {what}", path.display())).next(next);
    let told = |error: &FieldError| if error.field == "<nil>" { error.detail.clone() } else { error.to_string() };
    let errors: Vec<String> = objects.iter().flat_map(|object| &object.report.errors).map(told).collect();
    if !errors.is_empty() {
        return Err(stop(errors.join("; ")));
    }
    let mut logins: Vec<Login> = objects.into_iter().filter_map(|object| object.login).collect();
    match (logins.pop(), logins.len()) {
        (Some(login), 0) => Ok(login),
        (None, _) => Err(stop("holds no Secret".to_owned())),
        (Some(_), more) => Err(stop(format!("holds {} secrets, one is needed", more + 1))),
    }
}

/// A decoding error without the (empty) name of the source.
fn syntax_text(error: &fabric_apis::decode::Error) -> String {
    match error {
        fabric_apis::decode::Error::Syntax { line, column, message, .. } => {
            format!("line {line}, column {column}: {message}")
        }
        other => other.to_string(),
    }
}
