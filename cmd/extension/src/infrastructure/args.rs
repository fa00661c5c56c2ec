//! The controller's flags, spelled as Gardener's extensions spell theirs.

use std::time::Duration;

use fabric_webhooks::program::Seconds;

/// Flags of the infrastructure controller.
#[derive(Clone, Debug, clap::Args)]
#[group(id = "infrastructure")]
pub(crate) struct Args {
    /// How many Infrastructures are worked on at a time
    #[arg(long = "infrastructure-max-concurrent-reconciles", default_value_t = 5, value_name = "NUMBER")]
    concurrency: u16,
    /// Act on every change of a specification, not only when gardenlet asks for it by annotation
    #[arg(long = "ignore-operation-annotation", default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    ignore_operation: bool,
    /// Classes of Infrastructures that are served
    #[arg(long = "extension-classes", default_value = "shoot", value_delimiter = ',', value_name = "NAMES")]
    classes: Vec<String>,
    /// Controllers that are not run; there is one: infrastructure
    #[arg(long, value_delimiter = ',', value_name = "NAMES", value_parser = ["infrastructure"])]
    disable_controllers: Vec<String>,
    /// How often an infrastructure that nobody changes is compared with the cloud, about; 0s: never
    #[arg(long, default_value = "3600s", value_name = "DURATION")]
    drift_interval: Seconds,
    /// Put right what has drifted of what is ours; without it a person asks for it by annotation
    #[arg(long, default_value_t = false, action = clap::ArgAction::Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    repair_drift: bool,
}

/// What the flags say.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) concurrency: u16,
    pub(crate) ignore_operation: bool,
    pub(crate) classes: Vec<String>,
    pub(crate) drift_interval: Option<Duration>,
    pub(crate) repair_drift: bool,
}

impl Args {
    /// The controller's settings; `None`: it is not run.
    pub(crate) fn settings(self) -> Option<Settings> {
        if !self.disable_controllers.is_empty() {
            return None;
        }
        Some(Settings {
            concurrency: self.concurrency.max(1),
            ignore_operation: self.ignore_operation,
            classes: self.classes,
            drift_interval: Some(Duration::from(self.drift_interval)).filter(|every| !every.is_zero()),
            repair_drift: self.repair_drift,
        })
    }
}
