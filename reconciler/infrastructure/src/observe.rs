//! One look at the cloud, for the dynamic rules and the plan alike (decision D9).
//!
//! What the state remembers is asked for by its name, so that a look costs the same in a project of five hundred shoots;
//! only what is not found like that is looked for in whole lists. A deletion always looks at those.
//!
//! Two rounds, each as parallel as the credential's limit allows: first all that the specification and the state
//! let us ask, then what needs an id that only the first round knows. A settled shoot needs one round.

use std::collections::BTreeSet;

use fabric_openstack::{Cloud, Query};
use fabric_openstack_types::{
    Service,
    ids::{NetworkId, ProjectId, RouterId, SubnetId},
    load_balancer::LoadBalancer,
    network::{Network, Router, SecurityGroup, SubnetPool},
    observed::{Observed, Queried},
};
use futures::future::try_join_all;

use crate::{
    find::Identified,
    plan::{
        own::{our_network, our_router, our_subnet},
        router::leads_to,
    },
    state::{Key, State},
    target::{Ipv6, NodeSubnet, Role, ShareNetwork, Source, Target},
};

/// What the observation is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Checks, a plan, drift.
    Reconcile,
    /// A deletion: also who else uses the network, our load balancers and our servers.
    Delete,
}

/// Looks at everything that matters for `target`. Failures stay beside the query that failed.
pub async fn observe(cloud: &dyn Cloud, target: &Target, state: &State, purpose: Purpose) -> Observed {
    let mut seen = Observed::default();
    let project = match cloud.project_id().await {
        Ok(project) => project,
        Err(error) => {
            seen.project = Some(Err(error));
            return seen;
        }
    };
    first_round(cloud, target, state, &project, purpose, &mut seen).await;
    seen.project = Some(Ok(project));
    second_round(cloud, target, state, &mut seen).await;
    if purpose == Purpose::Delete {
        deletion_round(cloud, target, state, &mut seen).await;
    }
    seen
}

/// The node network's id, as far as it is known: given, remembered, or found.
pub fn network_id(target: &Target, state: &State, seen: &Observed) -> Option<NetworkId> {
    match &target.network {
        Source::Given(id) => Some(id.clone()),
        Source::Own => match &seen.networks {
            Some(_) => our_network(target, state, seen).ok().flatten().map(|found| found.get().id.clone()),
            None => state.get(Key::Network).map(NetworkId::new),
        },
    }
}

/// The node router's id, as far as it is known.
pub fn router_id(target: &Target, state: &State, seen: &Observed) -> Option<RouterId> {
    match &target.router {
        Source::Given(id) => Some(id.clone()),
        Source::Own => match &seen.routers {
            Some(_) => our_router(target, state, seen).ok().flatten().map(|found| found.get().id.clone()),
            None => state.get(Key::Router).map(RouterId::new),
        },
    }
}

async fn first_round(
    cloud: &dyn Cloud,
    target: &Target,
    state: &State,
    project: &ProjectId,
    purpose: Purpose,
    seen: &mut Observed,
) {
    let blank = Observed::default();
    let network = network_id(target, state, &blank);
    let router = router_id(target, state, &blank);
    // A deletion asks as if nothing were remembered: for whole lists.
    let forgotten = State::default();
    let known = if purpose == Purpose::Reconcile { state } else { &forgotten };
    let networks = all_networks(cloud, target, known, project);
    let subnets = async {
        match &network {
            Some(id) => Some(cloud.subnets(&Query::network(id)).await),
            None => None,
        }
    };
    let routers = async { Some(routers(cloud, target, known, project).await) };
    let ports = async {
        match &router {
            Some(id) => Some(cloud.ports(&Query::device(id.as_str())).await),
            None => None,
        }
    };
    let groups = async { Some(security_groups(cloud, target, known, project).await) };
    let key_pair = async { Some(cloud.key_pair(target.name()).await) };
    let shares =
        async { if target.share_network == ShareNetwork::None { None } else { Some(cloud.share_networks().await) } };
    let pools = subnet_pools(cloud, target);
    (
        (seen.external_networks, seen.networks),
        seen.subnets,
        seen.routers,
        seen.router_ports,
        seen.security_groups,
        seen.key_pair,
        seen.share_networks,
        seen.subnet_pools,
    ) = futures::join!(networks, subnets, routers, ports, groups, key_pair, shares, pools);
}

