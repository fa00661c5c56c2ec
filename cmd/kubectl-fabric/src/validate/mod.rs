//! `infra validate`: every finding about every object, all at once.

mod dynamic;
pub(crate) mod show;

use std::path::{Path, PathBuf};

use fabric_apis::gardener::IpFamily;
use fabric_validation::cidr::Cidr;

use crate::{
    exit::{Exit, Result, Stop},
    input::Files,
    objects::{self, Facts, Old, Rules},
    output::{self, Output, Paint},
};

/// The arguments.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    files: Files,
    /// The objects before the change; asks the rules for a change too
    #[arg(long, value_name = "FILE")]
    old: Option<PathBuf>,
    /// Which rules to ask; by default those for a new object, and with --old those for a change
    #[arg(long)]
    rules: Option<Rules>,
    #[command(flatten)]
    around: Around,
    /// Also look into the cloud: do the given resources exist, and do they fit? Needs credentials
    #[arg(long)]
    dynamic: bool,
    #[command(flatten)]
    cloud: crate::cloud::CloudArgs,
    #[command(flatten)]
    output: Output,
}

/// Facts that a bare InfrastructureConfig does not hold.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct Around {
    /// CIDR of the nodes, for an object that doesn't say
    #[arg(long, value_name = "CIDR", value_parser = cidr)]
    pub(crate) nodes: Option<String>,
    /// Address families, for an object that doesn't say
    #[arg(long, value_name = "FAMILIES", value_delimiter = ',', value_parser = family)]
    pub(crate) ip_families: Option<Vec<IpFamily>>,
    /// Region, for an object that doesn't say
    #[arg(long, value_name = "NAME")]
    pub(crate) region: Option<String>,
    /// The operator's CloudProfile, NamespacedCloudProfile or CloudProfileConfig
    #[arg(long, value_name = "FILE")]
    pub(crate) cloud_profile: Option<PathBuf>,
    /// Keystone domain, for floating pools that a CloudProfile limits to one; a Secret tells it too
    #[arg(long, value_name = "NAME")]
    pub(crate) domain: Option<String>,
}

impl Around {
    /// As the rules want them.
    ///
    /// # Errors
    /// A profile or a secret that cannot be read.
    pub(crate) fn facts(&self, secret: Option<&Path>) -> Result<Facts> {
        let login = secret.map(objects::login).transpose()?;
        let domain = self.domain.clone().or_else(|| login.and_then(|login| login.domain().map(str::to_owned)));
        let profile = self.cloud_profile.as_deref().map(objects::profile).transpose()?;
        Ok(Facts {
            nodes: self.nodes.clone(),
            ip_families: self.ip_families.clone(),
            region: self.region.clone(),
            profile,
            domain,
            ..Facts::default()
        })
    }
}

/// A range, as the manifests would have to write it.
///
/// # Errors
/// What is wrong with it.
pub(crate) fn cidr(text: &str) -> Result<String, String> {
    match Cidr::parse(text) {
        None => Err("a range like 10.250.0.0/16".to_owned()),
        Some(cidr) if !cidr.is_canonical() => Err(format!("the range is {}", cidr.network())),
        Some(_) => Ok(text.to_owned()),
    }
}

fn family(text: &str) -> Result<IpFamily, String> {
    match text.trim().to_ascii_lowercase().as_str() {
        "ipv4" | "4" => Ok(IpFamily::Ipv4),
        "ipv6" | "6" => Ok(IpFamily::Ipv6),
        _ => Err("IPv4, IPv6 or both, separated by a comma".to_owned()),
    }
}

/// Runs the command.
///
/// # Errors
/// What keeps it from judging at all.
pub(crate) fn run(args: &ValidateArgs, paint: Paint) -> Result<Exit> {
    if args.rules == Some(Rules::Update) && args.old.is_none() {
        return Err(
            Stop::usage("--rules update compares with the object before the change").next("give it with --old FILE")
        );
    }
    let mut facts = args.around.facts(args.cloud.secret.as_deref())?;
    facts.rules = args.rules;
    facts.old = args.old.as_deref().map(Old::read).transpose()?;
    let sources = args.files.sources()?;
    let mut objects = objects::load(&sources, &facts)?;
    if objects.iter().all(|object| object.report.skipped) {
        let what = "nothing to validate: no InfrastructureConfig, Shoot, Infrastructure, CloudProfile or Secret found";
        return Err(Stop::error(what).next("check the files given with -f"));
    }
    if args.dynamic {
        dynamic::check(&args.cloud, &mut objects, &facts)?;
    }
    let reports: Vec<_> = objects.into_iter().map(|object| object.report).collect();
    if args.output.is_table() {
        output::print(&show::table(&reports, paint))?;
    } else {
        let judged: Vec<_> = reports.iter().filter(|report| !report.skipped).collect();
        output::structured(args.output.format, &judged)?;
    }
    let valid = reports.iter().all(|report| report.errors.is_empty());
    Ok(if valid { Exit::Ok } else { Exit::Error })
}
