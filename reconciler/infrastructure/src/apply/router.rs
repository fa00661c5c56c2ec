//! Makes the node router and its interfaces, or puts them right.

use fabric_openstack::{RouterInterface, Taggable};
use fabric_openstack_types::{
    ApiError, ErrorClass, Evidence, Owned,
    ids::{RouterId, SubnetId},
    network::{ExternalGateway, Router, RouterUpdate},
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
        RouterStep::Have { router, update, subnets, .. } => {
            let id = router.map(|it| it.id);
            let (id, update) = (&id, &update);
            first(&subnets, |subnet| async move {
                let gateway = update.external_gateway_info.as_ref().map(|gateway| through(gateway, subnet));
                run.cloud.update_router(id, &RouterUpdate { external_gateway_info: gateway, ..update.clone() }).await
            })
            .await?
        }
        RouterStep::Create { new, .. } => {
            let made = run.cloud.create_router(&new).await?;
            run.set(Key::Router, made.id.as_str());
            // Now, while nothing else is about the router: Neutron does a call again that meets another one on it.
            let made = Owned::by(Evidence::Created, Taggable::Router(made.id));
            run.cloud.add_tags(&made, &run.target.marker.tags()).await?;
            return Ok(());
        }
    };
    reached(run, &router)
}

/// Gives a router that was just made its way out. A run that is cut before leaves a router without one, which the next
/// run puts right like any other drift.
pub(super) async fn ensure_gateway(
    run: &Run<'_>,
    gateway: ExternalGateway,
    subnets: Vec<SubnetId>,
) -> Result<(), Error> {
    let id = run.state().get(Key::Router).map(RouterId::new).ok_or(Error::Unknown("the router"))?;
    let (id, gateway) = (&Owned::by(Evidence::Created, id), &gateway);
    let router = first(&subnets, |subnet| async move {
        let update = RouterUpdate { external_gateway_info: Some(through(gateway, subnet)), ..RouterUpdate::default() };
        run.cloud.update_router(id, &update).await
    })
    .await?;
    reached(run, &router)
}

/// Remembers the router's external addresses; it must have one.
fn reached(run: &Run<'_>, router: &Router) -> Result<(), Error> {
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

fn through(gateway: &ExternalGateway, subnet: Option<&SubnetId>) -> ExternalGateway {
    subnet.map_or_else(|| gateway.clone(), |subnet| on_subnet(gateway, subnet))
}

/// Tries the external subnets one after the other: an exhausted or vanished one gives way to the next. Without any,
/// Neutron chooses.
async fn first<'s, F>(subnets: &'s [SubnetId], call: impl Fn(Option<&'s SubnetId>) -> F + Send) -> Result<Router, Error>
where
    F: Future<Output = Result<Router, ApiError>> + Send,
{
    let Some((last, others)) = subnets.split_last() else { return Ok(call(None).await?) };
    for subnet in others {
        match call(Some(subnet)).await {
            Err(error) if matches!(error.class, ErrorClass::Exhausted | ErrorClass::NotFound) => {
                tracing::info!(%subnet, %error, "external subnet gives no address, trying the next");
            }
            ended => return Ok(ended?),
        }
    }
    Ok(call(Some(last)).await?)
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
