//! The external network and the node router.

use std::net::IpAddr;

use fabric_openstack_types::{
    Given, Owned,
    ids::{NetworkId, SubnetId},
    network::{ExternalGateway, FixedIp, NewRouter, Router, RouterUpdate, Subnet},
    observed::Observed,
};

use super::{
    FloatingPool,
    items::{Change, Item},
    need,
    own::{is_adopted, lost_description, our_router},
};
use crate::{
    error::Error,
    pattern::Pattern,
    state::{Key, State},
    target::{Source, Target},
};

/// What happens to the node router.
#[derive(Clone, Debug)]
pub enum RouterStep {
    /// The user's.
    Use(Given<Router>),
    /// Ours, with what differs.
    Have {
        /// The router.
        router: Owned<Router>,
        /// What is put right; nothing set: it is as it should be.
        update: RouterUpdate,
        /// External subnets for a new gateway, as in [`RouterStep::Create`].
        subnets: Vec<SubnetId>,
        /// It was made by somebody before us.
        adopted: bool,
    },
    /// It has to be made. Its gateway is set beside the interfaces: each takes Neutron half a second, and neither
    /// needs the other.
    Create {
        /// The router, without a gateway yet.
        new: NewRouter,
        /// The gateway; it has no fixed addresses yet.
        gateway: ExternalGateway,
        /// External subnets to try one after the other, an exhausted one gives way to the next;
        /// empty: Neutron chooses.
        subnets: Vec<SubnetId>,
    },
}

impl RouterStep {
    /// The router, if it is there.
    pub fn router(&self) -> Option<&Router> {
        match self {
            Self::Use(given) => Some(given.get()),
            Self::Have { router, .. } => Some(router.get()),
            Self::Create { .. } => None,
        }
    }

    /// The gateway that a router to be made gets, and the external subnets to try.
    pub(crate) fn new_gateway(&self) -> Option<(ExternalGateway, Vec<SubnetId>)> {
        match self {
            Self::Create { gateway, subnets, .. } => Some((gateway.clone(), subnets.clone())),
            Self::Use(_) | Self::Have { .. } => None,
        }
    }

    /// Its external addresses, as far as they are known.
    pub fn external_ips(&self) -> Vec<IpAddr> {
        self.router().map(Router::external_ips).unwrap_or_default()
    }

    pub(super) fn item(&self, target: &Target) -> Item {
        match self {
            Self::Use(given) => Item::given("router", given.get().id.as_str(), &given.get().name, "networks.router.id"),
            Self::Create { new, .. } => Item::create("router", &new.name),
            Self::Have { router, update, adopted, .. } => {
                let changes = changes(router.get(), update);
                Item::owned("router", router.get().id.as_str(), target.name(), *adopted, changes)
            }
        }
    }
}

fn changes(found: &Router, update: &RouterUpdate) -> Vec<Option<Change>> {
    let gateway = update.external_gateway_info.as_ref().map(|wanted| {
        let text = |gateway: Option<&ExternalGateway>| match gateway {
            None => "none".to_owned(),
            Some(gateway) => {
                let snat = gateway.enable_snat.map(|snat| format!(" enable_snat={snat}")).unwrap_or_default();
                format!("{}{snat}", gateway.network_id)
            }
        };
        Change::of("external_gateway_info", text(found.external_gateway_info.as_ref()), text(Some(wanted)))
    });
    vec![
        update.name.as_ref().map(|name| Change::of("name", &found.name, name)),
        update.description.as_ref().map(|text| Change::of("description", &found.description, text)),
        update.admin_state_up.map(|up| Change::of("admin_state_up", found.admin_state_up, up)),
        gateway,
    ]
}

/// The one external network of the floating pool's name.
pub(super) fn floating_pool(target: &Target, seen: &Observed) -> Result<FloatingPool, Error> {
    let networks = need(&seen.external_networks, "the list of external networks")?;
    let mut matching = networks.iter().filter(|network| network.name == target.floating_pool);
    match (matching.next(), matching.count()) {
        (Some(pool), 0) => Ok(FloatingPool { id: pool.id.clone(), name: pool.name.clone() }),
        (Some(_), more) => Err(Error::Configuration {
            field: "floatingPoolName",
            problem: format!("duplicate external network name: {} ({})", target.floating_pool, more + 1),
        }),
        (None, _) => {
            let known: Vec<&str> = networks.iter().map(|network| network.name.as_str()).collect();
            Err(Error::Configuration {
                field: "floatingPoolName",
                problem: format!(
                    "external network for floating pool name {} not found; this cloud has: {}",
                    target.floating_pool,
                    known.join(", ")
                ),
            })
        }
    }
}

