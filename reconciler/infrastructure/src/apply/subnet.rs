//! Makes subnets, or puts them right.

use fabric_openstack::Taggable;
use fabric_openstack_types::{Evidence, Owned, ids::NetworkId, network::SubnetUpdate};

use super::{Run, ids::remember_range};
use crate::{error::Error, plan::SubnetStep, state::Key, target::Role};

/// The name of the task, as people read it.
pub(super) fn task(role: Role) -> &'static str {
    match role {
        Role::Nodes => "ensure subnet",
        Role::NodesIpv6 => "ensure IPv6 subnet",
        Role::PodsIpv6 => "ensure IPv6 pod subnet",
        Role::ServicesIpv6 => "ensure IPv6 service subnet",
    }
}

pub(super) async fn ensure(run: &Run<'_>, step: SubnetStep) -> Result<(), Error> {
    match step {
        SubnetStep::Use { .. } => {}
        SubnetStep::Have { subnet, update, .. } => {
            if update != SubnetUpdate::default() {
                run.cloud.update_subnet(&subnet.map(|it| it.id), &update).await?;
            }
        }
        SubnetStep::Create { role, new } => {
            let network = run.state().get(Key::Network).map(NetworkId::new).ok_or(Error::Unknown("the network"))?;
            let made = run.cloud.create_subnet(&new.in_network(network)).await?;
            {
                let mut state = run.state();
                state.set(Key::subnet(role), made.id.as_str());
                remember_range(run, &mut state, role, &made.cidr.to_string(), made.cidr);
            }
            run.tag(Owned::by(Evidence::Created, Taggable::Subnet(made.id)));
        }
    }
    Ok(())
}
