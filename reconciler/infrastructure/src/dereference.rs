//! Gathers what a reconcile is about: the config, the profile, and the facts of the shoot around it.

use fabric_apis::{
    gardener::IpFamily,
    openstack::v1alpha1::{CloudProfileConfig, InfrastructureConfig},
};
use fabric_validation::openstack::{
    infrastructure::StaticContext,
    shoot::{CONFIG_PATH, ShootInput},
};

/// What is known of the shoot around a config.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shoot {
    /// The technical ID: the namespace in the seed, and the name of all that is made.
    pub technical_id: String,
    /// The shoot's uid; outside Gardener one that the state keeps.
    pub uid: String,
    /// The region.
    pub region: Option<String>,
    /// `spec.networking.nodes`.
    pub nodes: Option<String>,
    /// `spec.networking.pods`.
    pub pods: Option<String>,
    /// `spec.networking.services`.
    pub services: Option<String>,
    /// `spec.networking.ipFamilies`; `None`: not known, `networks.ipv6` decides.
    pub ip_families: Option<Vec<IpFamily>>,
    /// The pod network runs without an overlay.
    pub overlay_off: bool,
    /// The nodes' SSH key in OpenSSH form; `None`: SSH access is disabled.
    pub ssh_public_key: Option<String>,
}

/// Everything that a reconcile starts from.
#[derive(Clone, Debug)]
pub struct Input {
    /// What the user asks for.
    pub config: InfrastructureConfig,
    /// What the operator offers.
    pub profile: Option<CloudProfileConfig>,
    /// For whom.
    pub shoot: Shoot,
    /// Where the config stands in the user's object, before each path in a finding. Empty: alone.
    pub path: &'static str,
}

impl Input {
    /// A config that stands alone.
    pub fn bare(config: InfrastructureConfig, shoot: Shoot) -> Self {
        Self { config, profile: None, shoot, path: "" }
    }

    /// A config inside a Shoot. The overlay setting must have been validated; one that does not read counts as on.
    pub fn of_shoot(input: ShootInput) -> Self {
        let own = |text: Option<&str>| text.map(str::to_owned);
        let shoot = Shoot {
            technical_id: input.shoot.technical_id(),
            uid: input.shoot.status.as_ref().map(|status| status.uid.clone()).unwrap_or_default(),
            region: Some(input.shoot.spec.region.clone()).filter(|region| !region.is_empty()),
            nodes: own(input.nodes()),
            pods: own(input.pods()),
            services: own(input.services()),
            ip_families: Some(input.ip_families().to_vec()),
            overlay_off: input.overlay().ok().flatten() == Some(false),
            ssh_public_key: None,
        };
        Self { config: input.config, profile: None, shoot, path: CONFIG_PATH }
    }

    /// What the static rules need to know.
    pub fn static_context(&self) -> StaticContext<'_> {
        StaticContext { nodes: self.shoot.nodes.as_deref(), ip_families: self.shoot.ip_families.as_deref() }
    }

    /// Whether the shoot has an IPv6 side: the config describes one, and the shoot, where it is known, has the family.
    pub fn is_dual_stack(&self) -> bool {
        let families = self.shoot.ip_families.as_ref();
        self.config.networks.ipv6.is_some() && families.is_none_or(|families| families.contains(&IpFamily::Ipv6))
    }
}
