//! Makes the node router and its interfaces, or puts them right.

use fabric_openstack::{RouterInterface, Taggable};
use fabric_openstack_types::{
    ErrorClass, Evidence, Owned,
    ids::{RouterId, SubnetId},
    network::{NewRouter, Router, RouterUpdate},
};

use super::{Run, lock};
use crate::{
    error::Error,
    plan::{InterfaceStep, RouterStep, router::on_subnet},
    state::Key,
    target::Role,
};

/// The name of the task, as people read it.
pub(super) fn interface_task(role: Role) -> &'static str {
    match role {
        Role::Nodes => "ensure router interface",
        Role::NodesIpv6 | Role::PodsIpv6 | Role::ServicesIpv6 => "ensure IPv6 router interface",
    }
}

pub(super) async fn ensure(run: &Run<'_>, step: RouterStep) -> Result<(), Error> {
    let router = match step {
        RouterStep::Use(_) => return Ok(()),
        RouterStep::Have { update, .. } if update == RouterUpdate::default() => return Ok(()),
        RouterStep::Have { router, update, .. } => run.cloud.update_router(&router.map(|it| it.id), &update).await?,
        RouterStep::Create { new, subnets } => {
            let made = create(run, &new, &subnets).await?;
            run.set(Key::Router, made.id.as_str());
            run.tag(Owned::by(Evidence::Created, Taggable::Router(made.id.clone())));
            made
        }
    };
    let addresses = router.external_ips();
    if addresses.is_empty() {
        return Err(Error::BadStatus {
            what: "router",
            id: router.id.to_string(),
            status: "without external address".to_owned(),
            wanted: "with at least one external address",
        });
    }
    *lock(&run.router_ips) = addresses;
    Ok(())
}

/// Tries the external subnets one after the other: an exhausted or vanished one gives way to the next.
async fn create(run: &Run<'_>, new: &NewRouter, subnets: &[SubnetId]) -> Result<Router, Error> {
    if subnets.is_empty() {
        return Ok(run.cloud.create_router(new).await?);
    }
    let mut last = Error::Unknown("an external subnet");
    for subnet in subnets {
        let gateway = on_subnet(&new.external_gateway_info, subnet);
        match run.cloud.create_router(&NewRouter { external_gateway_info: gateway, ..new.clone() }).await {
            Ok(router) => return Ok(router),
            Err(error) if matches!(error.class, ErrorClass::Exhausted | ErrorClass::NotFound) => {
                tracing::info!(%subnet, %error, "external subnet gives no address, trying the next");
                last = error.into();
            }
            Err(error) => return Err(error.into()),
        }
    }
    Err(last)
}

/// The interface's port is waited for by a task of its own.
pub(super) async fn ensure_interface(run: &Run<'_>, step: InterfaceStep) -> Result<(), Error> {
    let port = match step {
        InterfaceStep::Use { .. } => return Ok(()),
        InterfaceStep::Have { admin_state_up: true, status, .. } if status == "ACTIVE" => return Ok(()),
        InterfaceStep::Have { admin_state_up: true, port, .. } => port,
        InterfaceStep::Have { port, .. } => {
            run.cloud.enable_router_interface(&Owned::by(Evidence::State, port.clone())).await?;
            port
        }
        InterfaceStep::Add { role } => {
            let (router, subnet) = {
                let state = run.state();
                let router = state.get(Key::Router).map(RouterId::new).ok_or(Error::Unknown("the router"))?;
                let subnet = state.get(Key::subnet(role)).map(SubnetId::new).ok_or(Error::Unknown("the subnet"))?;
                (router, subnet)
            };
            // The interface belongs to the owner of the subnet, and this subnet is ours (decision D4).
            let interface = Owned::by(Evidence::State, RouterInterface { router, subnet });
            run.cloud.add_router_interface(&interface).await?
        }
    };
    lock(&run.ports).push(port);
    Ok(())
}
