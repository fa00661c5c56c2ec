//! What was made twice: whoever asked was killed or gave up, asked again, and both requests were carried out.

use fabric_openstack_types::{
    Owned,
    ids::ProjectId,
    network::{Network, Router, SecurityGroup},
    observed::{Observed, Queried},
    share::ShareNetwork,
};

use super::plan::{Planned, Removal, gives};
use crate::{
    find::{Identified, marked},
    target::Target,
};

/// What carries this shoot's mark beside what is in use. Only the mark counts here, never a name.
#[derive(Clone, Debug, Default)]
pub struct Doubles {
    /// Networks.
    pub networks: Vec<Owned<Network>>,
    /// Routers.
    pub routers: Vec<Owned<Router>>,
    /// Security groups.
    pub security_groups: Vec<Owned<SecurityGroup>>,
    /// Share networks.
    pub share_networks: Vec<Owned<ShareNetwork>>,
}

impl Doubles {
    pub(super) fn is_empty(&self) -> bool {
        let Self { networks, routers, security_groups, share_networks } = self;
        networks.is_empty() && routers.is_empty() && security_groups.is_empty() && share_networks.is_empty()
    }
}

/// None as long as nobody can tell which of them is the one in use.
pub(super) fn doubles<T: Identified>(
    target: &Target,
    project: &ProjectId,
    listed: &Option<Queried<Vec<T>>>,
    used: &Planned<Removal<T>>,
) -> Vec<Owned<T>> {
    let (Some(listed), Ok(used)) = (Observed::ok(listed), used) else { return Vec::new() };
    let used = used.get().map(Identified::id);
    let all = marked(listed, &target.marker, project);
    all.into_iter().filter(|it| Some(it.get().id()) != used && !gives(target, it.get().id())).collect()
}
