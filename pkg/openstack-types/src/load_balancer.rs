//! Octavia's resources, as far as we read or delete them.

use serde::{Deserialize, Serialize};

use crate::ids::{LoadBalancerId, PortId, ProjectId, SubnetId};

/// A load balancer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoadBalancer {
    /// Its id.
    pub id: LoadBalancerId,
    /// Its name; the cloud controller's are `kube_service_<cluster>_<namespace>_<service>`.
    #[serde(default)]
    pub name: String,
    /// The project that owns it.
    #[serde(default = "no_project")]
    pub project_id: ProjectId,
    /// `ACTIVE`, `ERROR`, `PENDING_CREATE`, `PENDING_UPDATE`, `PENDING_DELETE`.
    #[serde(default)]
    pub provisioning_status: String,
    /// The subnet of its address.
    #[serde(default)]
    pub vip_subnet_id: Option<SubnetId>,
    /// The port of its address.
    #[serde(default)]
    pub vip_port_id: Option<PortId>,
}

fn no_project() -> ProjectId {
    ProjectId::new("")
}