/// The external networks, and those that ours is looked for among.
type Networks = (Option<Queried<Vec<Network>>>, Option<Queried<Vec<Network>>>);

async fn all_networks(cloud: &dyn Cloud, target: &Target, known: &State, project: &ProjectId) -> Networks {
    if let Some(settled) = settled_networks(cloud, target, known).await {
        return settled;
    }
    let external = Query::external();
    let (external, own) = futures::join!(cloud.networks(&external), networks(cloud, target, project));
    (Some(external), Some(own))
}

/// One call for both where the node network is known: by the names of both, so that a pool's name that is there twice is
/// seen. None when one of them is not among the answer, renamed for example; then both are looked for.
async fn settled_networks(cloud: &dyn Cloud, target: &Target, known: &State) -> Option<Networks> {
    let id = network_id(target, known, &Observed::default())?;
    let name = if target.network.is_own() { target.name() } else { known.get(Key::NetworkName)? };
    let named = Query::all().and("name", &target.floating_pool).and("name", name);
    let (external, found) = match cloud.networks(&named).await {
        Ok(networks) => networks.into_iter().partition::<Vec<_>, _>(|network| network.external),
        Err(error) => return Some((Some(Err(error.clone())), Some(Err(error)))),
    };
    let both = external.iter().any(|network| network.name == target.floating_pool)
        && found.iter().any(|network| network.id == id);
    both.then_some((Some(Ok(external)), Some(Ok(found))))
}

async fn networks(cloud: &dyn Cloud, target: &Target, project: &ProjectId) -> Queried<Vec<Network>> {
    match &target.network {
        Source::Given(id) => cloud.networks(&Query::id(id.as_str())).await,
        Source::Own => cloud.networks(&Query::project(project)).await,
    }
}

/// Whether what was asked for by name is what the state remembers, or what asking for more would not find either.
fn holds<T: Identified>(found: &Queried<Vec<T>>, id: &str) -> bool {
    found.as_ref().map_or(true, |all| all.iter().any(|it| it.id() == id))
}

async fn routers(cloud: &dyn Cloud, target: &Target, known: &State, project: &ProjectId) -> Queried<Vec<Router>> {
    if let Source::Given(id) = &target.router {
        return cloud.routers(&Query::id(id.as_str())).await;
    }
    let all = Query::project(project);
    if let Some(id) = known.get(Key::Router) {
        let named = cloud.routers(&all.clone().and("name", target.name())).await;
        if holds(&named, id) {
            return named;
        }
    }
    cloud.routers(&all).await
}

/// All of a name, since a name must be unique in the project; a given one of another project is asked for by id.
async fn security_groups(
    cloud: &dyn Cloud,
    target: &Target,
    known: &State,
    project: &ProjectId,
) -> Queried<Vec<SecurityGroup>> {
    let own = target.security_group.is_own();
    let name = if own { Some(target.name()) } else { known.get(Key::SecurityGroupName) };
    let id = target.security_group.given().map(|id| id.as_str()).or(known.get(Key::SecurityGroup));
    if let (Some(id), Some(name)) = (id, name) {
        let mut named = cloud.security_groups(&Query::all().and("name", name)).await;
        if holds(&named, id) {
            if let Ok(groups) = &mut named {
                groups.retain(|group| group.project_id == *project || group.id.as_str() == id);
            }
            return named;
        }
    }
    let mut groups = cloud.security_groups(&Query::project(project)).await?;
    if let Source::Given(id) = &target.security_group
        && !groups.iter().any(|group| group.id == *id)
    {
        groups.extend(cloud.security_groups(&Query::id(id.as_str())).await?);
    }
    Ok(groups)
}

async fn subnet_pools(cloud: &dyn Cloud, target: &Target) -> Option<Queried<Vec<SubnetPool>>> {
    let v4 = match &target.subnet {
        NodeSubnet::Pool { id, .. } => Some(id),
        NodeSubnet::Given(_) | NodeSubnet::Cidr(_) => None,
    };
    let v6 = match &target.ipv6 {
        Some(Ipv6::Pool(id)) => Some(id),
        _ => None,
    };
    let ids: Vec<_> = v4.into_iter().chain(v6).collect();
    if ids.is_empty() {
        return None;
    }
    let queries = ids.iter().map(|id| Query::id(id.as_str())).collect::<Vec<_>>();
    let found = try_join_all(queries.iter().map(|query| cloud.subnet_pools(query))).await;
    Some(found.map(|lists| lists.into_iter().flatten().collect()))
}

