//! From a document to an object of ours, judged by the rules that need nothing else.

use std::sync::Arc;

use fabric_apis::{
    decode::{self, Document, Kinded, Problem},
    field::{self, ErrorList, Findings, Path},
    gardener::{
        CloudProfile, Cluster, CredentialsBinding, Infrastructure, InternalSecret, NamespacedCloudProfile, Secret,
        SecretBinding, Shoot,
    },
    openstack::v1alpha1::{CloudProfileConfig, InfrastructureConfig},
};
use fabric_infrastructure::{Input, Shoot as ShootFacts, gardener::PROVIDER_CONFIG};
use fabric_validation::openstack::{
    PROVIDER_TYPE,
    admission::{Resolved, Reviewed, entry},
    infrastructure::{self, StaticContext},
    secret,
    shoot::{self, CONFIG_PATH, Examined, ShootInput},
};
use serde_json::Value;

use super::{Beside, Facts, Object, Profile, Report, Subject, admit::Again};

/// Kinds of the provider's API group that are none of ours to judge.
const NEIGHBOURS: [&str; 5] =
    ["ControlPlaneConfig", "WorkerConfig", "WorkerStatus", "InfrastructureStatus", "InfrastructureState"];

/// A `List`, as `kubectl get -o yaml` prints one, gives its items.
pub(super) fn expand(mut document: Document) -> Vec<Document> {
    let is_list = document.kind().ends_with("List");
    let items = match document.value.get_mut("items") {
        Some(Value::Array(items)) if is_list => std::mem::take(items),
        _ => return vec![document],
    };
    let under = |index: usize| format!("items[{index}]");
    items
        .into_iter()
        .enumerate()
        .map(|(index, value)| {
            let duplicates = document.duplicates_under(&under(index)).map(str::to_owned).collect();
            Document { index, value, duplicates }
        })
        .collect()
}

/// Reads and judges one object. `again`: where it stands, should its rules wait for others.
pub(super) fn object(document: Document, again: Again, file: &Arc<str>, facts: &Facts) -> Object {
    let (namespace, name) = (namespace(&document), document.name().to_owned());
    let report = Report {
        file: file.clone(),
        index: document.index,
        kind: document.kind().to_owned(),
        name: if namespace.is_empty() { name.clone() } else { format!("{namespace}/{name}") },
        errors: ErrorList::new(),
        warnings: Vec::new(),
        syntax: None,
        note: None,
        skipped: false,
    };
    let object = Object { report, subject: None, beside: None, login: None, kept: None, again: None };
    let mut reader = Reader { object, again: Some(again), is_change_judged: false, facts, namespace, name };
    if let Err(errors) = reader.read(document) {
        reader.object.report.errors.extend(errors);
    }
    reader.object
}

/// The offer in a document, if it is one.
///
/// # Errors
/// What does not fit.
pub(super) fn profile(document: &Document) -> Result<Option<Profile>, ErrorList> {
    let (namespace, name) = (namespace(document), document.name().to_owned());
    let errors = |error: decode::Error| error.to_field_errors(&Path::nil());
    let (kind, config) = if is::<CloudProfile>(document) {
        let found: CloudProfile = document.lenient().map_err(errors)?;
        (CloudProfile::KIND, found.spec.provider_config)
    } else if is::<NamespacedCloudProfile>(document) {
        let found: NamespacedCloudProfile = document.lenient().map_err(errors)?;
        (NamespacedCloudProfile::KIND, found.provider_config().cloned())
    } else if is::<CloudProfileConfig>(document) {
        (CloudProfileConfig::KIND, Some(document.value.clone()))
    } else {
        return Ok(None);
    };
    let path = if kind == CloudProfileConfig::KIND { Path::nil() } else { Path::new(PROVIDER_CONFIG) };
    let config = config.map(|raw| profile_config(raw, &path)).transpose()?.unwrap_or_default();
    Ok(Some(Profile { kind: kind.to_owned(), namespace, name, config }))
}

