"""usage: create_sdk.py NAME UID PUBLIC_KEY_FILE

Makes a shoot's infrastructure of pattern 1 in the cloud of OS_CLOUD with openstacksdk: one connection, one call after
the other, until the router's interface is up.
"""
import sys

import openstack
from openstack import resource

name, uid, key_file = sys.argv[1:]
mark = f"osf:{name}/{uid}"
tags = [f"osf:shoot={name}", f"osf:uid={uid}"]
with open(key_file, encoding="utf-8") as f:
    public_key = f.read().strip()

cloud = openstack.connect()
neutron = cloud.network
external = next(neutron.networks(name="public", is_router_external=True))

network = neutron.create_network(name=name, description=mark)
neutron.set_tags(network, tags)
subnet = neutron.create_subnet(name=name, description=mark, network_id=network.id, ip_version=4, cidr="10.250.0.0/19")
neutron.set_tags(subnet, tags)
router = neutron.create_router(name=name, description=mark, external_gateway_info={"network_id": external.id})
neutron.set_tags(router, tags)
interface = neutron.add_interface_to_router(router, subnet_id=subnet.id)

group = neutron.create_security_group(name=name, description=f"Cluster Nodes {mark}")
neutron.set_tags(group, tags)
ingress = {"security_group_id": group.id, "direction": "ingress", "ethertype": "IPv4"}
neutron.create_security_group_rule(
    **ingress, remote_group_id=group.id,
    description=f"IPv4: allow all incoming traffic within the same security group {mark}")
for protocol in ("tcp", "udp"):
    neutron.create_security_group_rule(
        **ingress, protocol=protocol, port_range_min=30000, port_range_max=32767, remote_ip_prefix="0.0.0.0/0",
        description=f"IPv4: allow all incoming {protocol} traffic with port range 30000-32767 {mark}")
cloud.compute.create_keypair(name=name, public_key=public_key)

port = neutron.get_port(interface["port_id"])
resource.wait_for_status(neutron, port, "ACTIVE", failures=["ERROR"], interval=0.25, wait=80)
