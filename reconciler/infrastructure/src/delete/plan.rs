//! What goes and what stays. Pure.

use fabric_openstack::RouterInterface;
use fabric_openstack_types::{
    ErrorClass, Evidence, Given, Owned,
    compute::KeyPair,
    ids::{RouterId, SubnetId},
    load_balancer::LoadBalancer,
    network::{Network, Router, SecurityGroup, Subnet},
    observed::Observed,
    share::ShareNetwork,
};

use super::{
    balancers,
    blockers::{self, Blocker, Ours},
    doubles::{Doubles, doubles},
    routes::{self, RoutesRemoval},
};
use crate::{
    error::Error,
    find::Identified,
    plan::{
        need,
        own::{immutable, our_network, our_router, our_security_group, our_share_network, our_subnet},
        project,
    },
    state::{Key, State},
    target::{self, Ipv6, Role, Source, Target},
};

/// What happens to a thing, or why that cannot be told: a failed listing stops only what needs it.
pub type Planned<T> = Result<T, Error>;

/// What happens to a resource.
#[derive(Clone, Debug)]
pub enum Removal<T> {
    /// The user's: it stays.
    Stays(Given<T>),
    /// It is not there: never made, gone already, or a given one that its owner removed.
    Absent,
    /// Ours: it goes.
    Remove(Owned<T>),
}

impl<T> Removal<T> {
    /// What goes.
    pub fn owned(&self) -> Option<&Owned<T>> {
        match self {
            Self::Remove(owned) => Some(owned),
            Self::Stays(_) | Self::Absent => None,
        }
    }

    /// The resource, whoever owns it.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Stays(given) => Some(given.get()),
            Self::Remove(owned) => Some(owned.get()),
            Self::Absent => None,
        }
    }

    pub(super) fn into_owned(self) -> Option<Owned<T>> {
        match self {
            Self::Remove(owned) => Some(owned),
            Self::Stays(_) | Self::Absent => None,
        }
    }
}

/// A subnet, and the interface that the node router has on it.
#[derive(Clone, Debug)]
pub struct SubnetRemoval {
    /// What the subnet is for.
    pub role: Role,
    /// The subnet. In a network of ours it goes with the network.
    pub subnet: Planned<Removal<Subnet>>,
    /// The interface, if there is one; never on a given subnet (decision D4).
    pub interface: Planned<Option<Owned<RouterInterface>>>,
}

/// What a deletion does.
#[derive(Clone, Debug)]
pub struct DeletePlan {
    /// This shoot's load balancers on the node subnets.
    pub load_balancers: Planned<Vec<Owned<LoadBalancer>>>,
    /// This shoot's pod routes on the node router, also on a given one.
    pub routes: Planned<Option<RoutesRemoval>>,
    /// The subnets with their interfaces, in the order of the status.
    pub subnets: Vec<SubnetRemoval>,
    /// The node network.
    pub network: Planned<Removal<Network>>,
    /// The node router.
    pub router: Planned<Removal<Router>>,
    /// The nodes' security group.
    pub security_group: Planned<Removal<SecurityGroup>>,
    /// The nodes' key pair: never given.
    pub key_pair: Planned<Option<Owned<KeyPair>>>,
    /// The share network.
    pub share_network: Planned<Removal<ShareNetwork>>,
    /// What was made twice.
    pub doubles: Doubles,
    /// What others put where ours is to go, as far as it is known by now. It is told, never touched.
    pub blockers: Vec<Blocker>,
    pub(super) ours: Ours,
}

/// Decides what goes. `seen` was observed for a deletion.
///
/// # Errors
/// Nothing at all can be told: the credentials are not accepted, or the specification calls something ours that was
/// the user's before, or the other way round. What concerns one resource alone stays inside the plan.
pub fn plan_delete(target: &Target, seen: &Observed, state: &State) -> Result<DeletePlan, Vec<Error>> {
    let edited = immutable(target, state);
    if !edited.is_empty() {
        return Err(edited);
    }
    let project = project(seen).map_err(|error| vec![error])?;
    let network = network(target, seen, state);
    let router = router(target, seen, state);
    let subnets = subnets(target, seen, state, &network, &router);
    let routes = routes::plan(target, seen, state, &router, &subnets);
    let load_balancers = balancers::plan(target, seen, &subnets);
    let share_network = share_network(target, seen, state);
    let security_group = security_group(target, seen, state);
    let doubles = Doubles {
        networks: doubles(target, &project, &seen.networks, &network),
        routers: doubles(target, &project, &seen.routers, &router),
        security_groups: doubles(target, &project, &seen.security_groups, &security_group),
        share_networks: doubles(target, &project, &seen.share_networks, &share_network),
    };
    let ours = Ours::of(target, seen, &router, &subnets, &load_balancers, &share_network);
    let mut blockers = blockers::known_foreign_subnets(target, seen, state, &network);
    blockers.extend(blockers::foreign_ports(seen, &ours, &network, &subnets));
    Ok(DeletePlan {
        load_balancers,
        routes,
        subnets,
        network,
        router,
        security_group,
        key_pair: key_pair(target, seen, state),
        share_network,
        doubles,
        blockers,
        ours,
    })
}

