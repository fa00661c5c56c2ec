//! Neutron's trait: which collection, which marker, what makes a lost creation recognisable.

use async_trait::async_trait;
use fabric_openstack_types::{
    Owned,
    ids::{NetworkId, PortId, RouterId, SecurityGroupId, SecurityGroupRuleId, SubnetId, SubnetPoolId},
    network::{
        Network as NetworkResource, NetworkUpdate, NewNetwork, NewRouter, NewSecurityGroup, NewSecurityGroupRule,
        NewSubnet, Port, Route, Router, RouterUpdate, SecurityGroup, SecurityGroupRule, SecurityGroupUpdate, Subnet,
        SubnetPool, SubnetUpdate,
    },
};

use crate::{
    api::{Network, Query, Result, RouterInterface, Taggable},
    client::Client,
    neutron::{GROUPS, Marked, NETWORKS, POOLS, PORTS, ROUTERS, RULES, SUBNETS},
};

#[async_trait]
impl Network for Client {
    async fn networks(&self, query: &Query) -> Result<Vec<NetworkResource>> {
        self.neutron_list(NETWORKS, query).await
    }

    async fn subnets(&self, query: &Query) -> Result<Vec<Subnet>> {
        self.neutron_list(SUBNETS, query).await
    }

    async fn routers(&self, query: &Query) -> Result<Vec<Router>> {
        self.neutron_list(ROUTERS, query).await
    }

    async fn ports(&self, query: &Query) -> Result<Vec<Port>> {
        self.neutron_list(PORTS, query).await
    }

    async fn security_groups(&self, query: &Query) -> Result<Vec<SecurityGroup>> {
        self.neutron_list(GROUPS, query).await
    }

    async fn subnet_pools(&self, query: &Query) -> Result<Vec<SubnetPool>> {
        self.neutron_list(POOLS, query).await
    }

    async fn subnet(&self, id: &SubnetId) -> Result<Subnet> {
        self.neutron_get(SUBNETS, id.as_str()).await
    }

    async fn router(&self, id: &RouterId) -> Result<Router> {
        self.neutron_get(ROUTERS, id.as_str()).await
    }

    async fn port(&self, id: &PortId) -> Result<Port> {
        self.neutron_get(PORTS, id.as_str()).await
    }

    async fn subnet_pool(&self, id: &SubnetPoolId) -> Result<SubnetPool> {
        self.neutron_get(POOLS, id.as_str()).await
    }

    async fn create_network(&self, new: &NewNetwork) -> Result<NetworkResource> {
        let marked = Marked { name: &new.name, description: &new.description };
        self.neutron_create(NETWORKS, new, marked, |_| true).await
    }

    async fn update_network(&self, id: &Owned<NetworkId>, change: &NetworkUpdate) -> Result<NetworkResource> {
        self.neutron_update(NETWORKS, id.get().as_str(), change).await
    }

    async fn delete_network(&self, id: &Owned<NetworkId>) -> Result<()> {
        self.neutron_delete(NETWORKS, id.get().as_str()).await
    }

    async fn create_subnet(&self, new: &NewSubnet) -> Result<Subnet> {
        let marked = Marked { name: &new.name, description: &new.description };
        // A shoot has several subnets with one marker; Neutron clears host bits of a range.
        let fits = |subnet: &Subnet| {
            subnet.network_id == new.network_id
                && subnet.ip_version == new.ip_version
                && new.cidr.is_none_or(|cidr| subnet.cidr == cidr.trunc())
                && new.subnetpool_id.is_none() == subnet.subnetpool_id.is_none()
        };
        self.neutron_create(SUBNETS, new, marked, fits).await
    }

    async fn update_subnet(&self, id: &Owned<SubnetId>, change: &SubnetUpdate) -> Result<Subnet> {
        self.neutron_update(SUBNETS, id.get().as_str(), change).await
    }

    async fn delete_subnet(&self, id: &Owned<SubnetId>) -> Result<()> {
        self.neutron_delete(SUBNETS, id.get().as_str()).await
    }

    async fn create_router(&self, new: &NewRouter) -> Result<Router> {
        let marked = Marked { name: &new.name, description: &new.description };
        self.neutron_create(ROUTERS, new, marked, |_| true).await
    }

    async fn update_router(&self, id: &Owned<RouterId>, change: &RouterUpdate) -> Result<Router> {
        self.neutron_update(ROUTERS, id.get().as_str(), change).await
    }

    async fn delete_router(&self, id: &Owned<RouterId>) -> Result<()> {
        self.neutron_delete(ROUTERS, id.get().as_str()).await
    }

    async fn add_router_interface(&self, interface: &Owned<RouterInterface>) -> Result<PortId> {
        self.attach(interface.get()).await
    }

    async fn enable_router_interface(&self, port: &Owned<PortId>) -> Result<Port> {
        self.neutron_update(PORTS, port.get().as_str(), &serde_json::json!({"admin_state_up": true})).await
    }

    async fn remove_router_interface(&self, interface: &Owned<RouterInterface>) -> Result<()> {
        self.detach(interface.get()).await
    }

    async fn remove_routes(&self, router: &RouterId, routes: &[Owned<Route>]) -> Result<()> {
        let routes: Vec<_> = routes.iter().map(Owned::get).collect();
        self.take_routes(router, &routes).await
    }

    async fn create_security_group(&self, new: &NewSecurityGroup) -> Result<SecurityGroup> {
        let marked = Marked { name: &new.name, description: &new.description };
        self.neutron_create(GROUPS, new, marked, |_| true).await
    }

    async fn update_security_group(
        &self,
        id: &Owned<SecurityGroupId>,
        change: &SecurityGroupUpdate,
    ) -> Result<SecurityGroup> {
        self.neutron_update(GROUPS, id.get().as_str(), change).await
    }

    async fn delete_security_group(&self, id: &Owned<SecurityGroupId>) -> Result<()> {
        self.neutron_delete(GROUPS, id.get().as_str()).await
    }

    async fn create_security_group_rules(
        &self,
        group: &Owned<SecurityGroupId>,
        rules: &[NewSecurityGroupRule],
    ) -> Result<Vec<SecurityGroupRule>> {
        self.add_rules(group.get(), rules).await
    }

    async fn delete_security_group_rule(&self, id: &Owned<SecurityGroupRuleId>) -> Result<()> {
        self.neutron_delete(RULES, id.get().as_str()).await
    }

    async fn add_tags(&self, resource: &Owned<Taggable>, tags: &[String]) -> Result<()> {
        let (of, id) = match resource.get() {
            Taggable::Network(id) => (NETWORKS, id.as_str()),
            Taggable::Subnet(id) => (SUBNETS, id.as_str()),
            Taggable::Router(id) => (ROUTERS, id.as_str()),
            Taggable::SecurityGroup(id) => (GROUPS, id.as_str()),
        };
        self.neutron_tag(of, id, tags).await
    }
}
