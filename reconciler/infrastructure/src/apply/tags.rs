//! Tags what was made. The description has marked it already, so a run that is cut before this loses nothing.

use fabric_openstack::Taggable;
use fabric_openstack_types::Owned;
use futures::future::try_join_all;

use super::{Run, lock};
use crate::error::Error;

impl Run<'_> {
    /// Puts a resource on the list of those to tag.
    pub(super) fn tag(&self, resource: Owned<Taggable>) {
        lock(&self.tags).push(resource);
    }
}

pub(super) async fn ensure(run: &Run<'_>) -> Result<(), Error> {
    let resources = std::mem::take(&mut *lock(&run.tags));
    let tags = run.target.marker.tags();
    try_join_all(resources.iter().map(|resource| run.cloud.add_tags(resource, &tags))).await?;
    Ok(())
}