/// Whatever the marks of a resource say: an id that the specification gives is not ours.
fn judged<T: Identified>(target: &Target, found: Option<Owned<T>>) -> Removal<T> {
    match found {
        None => Removal::Absent,
        Some(owned) if gives(target, owned.get().id()) => Removal::Stays(Given::new(owned.get().clone())),
        Some(owned) => Removal::Remove(owned),
    }
}

/// Whether the specification names this id, in whatever field.
pub(super) fn gives(target: &Target, id: &str) -> bool {
    let ids = [
        target.network.given().map(|id| id.as_str()),
        target.router.given().map(|id| id.as_str()),
        target.subnet.given().map(|id| id.as_str()),
        target.ipv6.as_ref().and_then(Ipv6::given).map(|id| id.as_str()),
        target.security_group.given().map(|id| id.as_str()),
        match &target.share_network {
            target::ShareNetwork::Given(id) => Some(id.as_str()),
            target::ShareNetwork::None | target::ShareNetwork::Own => None,
        },
    ];
    ids.contains(&Some(id))
}

/// A given resource that is not there, or not to be seen, is no obstacle.
fn given<T: Identified>(listed: Option<&Vec<T>>, id: &str) -> Removal<T> {
    let found = listed.into_iter().flatten().find(|it| it.id() == id);
    found.map_or(Removal::Absent, |it| Removal::Stays(Given::new(it.clone())))
}

fn network(target: &Target, seen: &Observed, state: &State) -> Planned<Removal<Network>> {
    if let Source::Given(id) = &target.network {
        return Ok(given(Observed::ok(&seen.networks), id.as_str()));
    }
    let found = our_network(target, state, seen)?;
    // Without the network's subnets its shape is half seen.
    if found.as_ref().is_some_and(|it| it.evidence() == Evidence::Shape) {
        need(&seen.subnets, "the list of subnets")?;
    }
    Ok(judged(target, found))
}

fn router(target: &Target, seen: &Observed, state: &State) -> Planned<Removal<Router>> {
    if let Source::Given(id) = &target.router {
        return Ok(given(Observed::ok(&seen.routers), id.as_str()));
    }
    let found = our_router(target, state, seen)?;
    // Without the external networks its shape is half seen.
    if found.as_ref().is_some_and(|it| it.evidence() == Evidence::Shape) {
        need(&seen.external_networks, "the list of external networks")?;
    }
    Ok(judged(target, found))
}

fn security_group(target: &Target, seen: &Observed, state: &State) -> Planned<Removal<SecurityGroup>> {
    match &target.security_group {
        Source::Given(id) => Ok(given(Observed::ok(&seen.security_groups), id.as_str())),
        Source::Own => Ok(judged(target, our_security_group(target, state, seen)?)),
    }
}

/// The one with our name in our user, as the specification has it: always ours.
fn key_pair(target: &Target, seen: &Observed, state: &State) -> Planned<Option<Owned<KeyPair>>> {
    let found = need(&seen.key_pair, "the key pair")?.filter(|pair| pair.name == target.name());
    let known = state.get(Key::KeyPair) == Some(target.name());
    Ok(found.map(|pair| Owned::by(if known { Evidence::State } else { Evidence::Shape }, pair)))
}

/// One that was made goes, also when the specification wants none any longer.
fn share_network(target: &Target, seen: &Observed, state: &State) -> Planned<Removal<ShareNetwork>> {
    let known = state.get(Key::ShareNetwork).is_some() && !state.is_given(Key::ShareNetwork);
    match (&target.share_network, &seen.share_networks) {
        (target::ShareNetwork::Given(id), listed) => Ok(given(Observed::ok(listed), id.as_str())),
        // Nobody wants one, and we know of none: what cannot be looked for keeps nothing back.
        (target::ShareNetwork::None, None | Some(Err(_))) if !known => Ok(Removal::Absent),
        (target::ShareNetwork::None, Some(Ok(_))) if !known => {
            // Only what carries our mark: whatever else has the name is somebody's.
            let found = our_share_network(target, state, seen)?;
            Ok(judged(target, found.filter(|it| it.evidence() != Evidence::Shape)))
        }
        // A cloud without Manila holds none; it is missed only if we remember one.
        (_, Some(Err(error))) if error.class == ErrorClass::NoEndpoint && !known => Ok(Removal::Absent),
        (target::ShareNetwork::None | target::ShareNetwork::Own, _) => {
            Ok(judged(target, our_share_network(target, state, seen)?))
        }
    }
}

