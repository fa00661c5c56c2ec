//! Octavia's trait: whose load balancers stand on a subnet, and away with ours.

use async_trait::async_trait;
use fabric_openstack_types::{ErrorClass, Owned, Service, ids::LoadBalancerId, load_balancer::LoadBalancer};

use crate::{
    api::{LoadBalancers, Query, Result},
    call::{Call, is_gone},
    client::Client,
};

const OCTAVIA: Service = Service::LoadBalancer;
const COLLECTION: &str = "loadbalancers";

#[async_trait]
impl LoadBalancers for Client {
    async fn load_balancers(&self, query: &Query) -> Result<Vec<LoadBalancer>> {
        let mut call = Call::get(OCTAVIA, &[COLLECTION]);
        for (key, value) in query.pairs() {
            call = call.query(key, value.as_str());
        }
        self.list(call, COLLECTION).await
    }

    async fn delete_load_balancer(&self, id: &Owned<LoadBalancerId>) -> Result<()> {
        let segments = [COLLECTION, id.get().as_str()];
        let call = Call::delete(OCTAVIA, &segments).query("cascade", "true");
        match self.remove(&call).await {
            // A second deletion while the first one runs is refused like any other change.
            Err(error) if error.class == ErrorClass::Conflict => {
                match self.repeat(&Call::get(OCTAVIA, &segments)).await {
                    Ok(answer) => {
                        let now: LoadBalancer = answer.member("loadbalancer")?;
                        let going = now.provisioning_status == "PENDING_DELETE";
                        if going { Ok(()) } else { Err(error) }
                    }
                    Err(look) if is_gone(&look) => Ok(()),
                    Err(_) => Err(error),
                }
            }
            result => result,
        }
    }
}
