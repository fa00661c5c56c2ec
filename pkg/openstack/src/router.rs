//! What hangs on a router: interfaces and routes. Both are repeatable: a second time finds the work done.

use fabric_openstack_types::{
    ApiError, ErrorClass, Service,
    ids::{PortId, RouterId},
    network::{Port, Route},
};
use serde_json::json;

use crate::{
    api::{Query, RouterInterface},
    call::{Call, is_gone},
    client::Client,
    neutron::PORTS,
};

const NEUTRON: Service = Service::Network;

impl Client {
    /// Puts the router on the subnet. A router that is on it already gets a 400 of no particular type: then the
    /// ports tell.
    pub(crate) async fn attach(&self, interface: &RouterInterface) -> Result<PortId, ApiError> {
        let call = change(interface, "add_router_interface");
        match self.repeat(&call).await {
            Ok(answer) => answer.member("port_id"),
            Err(error) if error.class == ErrorClass::Invalid => {
                let found = self.interface_port(interface).await?;
                found.ok_or(error)
            }
            Err(error) => Err(error),
        }
    }

    /// The port of the router on the subnet.
    async fn interface_port(&self, at: &RouterInterface) -> Result<Option<PortId>, ApiError> {
        let query = Query::device(at.router.as_str()).and("fixed_ips", format!("subnet_id={}", at.subnet));
        let ports: Vec<Port> = self.neutron_list(PORTS, &query).await?;
        let mut found = ports.into_iter().filter(|port| port.is_router_interface() && port.is_on(&at.subnet));
        Ok(found.next().map(|port| port.id))
    }

    /// Takes the router off the subnet; router, subnet or interface gone already is success.
    pub(crate) async fn detach(&self, interface: &RouterInterface) -> Result<(), ApiError> {
        self.remove(&change(interface, "remove_router_interface")).await
    }

    /// Removes exactly these routes, atomically (extension `extraroute-atomic`); those that are gone, and those of
    /// a router that is gone, are no error.
    pub(crate) async fn take_routes(&self, router: &RouterId, routes: &[&Route]) -> Result<(), ApiError> {
        if routes.is_empty() {
            return Ok(());
        }
        let body = json!({"router": {"routes": routes}});
        let segments = ["routers", router.as_str(), "remove_extraroutes"];
        match self.repeat(&Call::put(NEUTRON, &segments, Some(body))).await {
            Ok(_) => Ok(()),
            Err(error) if is_gone(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn change(interface: &RouterInterface, verb: &str) -> Call {
    let segments = ["routers", interface.router.as_str(), verb];
    let body = json!({"subnet_id": interface.subnet});
    Call::put(NEUTRON, &segments, Some(body))
}
