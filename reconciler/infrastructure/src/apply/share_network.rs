//! Makes the share network.

use fabric_openstack_types::{
    ids::{NetworkId, SubnetId},
    share::NewShareNetwork,
};

use super::Run;
use crate::{error::Error, plan::ShareNetworkStep, state::Key};

pub(super) async fn ensure(run: &Run<'_>, step: ShareNetworkStep) -> Result<(), Error> {
    match step {
        ShareNetworkStep::Use(_) | ShareNetworkStep::Have { .. } => Ok(()),
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
