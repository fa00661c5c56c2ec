//! Makes the share network.

use fabric_openstack_types::{
    ids::{NetworkId, SubnetId},
    share::{NewShareNetwork, ShareNetworkUpdate},
};

use super::Run;
use crate::{error::Error, plan::ShareNetworkStep, state::Key};

pub(super) async fn ensure(run: &Run<'_>, step: ShareNetworkStep) -> Result<(), Error> {
    match step {
        ShareNetworkStep::Use(_) => Ok(()),
        ShareNetworkStep::Have { share_network, update, .. } => {
            if update != ShareNetworkUpdate::default() {
                let changed = run.cloud.update_share_network(&share_network.map(|it| it.id), &update).await?;
                run.set(Key::ShareNetworkName, changed.name);
            }
            Ok(())
        }
        ShareNetworkStep::Create => {
            let new = {
                let state = run.state();
                NewShareNetwork {
                    name: run.target.name().to_owned(),
                    description: run.target.marker.description(),
                    neutron_net_id: state.get(Key::Network).map(NetworkId::new).ok_or(Error::Unknown("the network"))?,
                    neutron_subnet_id: state.get(Key::Subnet).map(SubnetId::new).ok_or(Error::Unknown("the subnet"))?,
                }
            };
            let made = run.cloud.create_share_network(&new).await?;
            run.set(Key::ShareNetwork, made.id.as_str());
            run.set(Key::ShareNetworkName, made.name);
            Ok(())
        }
    }
}