fn profile_config(raw: Value, path: &Path<'_>) -> Result<CloudProfileConfig, ErrorList> {
    // Other people's object: fields that we don't know are not our business.
    decode::lenient(&raw).map_err(|error| error.to_field_errors(path))
}

pub(super) fn namespace(document: &Document) -> String {
    let metadata = document.value.get("metadata");
    metadata.and_then(|it| it.get("namespace")).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn is<T: Kinded>(document: &Document) -> bool {
    document.kind() == T::KIND && document.api_version() == T::API_VERSION
}

struct Reader<'a> {
    object: Object,
    again: Option<Again>,
    /// The rules for a change were asked together with all others.
    is_change_judged: bool,
    facts: &'a Facts,
    namespace: String,
    name: String,
}

impl Reader<'_> {
    fn read(&mut self, document: Document) -> Result<(), ErrorList> {
        let version = document.api_version();
        match (document.kind(), version) {
            (InfrastructureConfig::KIND, _) => self.config(&document),
            (Shoot::KIND, Shoot::API_VERSION) => self.shoot(&document),
            (Infrastructure::KIND, Infrastructure::API_VERSION) => self.infrastructure(&document),
            (Cluster::KIND, Cluster::API_VERSION) => self.cluster(document),
            (CloudProfile::KIND | NamespacedCloudProfile::KIND, CloudProfile::API_VERSION) => self.profile(document),
            (CloudProfileConfig::KIND, CloudProfileConfig::API_VERSION) => {
                self.duplicates(&document);
                self.object.beside = profile(&document)?.map(|profile| Beside::Profile(Box::new(profile)));
                Ok(())
            }
            (SecretBinding::KIND, SecretBinding::API_VERSION)
            | (CredentialsBinding::KIND, CredentialsBinding::API_VERSION)
            | (InternalSecret::KIND, InternalSecret::API_VERSION) => {
                self.duplicates(&document);
                self.object.kept = Some(document);
                Ok(())
            }
            ("Secret", "v1") => {
                let judged = self.secret(&document);
                self.object.kept = Some(document);
                judged
            }
            _ => self.other(&document),
        }
    }

    /// An offer. Its rules are asked once everything beside it is read.
    fn profile(&mut self, document: Document) -> Result<(), ErrorList> {
        let provider = document.value.pointer("/spec/type").and_then(Value::as_str).unwrap_or_default();
        if !provider.is_empty() && provider != PROVIDER_TYPE {
            self.skip(format!("its provider is {provider}"));
            return Ok(());
        }
        match profile(&document) {
            Ok(found) => self.object.beside = found.map(|profile| Beside::Profile(Box::new(profile))),
            // The rules for a new object tell the same.
            Err(_) if self.facts.asks_create() => {}
            Err(errors) => return Err(errors),
        }
        self.object.kept = Some(document);
        Ok(())
    }

    fn other(&mut self, document: &Document) -> Result<(), ErrorList> {
        let (kind, version) = (document.kind(), document.api_version());
        let ours = InfrastructureConfig::API_VERSION;
        let group = |version: &str| version.split_once('/').map(|(group, _)| group.to_owned());
        let wrong = |field: &str, value: &str, detail: &str| {
            Err(field::Error::invalid(&Path::new(field), value, detail).into())
        };
        if kind.is_empty() {
            return Err(field::Error::required(&Path::new("kind"), "an object needs apiVersion and kind").into());
        }
        // A misspelt kind must not pass for a stranger's.
        let known = [
            (Shoot::KIND, Shoot::API_VERSION),
            (Infrastructure::KIND, Infrastructure::API_VERSION),
            (Cluster::KIND, Cluster::API_VERSION),
            (CloudProfile::KIND, CloudProfile::API_VERSION),
            (NamespacedCloudProfile::KIND, CloudProfile::API_VERSION),
            (CloudProfileConfig::KIND, CloudProfileConfig::API_VERSION),
            (SecretBinding::KIND, SecretBinding::API_VERSION),
            (CredentialsBinding::KIND, CredentialsBinding::API_VERSION),
        ];
        if let Some((_, wanted)) = known.iter().find(|(name, wanted)| *name == kind && group(wanted) == group(version))
        {
            return wrong("apiVersion", version, &format!("{kind} is known as {wanted}"));
        }
        if version.is_empty() {
            return Err(field::Error::required(&Path::new("apiVersion"), "an object needs apiVersion and kind").into());
        }
        if group(version) == group(ours) && !NEIGHBOURS.contains(&kind) {
            return wrong("kind", kind, &format!("no kind of {ours}; is it InfrastructureConfig?"));
        }
        self.skip("none of the kinds that this command knows".to_owned());
        Ok(())
    }

    fn skip(&mut self, why: String) {
        self.object.report.note = Some(format!("skipped: {why}"));
        self.object.report.skipped = true;
    }

    fn duplicates(&mut self, document: &Document) {
        let problems: Vec<Problem> = document.duplicates.iter().cloned().map(Problem::Duplicate).collect();
        if !problems.is_empty() {
            let error = decode::Error::Fields { strict: true, problems };
            self.object.report.errors.extend(error.to_field_errors(&Path::nil()));
        }
    }

    /// A config that stands alone.
    fn config(&mut self, document: &Document) -> Result<(), ErrorList> {
        let facts = self.facts;
        let config: InfrastructureConfig = match document.strict() {
            Ok(config) => config,
            Err(error) => {
                self.object.report.errors.extend(error.to_field_errors(&Path::nil()));
                // What can be read of it is judged all the same: all findings at once.
                let context =
                    StaticContext { nodes: facts.nodes.as_deref(), ip_families: facts.ip_families.as_deref() };
                self.judge_the_rest(decode::lenient(&document.value), &context, &Path::nil());
                return Ok(());
            }
        };
        let shoot = ShootFacts {
            region: facts.region.clone(),
            nodes: facts.nodes.clone(),
            pods: facts.pods.clone(),
            ip_families: facts.ip_families.clone(),
            ..ShootFacts::default()
        };
        let input = Input::bare(config, shoot);
        if facts.asks_create() {
            let found = infrastructure::validate(&input.config, &input.static_context(), &Path::nil());
            self.object.report.add(found);
        }
        self.subject(input, None, None);
        Ok(())
    }

    fn judge_the_rest(
        &mut self,
        config: Result<InfrastructureConfig, decode::Error>,
        context: &StaticContext<'_>,
        path: &Path<'_>,
    ) {
        if let Ok(config) = config
            && self.facts.asks_create()
        {
            self.object.report.add(infrastructure::validate(&config, context, path));
        }
    }

    fn shoot(&mut self, document: &Document) -> Result<(), ErrorList> {
        let provider = document.value.pointer("/spec/provider/type").and_then(Value::as_str).unwrap_or_default();
        if !provider.is_empty() && provider != PROVIDER_TYPE {
            self.skip(format!("its provider is {provider}"));
            return Ok(());
        }
        // Asked for a change alone, only what is compared counts, which `subject` does.
        let old = self.facts.before(&self.object.report).filter(|_| self.facts.asks_create());
        let reviewed = Reviewed::of(document, old);
        let Examined { findings, input } = shoot::examine(&reviewed, &Resolved::new());
        self.is_change_judged = old.is_some();
        if self.facts.asks_create() {
            self.object.again = self.again.take();
        }
        if self.facts.asks_create() || input.is_none() {
            self.object.report.add(findings);
        }
        let Some(shoot) = input else {
            if shoot::is_workerless(document) {
                self.object.report.note = Some("no workers, hence no infrastructure".to_owned());
            }
            return Ok(());
        };
        let profile = profile_of(&shoot.shoot);
        let mut input = Input::of_shoot(shoot);
        input.shoot.region = input.shoot.region.or_else(|| self.facts.region.clone());
        self.subject(input, profile, None);
        if let Some(subject) = &mut self.object.subject {
            subject.leaves = reviewed.is_in_deletion();
        }
        Ok(())
    }

    fn infrastructure(&mut self, document: &Document) -> Result<(), ErrorList> {
        let reviewed = Reviewed::of(document, self.facts.before(&self.object.report));
        let leaves = reviewed.is_in_deletion() || reviewed.is_unchanged(PROVIDER_CONFIG);
        let found: Infrastructure = document.lenient().map_err(|error| error.to_field_errors(&Path::nil()))?;
        let provider = found.spec.type_.as_str();
        if !provider.is_empty() && provider != PROVIDER_TYPE {
            self.skip(format!("its type is {provider}"));
            return Ok(());
        }
        let Ok(Some(config)) = document.strict_at::<InfrastructureConfig>(PROVIDER_CONFIG) else {
            // What can be read of it is judged all the same: all findings at once.
            if let Some(rules) = entry(Infrastructure::API_VERSION, Infrastructure::KIND) {
                self.object.report.add(rules.open(Reviewed::create(document)).judge(&Resolved::new()));
            }
            return Ok(());
        };
        for duplicate in document.duplicates_outside(PROVIDER_CONFIG) {
            let problems = vec![Problem::Duplicate(duplicate.to_owned())];
            let error = decode::Error::Fields { strict: true, problems };
            self.object.report.errors.extend(error.to_field_errors(&Path::nil()));
        }
        let key = found.spec.ssh_public_key.map(|key| String::from_utf8_lossy(&key.0).trim().to_owned());
        let shoot = ShootFacts {
            technical_id: self.namespace.clone(),
            region: Some(found.spec.region).filter(|region| !region.is_empty()),
            nodes: self.facts.nodes.clone(),
            pods: self.facts.pods.clone(),
            ip_families: self.facts.ip_families.clone(),
            ssh_public_key: key.filter(|key| !key.is_empty()),
            ..ShootFacts::default()
        };
        let state = found.status.and_then(|status| status.state).filter(|state| !state.is_null());
        self.subject(Input { config, profile: None, shoot, path: PROVIDER_CONFIG }, None, state);
        if let Some(subject) = &mut self.object.subject {
            subject.wants_cluster = true;
            subject.leaves = leaves;
        }
        Ok(())
    }

    fn cluster(&mut self, document: Document) -> Result<(), ErrorList> {
        self.duplicates(&document);
        let found: Cluster = document.lenient().map_err(|error| error.to_field_errors(&Path::nil()))?;
        let path = Path::new("spec.shoot");
        let shoot = found.spec.shoot().map_err(|error| error.to_field_errors(&path))?;
        let shoot = ShootInput { shoot, config: InfrastructureConfig::default() };
        shoot.overlay().map_err(|errors| errors.with_prefix(&path))?;
        let mut facts = Input::of_shoot(shoot).shoot;
        facts.technical_id.clone_from(&self.name);
        let path = Path::new("spec.cloudProfile");
        let profile = found.spec.cloud_profile().map_err(|error| error.to_field_errors(&path))?.spec.provider_config;
        let path = path.child(PROVIDER_CONFIG);
        let profile = profile.map(|raw| profile_config(raw, &path)).transpose()?;
        self.object.beside = Some(Beside::Cluster(Box::new((facts, profile))));
        Ok(())
    }

    fn secret(&mut self, document: &Document) -> Result<(), ErrorList> {
        let kind = document.value.get("type").and_then(Value::as_str).unwrap_or("Opaque");
        if kind != "Opaque" {
            self.skip(format!("a secret of type {kind}"));
            return Ok(());
        }
        self.duplicates(document);
        // The reader's own words would quote the value.
        let decoded = decode::lenient::<Secret>(&document.value).map_err(|error| {
            let mut errors = error.to_field_errors(&Path::new("secret"));
            errors = errors
                .into_iter()
                .map(|error| field::Error {
                    value: None,
                    detail: "must be text: base64 in data, plain in stringData, in quotes where it looks like a number"
                        .to_owned(),
                    ..error
                })
                .collect();
            errors
        })?;
        // As at admission, what is on its way out is not judged: at most it is none to log in with.
        let leaves = Reviewed::create(document).is_in_deletion();
        match secret::validate(&decoded).into_result() {
            Err(_) if leaves => return Ok(()),
            judged => judged?,
        }
        let place = format!("{}: Secret {}", self.object.report.file, self.object.report.name);
        // What the rules let pass is text.
        let data = fabric_openstack::config::secret::decode(&place, &document.value)
            .map_err(|error| match error {
                fabric_openstack::Error::Invalid { field, problem, .. } => {
                    field::Error::invalid(&Path::new("secret").child(&field), "(hidden)", problem)
                }
                other => field::Error::internal(&Path::new("secret"), other.to_string()),
            })
            .map_err(ErrorList::from)?;
        self.object.login = Some(super::Login { place, data });
        Ok(())
    }

    /// Keeps what plans and the rules that wait need, and asks the rules for a change.
    fn subject(&mut self, input: Input, profile: Option<(String, String)>, state: Option<Value>) {
        let before = self.facts.old.as_ref().and_then(|old| {
            let report = &self.object.report;
            old.find(&report.kind, &report.name).cloned()
        });
        if self.facts.asks_update() {
            let path = fabric_infrastructure::validate::root(input.path);
            match &before {
                Some(_) if self.is_change_judged => {}
                Some(before) => {
                    let errors = infrastructure::validate_update(&input.config, before, &path);
                    self.object.report.add(Findings { errors, warnings: Vec::new() });
                }
                None if self.facts.rules == Some(super::Rules::Update) => {
                    let detail = "--old holds no object of this kind and name to compare with";
                    self.object.report.errors.push(field::Error::not_found(&Path::nil(), detail));
                }
                None => {
                    let kind = &self.object.report.kind;
                    let detail = format!(
                        "--old holds no {kind} of this name: judged as a new one, without the rules for a change"
                    );
                    self.object.report.warnings.push(field::Warning::new(&Path::new("metadata.name"), detail));
                }
            }
        }
        self.object.subject = Some(Box::new(Subject {
            input,
            name: self.name.clone(),
            namespace: self.namespace.clone(),
            profile,
            before,
            state,
            wants_cluster: false,
            leaves: false,
            is_offer_judged: false,
        }));
    }
}

