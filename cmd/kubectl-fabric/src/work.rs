//! What `plan`, `apply`, `drift`, `delete`, `status` and `topology` have in common: one shoot, one cloud, one state.

use std::path::{Path, PathBuf};

use fabric_apis::field::Warning;
use fabric_infrastructure::{Key, State};

use crate::{
    cloud::{CloudArgs, Place, Session},
    exit::{Exit, Result, Stop},
    failure::Faults,
    input::Files,
    objects::{self, Login, Object, Subject},
    output::{self, Output, Paint},
    state_file,
    validate::{Around, show},
};

/// The shoot, by its objects and by what a bare config does not say; the cloud; the state.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ShootArgs {
    #[command(flatten)]
    pub(crate) files: Files,
    /// Technical ID for a bare InfrastructureConfig: the name of everything that is made (shoot--project--name).
    /// With several shoots in the files: the one that is meant
    #[arg(long, value_name = "NAME")]
    pub(crate) name: Option<String>,
    #[command(flatten)]
    pub(crate) around: Around,
    /// CIDR of the pods, for an object that doesn't say
    #[arg(long, value_name = "CIDR", value_parser = crate::validate::cidr)]
    pub(crate) pods: Option<String>,
    /// Public key for the workers, in OpenSSH form; without one nobody can log in to them
    #[arg(long, value_name = "FILE")]
    pub(crate) ssh_key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cloud: CloudArgs,
    /// State of this shoot; by default below $XDG_STATE_HOME/openstack-fabric, by cloud and technical ID
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
}

/// Everything that a command works with.
pub(crate) struct Work {
    pub(crate) subject: Subject,
    pub(crate) session: Session,
    pub(crate) state_path: PathBuf,
    /// Warnings of the rules that need no cloud.
    pub(crate) warnings: Vec<Warning>,
}

impl Work {
    /// Reads the objects, chooses shoot, cloud and place of the state. `verb`: the command, if it changes something.
    ///
    /// # Errors
    /// An object with errors, which are shown; no shoot, or several; no cloud.
    pub(crate) async fn begin(args: &ShootArgs, verb: Option<&str>, output: Output, paint: Paint) -> Result<Self> {
        let (mut subject, login, warnings) = args.subject(output, paint)?;
        if let Some(path) = &args.ssh_key {
            subject.input.shoot.ssh_public_key = Some(public_key(path)?);
        }
        let place = Place {
            profile: subject.input.profile.as_ref(),
            region: subject.input.shoot.region.as_deref(),
            login: login.as_ref(),
            verb,
        };
        let session = Session::open(&args.cloud, &place).await?;
        let state_path = match &args.state {
            Some(path) => path.clone(),
            None => state_file::default_path(&session.label, &subject.input.shoot.technical_id)?,
        };
        Ok(Self { subject, session, state_path, warnings })
    }

    /// The state as it was saved, else the one that the Infrastructure object brings. The shoot's uid is settled: its
    /// own, the remembered one, or a new one. Whether the state was there at all comes beside it.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(crate) fn recall(&mut self) -> Result<(State, bool)> {
        let saved = state_file::read(&self.state_path)?;
        let brought =
            || self.subject.state.as_ref().map(|raw| state_file::parse(raw.to_string().as_bytes())).transpose();
        let known = match saved {
            Some(state) => Some(state),
            None => brought().map_err(|error| Stop::error(format!("status.state: {error}")))?,
        };
        let id = &self.subject.input.shoot.technical_id;
        // Every shoot has a key pair, and it is called like the shoot: a state under a wrong name would be forgotten.
        if let Some(owner) = known.as_ref().and_then(|state| state.get(Key::KeyPair)).filter(|owner| owner != id) {
            let what = format!("state {}: it is of {owner}, not of {id}", self.state_path.display());
            return Err(Stop::error(what).next("name the state of this shoot with --state, or leave it out"));
        }
        let there = known.is_some();
        let mut state = known.unwrap_or_default();
        let uid = &mut self.subject.input.shoot.uid;
        if uid.is_empty() {
            *uid = state.get(Key::Uid).map_or_else(|| uuid::Uuid::new_v4().to_string(), str::to_owned);
            state.set(Key::Uid, uid.clone());
        }
        Ok((state, there))
    }

    /// `shoot on cloud (region)`.
    pub(crate) fn title(&self) -> String {
        format!("{} on {}", self.subject.input.shoot.technical_id, self.session.name())
    }

    /// Calls and logins so far.
    pub(crate) fn calls(&self) -> String {
        let stats = self.session.client.stats();
        format!(
            "{}, {}",
            output::count(to_usize(stats.calls), "API call"),
            output::count(to_usize(stats.tokens), "login")
        )
    }
}

