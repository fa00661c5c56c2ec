//! The five services.

/// One of the five services, each on a port of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Service {
    /// Keystone, `/v3`.
    Identity,
    /// Neutron, `/v2.0`.
    Network,
    /// Nova, `/v2.1`.
    Compute,
    /// Manila, `/v2`.
    SharedFileSystem,
    /// Octavia, `/v2/lbaas`.
    LoadBalancer,
}

impl Service {
    /// All of them.
    pub const ALL: [Self; 5] =
        [Self::Identity, Self::Network, Self::Compute, Self::SharedFileSystem, Self::LoadBalancer];

    /// The type under which the catalog lists it.
    pub fn catalog_type(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Network => "network",
            Self::Compute => "compute",
            Self::SharedFileSystem => "sharev2",
            Self::LoadBalancer => "load-balancer",
        }
    }

    /// The name under which the catalog lists it.
    pub fn catalog_name(self) -> &'static str {
        match self {
            Self::Identity => "keystone",
            Self::Network => "neutron",
            Self::Compute => "nova",
            Self::SharedFileSystem => "manilav2",
            Self::LoadBalancer => "octavia",
        }
    }

    /// What the catalog's URL has behind host and port.
    pub(crate) fn catalog_path(self) -> &'static str {
        match self {
            Self::Identity => "/v3",
            Self::Network | Self::LoadBalancer => "",
            Self::Compute => "/v2.1",
            Self::SharedFileSystem => "/v2",
        }
    }
}
