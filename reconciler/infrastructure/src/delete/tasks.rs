//! A task each kind of thing that goes. What is gone is forgotten at once.

use fabric_openstack::{Query, RouterInterface};
use fabric_openstack_types::{
    Owned,
    compute::KeyPair,
    network::{Network, Router, SecurityGroup, Subnet},
    share::ShareNetwork,
};
use ipnet::IpNet;

use super::{
    blockers::{Blocker, Ours, foreign_subnets, holds},
    doubles::Doubles,
    release::{blocked, release},
    routes::RoutesRemoval,
};
use crate::{apply::Run, error::Error, state::Key, target::Role};

/// A router interface that goes, with its subnet's range.
pub(super) type Interface = (Owned<RouterInterface>, IpNet);
/// A subnet that goes.
pub(super) type Leaving = (Role, Owned<Subnet>);

pub(super) const KEY_PAIR_KEYS: [Key; 2] = [Key::KeyPair, Key::KeyPairFingerprint];
pub(super) const SECURITY_GROUP_KEYS: [Key; 3] = [Key::SecurityGroup, Key::SecurityGroupName, Key::SecurityGroupRules];
pub(super) const SHARE_NETWORK_KEYS: [Key; 2] = [Key::ShareNetwork, Key::ShareNetworkName];
pub(super) const NETWORK_KEYS: [Key; 2] = [Key::Network, Key::NetworkName];

pub(super) fn subnet_keys(role: Role) -> [Key; 2] {
    [Key::subnet(role), Key::range(role)]
}

pub(super) fn forget(run: &Run<'_>, keys: &[Key]) {
    let mut state = run.state();
    keys.iter().for_each(|key| state.clear(*key));
}

pub(super) async fn key_pair(run: &Run<'_>, pair: Owned<KeyPair>) -> Result<(), Error> {
    run.cloud.delete_key_pair(&pair.map(|it| it.name)).await?;
    forget(run, &KEY_PAIR_KEYS);
    Ok(())
}

pub(super) async fn security_group(run: &Run<'_>, ours: &Ours, group: Owned<SecurityGroup>) -> Result<(), Error> {
    remove_security_group(run, ours, group).await?;
    forget(run, &SECURITY_GROUP_KEYS);
    Ok(())
}

/// Ports anywhere in our project may use it.
async fn remove_security_group(run: &Run<'_>, ours: &Ours, group: Owned<SecurityGroup>) -> Result<(), Error> {
    let project = Query::project(&group.get().project_id);
    let id = group.map(|it| it.id);
    let foreign = || async {
        let ports = run.cloud.ports(&project).await?;
        let using: Vec<_> = ports.into_iter().filter(|port| port.security_groups.contains(id.get())).collect();
        ours.foreign(&using)
    };
    release(run, "security group", id.get().as_str(), || run.cloud.delete_security_group(&id), foreign).await
}

pub(super) async fn routes(run: &Run<'_>, removal: RoutesRemoval) -> Result<(), Error> {
    Ok(run.cloud.remove_routes(&removal.router, &removal.routes).await?)
}

pub(super) async fn share_network(run: &Run<'_>, share: Owned<ShareNetwork>) -> Result<(), Error> {
    run.cloud.delete_share_network(&share.map(|it| it.id)).await?;
    forget(run, &SHARE_NETWORK_KEYS);
    Ok(())
}

/// Our routes and load balancers are gone by now: a route that still leads through the subnet is somebody else's, and
/// what else holds an interface is the floating IP of a port.
pub(super) async fn interfaces(run: &Run<'_>, ours: &Ours, interfaces: Vec<Interface>) -> Result<(), Error> {
    for (interface, range) in interfaces {
        let RouterInterface { router, subnet } = interface.get();
        let foreign = || async {
            let routes = run.cloud.router(router).await?.routes;
            let through: Vec<_> = routes.iter().filter(|route| range.contains(&route.nexthop)).collect();
            if !through.is_empty() {
                return Ok(through.into_iter().map(Blocker::route).collect());
            }
            let query = Query::all().and("fixed_ips", format!("subnet_id={subnet}"));
            let ports = run.cloud.ports(&query).await?;
            ours.foreign(&ports.into_iter().filter(|port| port.is_on(subnet)).collect::<Vec<_>>())
        };
        let id = format!("on subnet {subnet}");
        release(run, "router interface", &id, || run.cloud.remove_router_interface(&interface), foreign).await?;
    }
    Ok(())
}

/// Only in a given network: ours takes its subnets along.
pub(super) async fn subnets(run: &Run<'_>, ours: &Ours, subnets: Vec<Leaving>) -> Result<(), Error> {
    for (role, subnet) in subnets {
        let foreign = || async {
            let ports = run.cloud.ports(&Query::network(&subnet.get().network_id)).await?;
            let on: Vec<_> = ports.into_iter().filter(|port| holds(port, subnet.get())).collect();
            ours.foreign(&on)
        };
        let id = subnet.clone().map(|it| it.id);
        release(run, "subnet", id.get().as_str(), || run.cloud.delete_subnet(&id), foreign).await?;
        forget(run, &subnet_keys(role));
        run.save().await?;
    }
    Ok(())
}

pub(super) async fn network(run: &Run<'_>, ours: &Ours, network: Owned<Network>) -> Result<(), Error> {
    remove_network(run, ours, network).await?;
    forget(run, &NETWORK_KEYS);
    Role::ALL.iter().for_each(|role| forget(run, &subnet_keys(*role)));
    Ok(())
}

/// The cloud deletes every subnet along with it, and somebody may have added one since we looked.
async fn remove_network(run: &Run<'_>, ours: &Ours, network: Owned<Network>) -> Result<(), Error> {
    let id = network.map(|it| it.id);
    let query = Query::network(id.get());
    let subnets = run.cloud.subnets(&query).await?;
    let strangers = foreign_subnets(run.target, &run.state(), id.get(), &subnets);
    blocked("network", id.get().as_str(), &strangers)?;
    let foreign = || async { ours.foreign(&run.cloud.ports(&query).await?) };
    release(run, "network", id.get().as_str(), || run.cloud.delete_network(&id), foreign).await
}

pub(super) async fn router(run: &Run<'_>, router: Owned<Router>) -> Result<(), Error> {
    remove_router(run, router).await?;
    forget(run, &[Key::Router]);
    Ok(())
}

/// Our interfaces are gone by now: one that is left is somebody else's.
async fn remove_router(run: &Run<'_>, router: Owned<Router>) -> Result<(), Error> {
    let id = router.map(|it| it.id);
    let query = Query::device(id.get().as_str());
    let foreign = || async {
        let ports = run.cloud.ports(&query).await?;
        Ok(ports.iter().filter(|port| port.is_router_interface()).map(Blocker::port).collect())
    };
    release(run, "router", id.get().as_str(), || run.cloud.delete_router(&id), foreign).await
}

/// Nothing of ours was ever put into them.
pub(super) async fn doubles(run: &Run<'_>, ours: &Ours, doubles: Doubles) -> Result<(), Error> {
    for share in doubles.share_networks {
        run.cloud.delete_share_network(&share.map(|it| it.id)).await?;
    }
    for network in doubles.networks {
        remove_network(run, ours, network).await?;
    }
    for router in doubles.routers {
        remove_router(run, router).await?;
    }
    for group in doubles.security_groups {
        remove_security_group(run, ours, group).await?;
    }
    Ok(())
}