fn subnets(
    target: &Target,
    seen: &Observed,
    state: &State,
    network: &Planned<Removal<Network>>,
    router: &Planned<Removal<Router>>,
) -> Vec<SubnetRemoval> {
    let given_ids =
        [(Role::Nodes, target.subnet.given()), (Role::NodesIpv6, target.ipv6.as_ref().and_then(Ipv6::given))];
    let own = target.own_subnets();
    let removal = |role: Role| {
        if let Some(id) = given_ids.iter().find(|(of, id)| *of == role && id.is_some()).and_then(|(_, id)| *id) {
            let subnet = given(Observed::ok(&seen.subnets), id.as_str());
            return Some(SubnetRemoval { role, subnet: Ok(subnet), interface: Ok(None) });
        }
        let subnet = own_subnet(target, seen, state, network, role);
        // What the specification no longer has goes too, if it was made once: an IPv6 side.
        let remembered = state.get(Key::subnet(role)).is_some() && !state.is_given(Key::subnet(role));
        let found = subnet.as_ref().is_ok_and(|subnet| subnet.owned().is_some());
        if !own.contains(&role) && !remembered && !found {
            return None;
        }
        let interface = interface(target, seen, router, &subnet);
        Some(SubnetRemoval { role, subnet, interface })
    };
    Role::ALL.into_iter().filter_map(removal).collect()
}

fn own_subnet(
    target: &Target,
    seen: &Observed,
    state: &State,
    network: &Planned<Removal<Network>>,
    role: Role,
) -> Planned<Removal<Subnet>> {
    // An own network that could not be looked up hides its subnets.
    if let Err(error) = network {
        return Err(error.clone());
    }
    Ok(judged(target, our_subnet(target, state, seen, role)?))
}

/// The interface of the node router, also of a given one, on a subnet of ours (decision D4).
fn interface(
    target: &Target,
    seen: &Observed,
    router: &Planned<Removal<Router>>,
    subnet: &Planned<Removal<Subnet>>,
) -> Planned<Option<Owned<RouterInterface>>> {
    let Removal::Remove(subnet) = subnet.as_ref().map_err(Clone::clone)? else { return Ok(None) };
    let Some(router) = node_router(target, router)? else { return Ok(None) };
    let ports = need(&seen.router_ports, "the router's ports")?;
    let attached = ports
        .iter()
        .any(|port| port.is_router_interface() && port.device_id == router.as_str() && port.is_on(&subnet.get().id));
    Ok(attached.then(|| subnet.clone().map(|subnet| RouterInterface { router, subnet: subnet.id })))
}

/// The node router's id; for a given one no listing is needed.
pub(super) fn node_router(target: &Target, router: &Planned<Removal<Router>>) -> Planned<Option<RouterId>> {
    match &target.router {
        Source::Given(id) => Ok(Some(id.clone())),
        Source::Own => {
            let router = router.as_ref().map_err(Clone::clone)?;
            Ok(router.owned().map(|owned| owned.get().id.clone()))
        }
    }
}

/// The node subnets' ids, given or ours; for given ones no listing is needed.
pub(super) fn node_subnet_ids(target: &Target, subnets: &[SubnetRemoval]) -> Planned<Vec<SubnetId>> {
    let given = [target.subnet.given(), target.ipv6.as_ref().and_then(Ipv6::given)];
    let mut ids: Vec<SubnetId> = given.into_iter().flatten().cloned().collect();
    for it in subnets.iter().filter(|it| matches!(it.role, Role::Nodes | Role::NodesIpv6)) {
        ids.extend(it.subnet.as_ref().map_err(Clone::clone)?.owned().map(|owned| owned.get().id.clone()));
    }
    Ok(ids)
}

impl DeletePlan {
    /// Whether nothing of ours is left, as far as everything could be looked up.
    pub fn is_empty(&self) -> bool {
        self.problems().is_empty() && !self.removes_anything()
    }

    fn removes_anything(&self) -> bool {
        fn goes<T>(removal: &Planned<Removal<T>>) -> bool {
            removal.as_ref().is_ok_and(|it| it.owned().is_some())
        }
        self.load_balancers.as_ref().is_ok_and(|all| !all.is_empty())
            || matches!(self.routes, Ok(Some(_)))
            || matches!(self.key_pair, Ok(Some(_)))
            || self.subnets.iter().any(|it| goes(&it.subnet) || matches!(it.interface, Ok(Some(_))))
            || goes(&self.network)
            || goes(&self.router)
            || goes(&self.security_group)
            || goes(&self.share_network)
            || !self.doubles.is_empty()
    }

    /// Why parts of it cannot be told; each reason once.
    pub fn problems(&self) -> Vec<&Error> {
        fn problem<T>(planned: &Planned<T>) -> Option<&Error> {
            planned.as_ref().err()
        }
        let subnets = self.subnets.iter().flat_map(|it| [problem(&it.subnet), problem(&it.interface)]);
        let all = [
            problem(&self.load_balancers),
            problem(&self.routes),
            problem(&self.network),
            problem(&self.router),
            problem(&self.security_group),
            problem(&self.key_pair),
            problem(&self.share_network),
        ];
        let mut told = std::collections::BTreeSet::new();
        all.into_iter().chain(subnets).flatten().filter(|error| told.insert(error.to_string())).collect()
    }
}
