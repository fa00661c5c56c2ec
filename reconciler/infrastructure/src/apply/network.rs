//! Makes the node network, or puts it right.

use fabric_openstack::Taggable;
use fabric_openstack_types::{Evidence, Owned, network::NetworkUpdate};

use super::Run;
use crate::{error::Error, plan::NetworkStep, state::Key};

pub(super) async fn ensure(run: &Run<'_>, step: NetworkStep) -> Result<(), Error> {
    match step {
        NetworkStep::Use(_) => {}
        NetworkStep::Have { network, update, .. } => {
            if update != NetworkUpdate::default() {
                let changed = run.cloud.update_network(&network.map(|it| it.id), &update).await?;
                run.set(Key::NetworkName, changed.name);
            }
        }
        NetworkStep::Create(new) => {
            let made = run.cloud.create_network(&new).await?;
            run.set(Key::Network, made.id.as_str());
            run.set(Key::NetworkName, made.name);
            run.tag(Owned::by(Evidence::Created, Taggable::Network(made.id)));
        }
    }
    Ok(())
}