fn to_usize(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl ShootArgs {
    fn subject(&self, output: Output, paint: Paint) -> Result<(Subject, Option<Login>, Vec<Warning>)> {
        let mut facts = self.around.facts(self.cloud.secret.as_deref())?;
        facts.pods.clone_from(&self.pods);
        let objects = objects::load(&self.files.sources()?, &facts)?;
        refuse_invalid(&objects, output, paint)?;
        let mut logins: Vec<Login> = Vec::new();
        let mut subjects: Vec<(Subject, Vec<Warning>)> = Vec::new();
        for object in objects {
            if let Some(subject) = object.subject {
                subjects.push((*subject, object.report.warnings));
            }
            logins.extend(object.login);
        }
        for (subject, _) in &mut subjects {
            name(subject, self.name.as_deref())?;
        }
        let (subject, warnings) = choose(subjects, self.name.as_deref())?;
        let login = if logins.len() == 1 { logins.pop() } else { None };
        Ok((subject, login, warnings))
    }
}

/// Shows what is wrong with the objects; nothing is done then.
fn refuse_invalid(objects: &[Object], output: Output, paint: Paint) -> Result<()> {
    let mut text = String::new();
    for object in objects.iter().filter(|object| !object.report.errors.is_empty()) {
        show::block(&object.report, paint.errors(), &mut text);
    }
    if text.is_empty() {
        return Ok(());
    }
    if !output.is_table() {
        let faults = objects.iter().flat_map(|object| Faults::fields(&object.report.errors, &[]).errors);
        output::structured(output.format, &Faults { errors: faults.collect(), interrupted: false })?;
    }
    output::tell(text.trim_end());
    Err(Stop::error("nothing was done, because the objects have errors").next("correct them and run again"))
}

/// The technical ID: a bare config's comes from the command line.
fn name(subject: &mut Subject, given: Option<&str>) -> Result<()> {
    let shoot = &mut subject.input.shoot;
    if shoot.technical_id.is_empty() && subject.input.path.is_empty() {
        let missing = || {
            Stop::usage("a bare InfrastructureConfig does not say for which shoot it is")
                .next("give --name shoot--PROJECT--NAME")
        };
        given.ok_or_else(missing)?.clone_into(&mut shoot.technical_id);
    }
    let id = &shoot.technical_id;
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if id.is_empty() || id.len() > 63 || !id.chars().all(fits) || id.starts_with('-') || id.ends_with('-') {
        return Err(Stop::usage(format!("{id:?} is no technical ID"))
            .next("use at most 63 lower-case letters, digits and hyphens, as in shoot--project--name"));
    }
    if id.starts_with("shoot----") {
        return Err(Stop::error(format!("Shoot {}: metadata.namespace is missing", subject.name))
            .next("set it to garden-PROJECT; the technical ID is made of project and name"));
    }
    Ok(())
}

fn choose(mut all: Vec<(Subject, Vec<Warning>)>, named: Option<&str>) -> Result<(Subject, Vec<Warning>)> {
    // A Shoot and its Infrastructure are one shoot, and the Infrastructure is what the extension is handed.
    let handed: Vec<String> = all
        .iter()
        .filter(|(subject, _)| subject.wants_cluster)
        .map(|(subject, _)| subject.input.shoot.technical_id.clone())
        .collect();
    all.retain(|(subject, _)| subject.wants_cluster || !handed.contains(&subject.input.shoot.technical_id));
    if let Some(named) = named {
        let meant = |subject: &Subject| subject.input.shoot.technical_id == named || subject.name == named;
        let ids: Vec<String> = all.iter().map(|(subject, _)| subject.input.shoot.technical_id.clone()).collect();
        all.retain(|(subject, _)| meant(subject));
        if all.is_empty() && !ids.is_empty() {
            let what = format!("no shoot {named:?} in the files: they have {}", some(&ids));
            return Err(Stop::error(what).next("choose one of these with --name"));
        }
    }
    match (all.pop(), all.as_slice()) {
        (Some(only), []) => Ok(only),
        (None, _) => Err(Stop::error("no InfrastructureConfig, Shoot with workers or Infrastructure in the files")
            .next("check the files given with -f")),
        (Some((last, _)), others) => {
            let names = others.iter().map(|(subject, _)| subject).chain([&last]);
            let names: Vec<String> = names.map(|subject| subject.input.shoot.technical_id.clone()).collect();
            Err(Stop::usage(format!("the files describe {} shoots: {}", names.len(), some(&names)))
                .next("choose one with --name, or give fewer files"))
        }
    }
}

/// The first names of a list that may be as long as a landscape.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 12;
    let more = names.len().saturating_sub(SHOWN);
    let shown: Vec<&str> = names.iter().take(SHOWN).map(String::as_str).collect();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn public_key(path: &Path) -> Result<String> {
    let stop = |what: &str| {
        Stop::error(format!("--ssh-key {}: {what}", path.display()))
            .next("give the public half, as in ~/.ssh/id_ed25519.pub")
    };
    let text = std::fs::read_to_string(path).map_err(|error| stop(&crate::input::plain(&error)))?;
    if text.contains("PRIVATE KEY") {
        return Err(stop("that is a private key"));
    }
    let line = text.trim();
    let known = ["ssh-", "ecdsa-", "sk-"].iter().any(|prefix| line.starts_with(prefix));
    if !known || line.lines().count() != 1 || line.split_whitespace().count() < 2 {
        return Err(stop("no OpenSSH public key"));
    }
    Ok(line.to_owned())
}

/// Runs the asynchronous part of a command.
///
/// # Errors
/// What the command says; no runtime.
pub(crate) fn block_on(work: impl Future<Output = Result<Exit>>) -> Result<Exit> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
    runtime.map_err(|error| Stop::error(format!("cannot start: {error}")))?.block_on(work)
}