/// The profile that a shoot names.
fn profile_of(shoot: &Shoot) -> Option<(String, String)> {
    let reference = shoot.spec.cloud_profile.as_ref().map(|it| {
        let kind = if it.kind.is_empty() { CloudProfile::KIND } else { it.kind.as_str() };
        (kind.to_owned(), it.name.clone())
    });
    reference.or_else(|| shoot.spec.cloud_profile_name.clone().map(|name| (CloudProfile::KIND.to_owned(), name)))
}

/// The config in an older object, read without complaint about fields that we don't know.
///
/// # Errors
/// What does not read.
pub(super) fn old_config(document: &Document) -> Result<Option<InfrastructureConfig>, ErrorList> {
    let path = match document.kind() {
        InfrastructureConfig::KIND => {
            return document.lenient().map(Some).map_err(|error| error.to_field_errors(&Path::nil()));
        }
        Shoot::KIND => CONFIG_PATH,
        Infrastructure::KIND => PROVIDER_CONFIG,
        _ => return Ok(None),
    };
    let found = path.split('.').try_fold(&document.value, |value, key| value.get(key));
    match found {
        None | Some(Value::Null) => Ok(None),
        Some(raw) => decode::lenient(raw).map(Some).map_err(|error| error.to_field_errors(&Path::new(path))),
    }
}

/// `namespace/name`, or what of it there is.
pub(super) fn full_name(document: &Document) -> String {
    match (namespace(document).as_str(), document.name()) {
        ("", name) => name.to_owned(),
        (namespace, name) => format!("{namespace}/{name}"),
    }
}
