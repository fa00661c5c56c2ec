//! The cases, by service.

mod compute;
mod identity;
mod isolation;
mod lists;
mod load_balancer;
mod networks;
mod quota;
mod routers;
mod security;
mod share;
mod subnets;

pub use compute::*;
pub use identity::*;
pub use isolation::*;
pub use lists::*;
pub use load_balancer::*;
pub use networks::*;
pub use quota::*;
pub use routers::*;
pub use security::*;
pub use share::*;
pub use subnets::*;

use fabric_openstack::{Result, api::Network as _};
use fabric_openstack_types::{
    ApiError, ErrorClass, Evidence, Owned,
    ids::NetworkId,
    network::{IpVersion, Network, NewNetwork, NewSubnet, Subnet},
};

use crate::Stage;

/// What the case made itself.
fn made<T>(resource: T) -> Owned<T> {
    Owned::by(Evidence::Created, resource)
}

/// An id that nothing has.
const ABSENT: &str = "11111111-2222-4333-8444-555555555555";

/// The class and the service's own type of a failure.
#[track_caller]
fn failure<T: std::fmt::Debug>(result: Result<T>) -> (ErrorClass, Option<u16>, String) {
    let error: ApiError = result.expect_err("must fail");
    assert!(error.request_id.is_some(), "no request id: {error:?}");
    assert!(!error.message.is_empty(), "{error:?}");
    let kind = error.kind.clone().unwrap_or_default();
    (error.class, error.status, kind)
}

impl Stage {
    fn new_network(&self, what: &str) -> NewNetwork {
        NewNetwork { name: self.name(what), description: self.marker().description(), admin_state_up: true }
    }

    async fn network(&self, what: &str) -> Network {
        self.member.create_network(&self.new_network(what)).await.unwrap()
    }

    fn new_subnet(&self, network: &NetworkId, what: &str, cidr: Option<&str>) -> NewSubnet {
        let cidr: Option<_> = cidr.map(|cidr| cidr.parse::<ipnet::IpNet>().unwrap());
        let v6 = cidr.is_some_and(|cidr| cidr.addr().is_ipv6());
        NewSubnet {
            name: self.name(what),
            description: self.marker().description(),
            network_id: network.clone(),
            ip_version: if v6 { IpVersion::V6 } else { IpVersion::V4 },
            cidr,
            subnetpool_id: None,
            prefixlen: None,
            dns_nameservers: Vec::new(),
            ipv6_address_mode: None,
            ipv6_ra_mode: None,
        }
    }

    async fn subnet(&self, network: &NetworkId, what: &str, cidr: &str) -> Subnet {
        let new = self.new_subnet(network, what, Some(cidr));
        self.member.create_subnet(&new).await.unwrap()
    }
}
