//! Identifiers: one type a resource, so that a router's id never stands where a subnet's belongs.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Takes the identifier as the service printed it.
            pub fn new(id: impl Into<String>) -> Self {
                Self(id.into())
            }

            /// The identifier as the service prints it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }
    )+};
}

ids! {
    /// A Neutron network.
    NetworkId,
    /// A Neutron subnet.
    SubnetId,
    /// A Neutron router.
    RouterId,
    /// A Neutron port.
    PortId,
    /// A Neutron security group.
    SecurityGroupId,
    /// A rule of a Neutron security group.
    SecurityGroupRuleId,
    /// A Neutron subnet pool.
    SubnetPoolId,
    /// A Nova server.
    ServerId,
    /// A Manila share network.
    ShareNetworkId,
    /// An Octavia load balancer.
    LoadBalancerId,
    /// A Keystone project (tenant).
    ProjectId,
}
