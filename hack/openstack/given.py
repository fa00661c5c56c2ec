#!/usr/bin/env python3
"""What a user could hand over, in the project demo of this lab; and manifests that name it.

usage: given.py STATE            print the ids as JSON
       given.py STATE FILE…      print the files with their ${PLACEHOLDERS} filled in

Everything is found by its name or made, so the first call makes it and later ones change nothing.
"""
import json
import os
import re
import sys

from keystoneauth1 import session
from keystoneauth1.identity import v3
import yaml

NODES = "10.250.0.0/19"
NODES_V6 = "fd00:250::/64"
PREFIX = "given"


class Cloud:
    """The lab, as the user demo sees it."""

    def __init__(self, state):
        with open(os.path.join(state, "facts.json"), encoding="utf-8") as f:
            self.facts = json.load(f)
        with open(os.path.join(state, "clouds.yaml"), encoding="utf-8") as f:
            self.cloud = yaml.safe_load(f)["clouds"]["demo"]
        self.session = session.Session(auth=v3.Password(**self.cloud["auth"]))

    def call(self, method, url, body=None, headers=None):
        answer = self.session.request(url, method, json=body, headers=headers, raise_exc=False)
        if answer.status_code >= 300:
            raise SystemExit(f"error: {method} {url}: {answer.status_code} {answer.text}")
        return answer.json() if answer.content else {}

    def neutron(self, method, path, body=None):
        return self.call(method, f"{self.facts['network']}/v2.0/{path}", body)

    def ensure(self, kind, name, **fields):
        """The network resource of this name in our project, made if there is none."""
        plural = kind + "s"
        path = plural.replace("_", "-")
        found = self.neutron("GET", f"{path}?name={name}&project_id={self.facts['project_id']}")[plural]
        if len(found) > 1:
            raise SystemExit(f"error: {len(found)} {plural} are called {name}; delete all but one")
        return found[0] if found else self.neutron("POST", path, {kind: {"name": name, **fields}})[kind]

    def share_network(self, name, network, subnet):
        base = f"{self.facts['share']}/share-networks"
        headers = {"X-OpenStack-Manila-API-Version": "2.60"}
        for found in self.call("GET", f"{base}/detail?name={name}", headers=headers)["share_networks"]:
            if any(s["neutron_subnet_id"] == subnet for s in found["share_network_subnets"]):
                return found["id"]
        return self.call("POST", base, {"share_network": {
            "name": name, "neutron_net_id": network, "neutron_subnet_id": subnet}}, headers)["share_network"]["id"]


def given(cloud):
    network = cloud.ensure("network", f"{PREFIX}-network")
    v4 = cloud.ensure("subnet", f"{PREFIX}-nodes", network_id=network["id"], ip_version=4, cidr=NODES,
                      dns_nameservers=["1.1.1.1"])
    v6 = cloud.ensure("subnet", f"{PREFIX}-nodes-v6", network_id=network["id"], ip_version=6, cidr=NODES_V6,
                      ipv6_ra_mode="slaac", ipv6_address_mode="slaac")
    router = cloud.ensure("router", f"{PREFIX}-router",
                          external_gateway_info={"network_id": cloud.facts["external_network_id"]})
    ports = cloud.neutron("GET", f"ports?device_id={router['id']}&network_id={network['id']}")["ports"]
    attached = {ip["subnet_id"] for p in ports for ip in p["fixed_ips"]}
    for subnet in (v4, v6):
        if subnet["id"] not in attached:
            cloud.neutron("PUT", f"routers/{router['id']}/add_router_interface", {"subnet_id": subnet["id"]})
    group = cloud.ensure("security_group", f"{PREFIX}-nodes", description="nodes of shoots, rules kept by the platform team")
    rules(cloud, group)
    return {
        "network": network["id"], "subnet": v4["id"], "subnet_v6": v6["id"], "router": router["id"],
        "router_external_ips": [ip["ip_address"] for ip in router["external_gateway_info"]["external_fixed_ips"]],
        "security_group": group["id"], "security_group_name": group["name"],
        "share_network": cloud.share_network(f"{PREFIX}-shares", network["id"], v4["id"]),
        "nodes_cidr": NODES, "nodes_cidr_v6": NODES_V6}


def rules(cloud, group):
    """The least that nodes need; a fresh group allows all egress by itself."""
    have = {(r["ethertype"], r["protocol"], r["port_range_min"]) for r in group["security_group_rules"]
            if r["direction"] == "ingress"}
    new = []
    for family in ("IPv4", "IPv6"):
        for protocol, port in ((None, None), ("tcp", 30000), ("udp", 30000)):
            if (family, protocol, port) in have:
                continue
            rule = {"security_group_id": group["id"], "direction": "ingress", "ethertype": family}
            new.append({**rule, "protocol": protocol, "port_range_min": port, "port_range_max": 32767} if port
                       else {**rule, "remote_group_id": group["id"]})
    if new:
        cloud.neutron("POST", "security-group-rules", {"security_group_rules": new})


def placeholders(cloud, ids):
    auth, facts = cloud.cloud["auth"], cloud.facts
    pools = {p["name"]: p["id"] for p in cloud.neutron("GET", "subnetpools?shared=true")["subnetpools"]}
    return {
        "NETWORK_ID": ids["network"], "SUBNET_ID": ids["subnet"], "SUBNET_V6_ID": ids["subnet_v6"],
        "ROUTER_ID": ids["router"], "SECURITY_GROUP_ID": ids["security_group"],
        "SHARE_NETWORK_ID": ids["share_network"], "NODES_CIDR": NODES, "NODES_CIDR_V6": NODES_V6,
        "SUBNET_POOL_ID": pools["shared-v4"], "SUBNET_POOL_V6_ID": pools["shared-v6"],
        "FLOATING_POOL": facts["external_network"], "FLOATING_SUBNET": "public-v4",
        "REGION": facts["region"], "AUTH_URL": auth["auth_url"], "DOMAIN": auth["user_domain_name"],
        "PROJECT": auth["project_name"], "USERNAME": auth["username"], "PASSWORD": auth["password"],
        "APPLICATION_CREDENTIAL_ID": facts["application_credential_id"],
        "APPLICATION_CREDENTIAL_NAME": facts["application_credential_name"],
        "APPLICATION_CREDENTIAL_SECRET": facts["application_credential_secret"]}


def render(path, values):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    unknown = sorted(set(re.findall(r"\$\{(\w+)\}", text)) - set(values))
    if unknown:
        raise SystemExit(f"error: {path}: no value for {', '.join('${%s}' % u for u in unknown)}; "
                         f"there are {', '.join(sorted(values))}")
    return re.sub(r"\$\{(\w+)\}", lambda m: values[m.group(1)], text)


def main(state, *files):
    cloud = Cloud(state)
    ids = given(cloud)
    if not files:
        print(json.dumps(ids, indent=1))
        return
    values = placeholders(cloud, ids)
    texts = [render(path, values) for path in files]
    print("---\n".join(t if t.endswith("\n") else t + "\n" for t in texts), end="")


main(*sys.argv[1:])
