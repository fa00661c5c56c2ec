#!/usr/bin/env python3
"""Print each service of the lab: its version, where it listens, its memory, and what it answers to the user demo.

usage: status.py STATE            exits 1 when something does not run or does not answer
"""
import json
import os
import sys
import time
from importlib import metadata

from keystoneauth1 import exceptions, session
from keystoneauth1.identity import v3
import yaml


def process(state, name):
    """Process id, and memory in MiB with its workers', if the process that `up` started still runs."""
    try:
        with open(f"{state}/run/{name}.pid", encoding="ascii") as f:
            pid, start = f.read().split()
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
            if f.read().rsplit(") ", 1)[1].split()[19] != start:
                return None
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return pid, sum(memory(one) for one in [pid, *f.read().split()])
    except (OSError, ValueError, StopIteration):
        return None


def memory(pid):
    """Resident memory in MiB."""
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as f:
        return next(int(line.split()[1]) // 1024 for line in f if line.startswith("VmRSS"))


def main(state):
    with open(os.path.join(state, "facts.json"), encoding="utf-8") as f:
        facts = json.load(f)
    with open(os.path.join(state, "clouds.yaml"), encoding="utf-8") as f:
        demo = yaml.safe_load(f)["clouds"]["demo"]
    login = session.Session(auth=v3.Password(**demo["auth"]))
    questions = (
        ("keystone", facts["auth_url"], "/auth/projects", "projects"),
        ("neutron", facts["network"], "/v2.0/networks", "networks"),
        ("nova", facts["compute"], "/flavors", "flavors"),
        ("manila", facts["share"], "/share-networks", "share_networks"),
        ("octavia", facts["load_balancer"], "/v2/lbaas/loadbalancers", "loadbalancers"))
    row = "{:<9} {:<8} {:<28} {:>7} {:>5}  {}".format
    print(row("service", "version", "address", "pid", "MiB", "answer"))
    mariadb = process(state, "mariadb")
    print(row("mariadb", "", "unix socket", *(mariadb or ("-", "-")), "" if mariadb else "does not run"))
    well = bool(mariadb)
    for name, base, path, key in questions:
        running, start = process(state, name), time.monotonic()
        try:
            got = login.get(base + path, timeout=30, headers={"X-OpenStack-Manila-API-Version": "2.60"})
            answer = f"{got.status_code}, {len(got.json()[key])} {key.replace('_', ' ')}, {(time.monotonic() - start) * 1000:.0f} ms"
        except (exceptions.ClientException, ValueError, KeyError) as e:
            answer, well = f"{path}: {type(e).__name__}: {e}".splitlines()[0], False
        well = well and bool(running)
        print(row(name, metadata.version(name), base, *(running or ("-", "-")), answer))
    print(f"active after {facts['active_delay']} s" + ("; HELD: no status moves until `hack/lab release`"
                                                       if os.path.exists(facts["hold_file"]) else ""))
    return 0 if well else 1


sys.exit(main(sys.argv[1]))
