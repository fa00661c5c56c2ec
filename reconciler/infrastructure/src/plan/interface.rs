//! The router's interfaces on the node subnets. They belong to whoever owns the subnet (decision D4).

use fabric_openstack_types::{
    ids::PortId,
    network::{Port, Router},
    observed::Observed,
};

use super::{
    items::{Change, Item, Verb},
    need,
    own::our_subnet,
};
use crate::{
    error::Error,
    observe,
    state::State,
    target::{Ipv6, Role, Target},
};

/// What happens to an interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InterfaceStep {
    /// On a given subnet: there, and none of our business.
    Use {
        /// The subnet's role.
        role: Role,
        /// The port.
        port: PortId,
    },
    /// On a subnet of ours: there; switched on if somebody switched it off, waited for if it does not carry traffic yet.
    Have {
        /// The subnet's role.
        role: Role,
        /// The port.
        port: PortId,
        /// Whether it is switched on.
        admin_state_up: bool,
        /// Its status.
        status: String,
    },
    /// On a subnet of ours: has to be made.
    Add {
        /// The subnet's role.
        role: Role,
    },
}

/// The name of the task, as people read it.
pub fn interface_task(role: Role) -> &'static str {
    match role {
        Role::Nodes => "router interface",
        Role::NodesIpv6 | Role::PodsIpv6 | Role::ServicesIpv6 => "IPv6 router interface",
    }
}

impl InterfaceStep {
    /// The subnet's role.
    pub fn role(&self) -> Role {
        match self {
            Self::Use { role, .. } | Self::Have { role, .. } | Self::Add { role } => *role,
        }
    }

    pub(super) fn item(&self, target: &Target) -> Item {
        let kind = interface_task(self.role());
        let name = target.subnet_name(self.role());
        match self {
            Self::Use { port, .. } => {
                Item::new(Verb::Use, kind, &name, Some(port.as_str()), "belongs to the given subnet")
            }
            Self::Add { .. } => Item::create(kind, &name),
            Self::Have { port, admin_state_up, status, .. } => {
                let off = (!admin_state_up).then(|| Change::of("admin_state_up", false, true));
                let waits = (status != "ACTIVE").then(|| Change::of("status", status, "ACTIVE"));
                Item::owned(kind, port.as_str(), &name, false, vec![off, waits])
            }
        }
    }
}

pub(super) fn plan(target: &Target, seen: &Observed, state: &State) -> Result<Vec<InterfaceStep>, Error> {
    let mut steps = Vec::new();
    match target.subnet.given() {
        Some(id) => steps.push(given(target, seen, state, Role::Nodes, id.as_str())?),
        None => steps.push(own(target, seen, state, Role::Nodes)?),
    }
    match target.ipv6.as_ref().map(Ipv6::given) {
        None => {}
        Some(Some(id)) => steps.push(given(target, seen, state, Role::NodesIpv6, id.as_str())?),
        Some(None) => steps.push(own(target, seen, state, Role::NodesIpv6)?),
    }
    Ok(steps)
}

fn port_on(seen: &Observed, subnet: &str) -> Result<Option<Port>, Error> {
    let ports = need(&seen.router_ports, "the router's ports")?;
    let on =
        |port: &Port| port.is_router_interface() && port.fixed_ips.iter().any(|ip| ip.subnet_id.as_str() == subnet);
    Ok(ports.into_iter().find(on))
}

fn given(target: &Target, seen: &Observed, state: &State, role: Role, subnet: &str) -> Result<InterfaceStep, Error> {
    let router = observe::router_id(target, state, seen);
    let exists = Observed::ok(&seen.routers)
        .is_some_and(|routers: &Vec<Router>| routers.iter().any(|known| Some(&known.id) == router.as_ref()));
    match port_on(seen, subnet)? {
        Some(port) if exists => Ok(InterfaceStep::Use { role, port: port.id }),
        _ => Err(Error::Configuration {
            field: "networks.router",
            problem: format!(
                "router {} has no interface on subnet {subnet}; attach it (openstack router add subnet), then run again",
                router.map(|id| id.to_string()).unwrap_or_default()
            ),
        }),
    }
}

fn own(target: &Target, seen: &Observed, state: &State, role: Role) -> Result<InterfaceStep, Error> {
    let subnet = our_subnet(target, state, seen, role)?;
    let (Some(subnet), Some(_)) = (subnet, observe::router_id(target, state, seen)) else {
        return Ok(InterfaceStep::Add { role });
    };
    Ok(match port_on(seen, subnet.get().id.as_str())? {
        Some(Port { id, admin_state_up, status, .. }) => InterfaceStep::Have { role, port: id, admin_state_up, status },
        None => InterfaceStep::Add { role },
    })
}