async fn second_round(cloud: &dyn Cloud, target: &Target, state: &State, seen: &mut Observed) {
    let blank = Observed::default();
    let network = network_id(target, state, seen).filter(|id| Some(id) != network_id(target, state, &blank).as_ref());
    let router = router_id(target, state, seen).filter(|id| Some(id) != router_id(target, state, &blank).as_ref());
    let pool = external_network(target, seen).filter(|pool| needs_gateway(target, state, seen, pool));
    let subnets = async {
        match &network {
            Some(id) => Some(cloud.subnets(&Query::network(id)).await),
            None => None,
        }
    };
    let ports = async {
        match &router {
            Some(id) => Some(cloud.ports(&Query::device(id.as_str())).await),
            None => None,
        }
    };
    let external = async {
        match &pool {
            Some(id) => Some(cloud.subnets(&Query::network(id)).await),
            None => None,
        }
    };
    let (subnets, ports, external) = futures::join!(subnets, ports, external);
    seen.subnets = subnets.or(seen.subnets.take());
    seen.router_ports = ports.or(seen.router_ports.take());
    seen.external_subnets = external;
}

fn external_network(target: &Target, seen: &Observed) -> Option<NetworkId> {
    let pool = Observed::ok(&seen.external_networks)?.iter().find(|network| network.name == target.floating_pool)?;
    Some(pool.id.clone())
}

/// Whether our router gets a gateway whose external subnet matters.
fn needs_gateway(target: &Target, state: &State, seen: &Observed, pool: &NetworkId) -> bool {
    let leads_out =
        || our_router(target, state, seen).is_ok_and(|found| found.is_some_and(|it| leads_to(it.get(), pool)));
    target.router.is_own() && target.floating_subnet.is_some() && !leads_out()
}

/// Who else uses the network, and what Kubernetes made on it.
async fn deletion_round(cloud: &dyn Cloud, target: &Target, state: &State, seen: &mut Observed) {
    let network = network_id(target, state, seen);
    let subnets = node_subnets(target, state, seen);
    let ports = async {
        match &network {
            Some(id) => Some(cloud.ports(&Query::network(id)).await),
            None => None,
        }
    };
    let servers = async { Some(cloud.servers(&format!("{}-", target.name())).await) };
    let balancers = load_balancers(cloud, &subnets);
    let shares = async {
        // One that was made before the specification stopped wanting it; the state may have been lost since.
        if seen.share_networks.is_none() { Some(cloud.share_networks().await) } else { None }
    };
    let (ports, servers, balancers, shares) = futures::join!(ports, servers, balancers, shares);
    seen.network_ports = ports;
    seen.servers = servers;
    seen.load_balancers = balancers;
    seen.share_networks = shares.or(seen.share_networks.take());
}

/// The node subnets' ids: given, found, or remembered.
fn node_subnets(target: &Target, state: &State, seen: &Observed) -> BTreeSet<SubnetId> {
    let given = [target.subnet.given(), target.ipv6.as_ref().and_then(Ipv6::given)];
    let mut ids: BTreeSet<SubnetId> = given.into_iter().flatten().cloned().collect();
    // Also an IPv6 side that the specification no longer has.
    for role in [Role::Nodes, Role::NodesIpv6].into_iter().filter(|role| !target.gives_subnet(*role)) {
        ids.extend(state.get(Key::subnet(role)).map(SubnetId::new));
        ids.extend(our_subnet(target, state, seen, role).ok().flatten().map(|found| found.get().id.clone()));
    }
    ids
}

/// None without a subnet that one could stand on, and in a cloud without Octavia.
async fn load_balancers(cloud: &dyn Cloud, subnets: &BTreeSet<SubnetId>) -> Option<Queried<Vec<LoadBalancer>>> {
    if subnets.is_empty() {
        return None;
    }
    match cloud.has(Service::LoadBalancer).await {
        Ok(true) => {}
        Ok(false) => return None,
        Err(error) => return Some(Err(error)),
    }
    let queries: Vec<Query> = subnets.iter().map(|id| Query::all().and("vip_subnet_id", id.as_str())).collect();
    let lists = try_join_all(queries.iter().map(|query| cloud.load_balancers(query))).await;
    Some(lists.map(|lists| lists.into_iter().flatten().collect()))
}
