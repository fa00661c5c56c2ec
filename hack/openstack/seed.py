#!/usr/bin/env python3
"""Fill the fresh control plane: catalog, service users, demo tenant, external network."""
import argparse
import json

from keystoneauth1 import session
from keystoneauth1.identity import v3

ap = argparse.ArgumentParser()
for name in ("out", "region", "keystone", "network", "compute", "share", "loadbalancer",
             "admin-password", "service-password", "demo-password"):
    ap.add_argument("--" + name, required=True)
a = ap.parse_args()

sess = session.Session(auth=v3.Password(
    auth_url=a.keystone, username="admin", password=a.admin_password,
    project_name="admin", user_domain_id="default", project_domain_id="default"))


def call(method, url, key=None, ok=(200, 201, 202, 204), **body):
    r = sess.request(url, method, json=body or None, raise_exc=False)
    if r.status_code not in ok:
        raise SystemExit(f"{method} {url}: {r.status_code} {r.text}")
    return r.json()[key] if key else None


def ensure(path, plural, key, match, **extra):
    """Find by the fields in match, or create with match and extra."""
    q = "&".join(f"{k}={v}" for k, v in match.items())
    got = call("GET", f"{path}?{q}", plural)
    return got[0] if got else call("POST", path, key, **{key: {**match, **extra}})


K = a.keystone
roles = {r["name"]: r["id"] for r in call("GET", f"{K}/roles", "roles")}


if "netadmin" not in roles:  # what it may do: the policy file in conf.sh
    roles["netadmin"] = call("POST", f"{K}/roles", "role", role={"name": "netadmin"})["id"]


def grant(project, user, *names):
    for n in names:
        call("PUT", f"{K}/projects/{project}/users/{user}/roles/{roles[n]}")


# Catalog and service users
service = ensure(f"{K}/projects", "projects", "project", {"name": "service", "domain_id": "default"})
for user, typ, name, url in (
        ("neutron", "network", "neutron", a.network),
        ("nova", "compute", "nova", a.compute),
        ("manila", "sharev2", "manilav2", a.share),
        ("octavia", "load-balancer", "octavia", a.loadbalancer)):
    u = ensure(f"{K}/users", "users", "user", {"name": user, "domain_id": "default"},
               password=a.service_password)
    grant(service["id"], u["id"], "admin", "service")
    s = ensure(f"{K}/services", "services", "service", {"type": typ, "name": name})
    for iface in ("public", "internal", "admin"):
        ensure(f"{K}/endpoints", "endpoints", "endpoint",
               {"service_id": s["id"], "interface": iface}, url=url, region_id=a.region)

# Tenants: domain demo, project demo, user demo (member only), and a second project to be forbidden from
domain = ensure(f"{K}/domains", "domains", "domain", {"name": "demo"})
people = {}
for name in ("demo", "other"):
    p = ensure(f"{K}/projects", "projects", "project", {"name": name, "domain_id": domain["id"]})
    u = ensure(f"{K}/users", "users", "user", {"name": name, "domain_id": domain["id"]},
               password=a.demo_password)
    grant(p["id"], u["id"], "member")
    people[name] = (p, u)
reader = ensure(f"{K}/users", "users", "user", {"name": "demo-reader", "domain_id": domain["id"]},
                password=a.demo_password)
grant(people["demo"][0]["id"], reader["id"], "reader")
netadmin = ensure(f"{K}/users", "users", "user", {"name": "netadmin", "domain_id": domain["id"]},
                  password=a.demo_password)
grant(people["demo"][0]["id"], netadmin["id"], "member", "netadmin")

# Network: an external dual-stack provider network, and shared subnet pools
N = a.network + "/v2.0"
pub = ensure(f"{N}/networks", "networks", "network", {"name": "public"},
             **{"router:external": True, "provider:network_type": "flat",
                "provider:physical_network": "public"})
for name, ver, cidr, gw in (("public-v4", 4, "172.24.4.0/24", "172.24.4.1"),
                            ("public-v4-b", 4, "172.24.5.0/24", "172.24.5.1"),
                            ("public-v6", 6, "2001:db8::/64", "2001:db8::1")):
    ensure(f"{N}/subnets", "subnets", "subnet", {"name": name, "network_id": pub["id"]},
           ip_version=ver, cidr=cidr, gateway_ip=gw, enable_dhcp=False)
for name, cidr, length in (("shared-v4", "10.160.0.0/12", 24), ("shared-v6", "2001:db8:a000::/44", 64)):
    ensure(f"{N}/subnetpools", "subnetpools", "subnetpool", {"name": name},
           prefixes=[cidr], default_prefixlen=length, shared=True, is_default=True)

# Compute: two flavors, so that lists are not empty
have = {f["name"] for f in call("GET", f"{a.compute}/flavors", "flavors")}
for i, (name, ram, cpu, disk) in enumerate((("m1.small", 2048, 1, 20), ("m1.large", 8192, 4, 80))):
    if name not in have:
        call("POST", f"{a.compute}/flavors", "flavor",
             flavor={"id": str(i + 1), "name": name, "ram": ram, "vcpus": cpu, "disk": disk})

# Application credential: only the user itself may make one
project, user = people["demo"]
dsess = session.Session(auth=v3.Password(
    auth_url=K, username="demo", password=a.demo_password, user_domain_name="demo",
    project_name="demo", project_domain_name="demo"))
creds = f"{K}/users/{user['id']}/application_credentials"
for old in dsess.get(creds).json()["application_credentials"]:
    if old["name"] == "ci":
        dsess.delete(f"{creds}/{old['id']}")
ac = dsess.post(creds, json={"application_credential": {
    "name": "ci", "secret": "ci-secret-" + "x" * 22, "description": "integration test",
    "roles": [{"name": "member"}]}}).json()["application_credential"]

with open(a.out, "w", encoding="utf-8") as f:
    json.dump({"domain": "demo", "domain_id": domain["id"], "project": "demo", "project_id": project["id"],
               "user": "demo", "user_id": user["id"], "other_project_id": people["other"][0]["id"],
               "application_credential_name": ac["name"], "application_credential_id": ac["id"],
               "application_credential_secret": ac["secret"],
               "external_network": pub["name"], "external_network_id": pub["id"]}, f, indent=1)
