#!/usr/bin/env python3
"""Write how to reach this lab: clouds.yaml for clients, facts.json for tests."""
import argparse
import json
import os

import yaml

ap = argparse.ArgumentParser()
for name in ("state", "region", "keystone", "network", "compute", "share", "loadbalancer",
             "admin-password", "demo-password", "venv"):
    ap.add_argument("--" + name, required=True)
a = ap.parse_args()
with open(os.path.join(a.state, "seed.json"), encoding="utf-8") as f:
    seed = json.load(f)


def cloud(auth, **more):
    return {"auth": {"auth_url": a.keystone, **auth}, "region_name": a.region, "interface": "public",
            "identity_api_version": 3, **more}


def person(name, project="demo"):
    return cloud({"username": name, "password": a.demo_password, "user_domain_name": "demo",
                  "project_name": project, "project_domain_name": "demo"})


clouds = {
    "demo": person("demo"),
    "demo-appcred": cloud({"application_credential_id": seed["application_credential_id"],
                           "application_credential_secret": seed["application_credential_secret"]},
                          auth_type="v3applicationcredential"),
    "demo-reader": person("demo-reader"),
    "netadmin": person("netadmin"),
    "other": person("other", "other"),
    "admin": cloud({"username": "admin", "password": a.admin_password, "project_name": "admin",
                    "user_domain_name": "Default", "project_domain_name": "Default"}),
    "admin-system": cloud({"username": "admin", "password": a.admin_password, "system_scope": "all",
                           "user_domain_name": "Default"}),
}
facts = {"auth_url": a.keystone, "region": a.region, "network": a.network, "compute": a.compute, "share": a.share,
         "load_balancer": a.loadbalancer, "hold_file": os.environ["FABRIC_LAB_HOLD_FILE"],
         "active_delay": float(os.environ["FABRIC_LAB_ACTIVE_DELAY"]), "venv": a.venv, **seed}


def write(name, text):
    path = os.path.join(a.state, name)
    with open(os.open(path + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        out.write(text)
    os.replace(path + ".new", path)


write("clouds.yaml", yaml.safe_dump({"clouds": clouds}, sort_keys=False))
write("facts.json", json.dumps(facts, indent=1) + "\n")