pub(super) fn plan(
    target: &Target,
    seen: &Observed,
    state: &State,
    pool: Option<&FloatingPool>,
) -> Result<RouterStep, Error> {
    if let Source::Given(id) = &target.router {
        let routers = need(&seen.routers, "the list of routers")?;
        let router = routers.into_iter().find(|router| router.id == *id).ok_or_else(|| Error::MissingGiven {
            field: "networks.router.id",
            what: "router",
            id: id.to_string(),
        })?;
        if router.external_ips().is_empty() {
            return Err(Error::Configuration {
                field: "networks.router.id",
                problem: format!("router {id} has no external address; set its external gateway, then run again"),
            });
        }
        return Ok(RouterStep::Use(Given::new(router)));
    }
    let found = our_router(target, state, seen)?;
    let pool = pool.ok_or(Error::Unknown("the external network"))?;
    match found {
        Some(router) => have(target, seen, state, router, pool),
        None => create(target, seen, pool),
    }
}

fn have(
    target: &Target,
    seen: &Observed,
    state: &State,
    router: Owned<Router>,
    pool: &FloatingPool,
) -> Result<RouterStep, Error> {
    let found = router.get();
    let gateway = found.external_gateway_info.as_ref();
    let reached = leads_to(found, &pool.id);
    let fits =
        reached && gateway.is_some_and(|gateway| target.use_snat.is_none_or(|snat| gateway.enable_snat == Some(snat)));
    // The addresses that the router has stay: passing them on keeps them when only SNAT changes.
    let keep = gateway.filter(|_| reached);
    let wanted = ExternalGateway {
        network_id: pool.id.clone(),
        enable_snat: target.use_snat,
        external_fixed_ips: keep.map(|gateway| gateway.external_fixed_ips.clone()).unwrap_or_default(),
    };
    let update = RouterUpdate {
        name: (found.name != target.name()).then(|| target.name().to_owned()),
        description: lost_description(target, found, target.marker.description()),
        admin_state_up: (!found.admin_state_up).then_some(true),
        external_gateway_info: (!fits).then_some(wanted),
    };
    let subnets = if reached { Vec::new() } else { external_subnets(target, seen)? };
    let adopted = is_adopted(target, state, Key::Router, &router);
    Ok(RouterStep::Have { router, update, subnets, adopted })
}

/// Whether the router has an address of this external network.
pub(crate) fn leads_to(router: &Router, pool: &NetworkId) -> bool {
    let gateway = router.external_gateway_info.as_ref();
    gateway.is_some_and(|gateway| gateway.network_id == *pool) && !router.external_ips().is_empty()
}

/// The external subnets that the specification asks for; none: any.
fn external_subnets(target: &Target, seen: &Observed) -> Result<Vec<SubnetId>, Error> {
    match &target.floating_subnet {
        None => Ok(Vec::new()),
        Some(pattern) => matching(pattern, &need(&seen.external_subnets, "the list of external subnets")?),
    }
}

fn create(target: &Target, seen: &Observed, pool: &FloatingPool) -> Result<RouterStep, Error> {
    let subnets = external_subnets(target, seen)?;
    let gateway =
        ExternalGateway { network_id: pool.id.clone(), enable_snat: target.use_snat, external_fixed_ips: Vec::new() };
    let new = NewRouter {
        name: target.name().to_owned(),
        description: target.marker.description(),
        admin_state_up: true,
        external_gateway_info: None,
    };
    Ok(RouterStep::Create { new, gateway, subnets })
}

fn matching(pattern: &str, subnets: &[Subnet]) -> Result<Vec<SubnetId>, Error> {
    let field = "floatingPoolSubnetName";
    let matcher = Pattern::parse(pattern).map_err(|problem| Error::Configuration { field, problem })?;
    let named = subnets.iter().filter(|subnet| !subnet.name.is_empty());
    let ids: Vec<SubnetId> = named.filter(|subnet| matcher.matches(&subnet.name)).map(|s| s.id.clone()).collect();
    if ids.is_empty() {
        let names: Vec<&str> = subnets.iter().map(|subnet| subnet.name.as_str()).collect();
        let problem = format!("no subnet found matching {pattern:?}; the floating pool has: {}", names.join(", "));
        return Err(Error::Configuration { field, problem });
    }
    Ok(ids)
}

/// The gateway with an address on one external subnet.
pub(crate) fn on_subnet(gateway: &ExternalGateway, subnet: &SubnetId) -> ExternalGateway {
    let fixed = FixedIp { subnet_id: subnet.clone(), ip_address: None };
    ExternalGateway { external_fixed_ips: vec![fixed], ..gateway.clone() }
}
