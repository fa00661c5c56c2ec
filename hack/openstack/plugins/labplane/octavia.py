"""Octavia provider driver without a data plane: every accepted change goes ACTIVE/ONLINE, every delete
DELETED, after $FABRIC_LAB_ACTIVE_DELAY seconds, through the code that serves real drivers' status reports.
VIP ports are made in (and removed from) Neutron by Octavia itself. A load balancer whose description
holds "lab:error" ends in ERROR.
"""
import os

from octavia.api.drivers.driver_agent.driver_updater import DriverUpdater
from octavia.api.drivers.noop_driver.driver import NoopProviderDriver

from labplane.later import Later

LATER = Later(float(os.environ.get("FABRIC_LAB_ACTIVE_DELAY", "0.3")), os.environ.get("FABRIC_LAB_HOLD_FILE", ""))


def settle(kind, obj_id, cascade=False):
    """Finish what is pending in the tree of the load balancer that this object belongs to."""
    up = DriverUpdater()
    repo = {"lb": up.loadbalancer_repo, "listener": up.listener_repo, "pool": up.pool_repo,
            "l7policy": up.l7policy_repo}[kind]
    with up.db_session.begin():
        obj = repo.get(up.db_session, id=obj_id)
        if obj is None:  # not committed yet, or deleted meanwhile
            raise LookupError(f"{kind} {obj_id}")
        lb = obj if kind == "lb" else obj.listener.load_balancer if kind == "l7policy" else obj.load_balancer
        lb = up.loadbalancer_repo.get(up.db_session, id=lb.id)

    def new(o):
        if cascade or o.provisioning_status == "PENDING_DELETE":
            return [{"id": o.id, "provisioning_status": "DELETED"}]
        if o.provisioning_status in ("PENDING_CREATE", "PENDING_UPDATE"):
            return [{"id": o.id, "provisioning_status": "ACTIVE", "operating_status": "ONLINE"}]
        return []

    def every(objs):
        return [n for o in objs for n in new(o)]

    policies = [p for li in lb.listeners for p in li.l7policies]
    state = new(lb)
    if state and "lab:error" in (lb.description or "") and not cascade and lb.provisioning_status != "PENDING_DELETE":
        state = [{"id": lb.id, "provisioning_status": "ERROR", "operating_status": "ERROR"}]
    for status in ({"l7rules": every(r for p in policies for r in p.l7rules), "l7policies": every(policies),
                    "listeners": every(lb.listeners)},
                   {"members": every(m for p in lb.pools for m in p.members),
                    "healthmonitors": every(p.health_monitor for p in lb.pools if p.health_monitor),
                    "pools": every(lb.pools)},
                   {"loadbalancers": state}):
        answer = up.update_loadbalancer_status(status)
        if answer["status_code"] != 200:
            raise RuntimeError(answer)


class LabProvider(NoopProviderDriver):
    def create_vip_port(self, *args, **kwargs):
        raise NotImplementedError  # Octavia then makes the port in Neutron and owns it

    def loadbalancer_create(self, loadbalancer):
        LATER(settle, "lb", loadbalancer.loadbalancer_id)

    def loadbalancer_delete(self, loadbalancer, cascade=False):
        LATER(settle, "lb", loadbalancer.loadbalancer_id, cascade)

    def loadbalancer_update(self, old, new):
        LATER(settle, "lb", new.loadbalancer_id)

    def loadbalancer_failover(self, loadbalancer_id):
        LATER(settle, "lb", loadbalancer_id)

    def listener_create(self, listener):
        LATER(settle, "lb", listener.loadbalancer_id)

    def listener_update(self, old, new):
        LATER(settle, "listener", new.listener_id)

    def listener_delete(self, listener):
        LATER(settle, "listener", listener.listener_id)

    def pool_create(self, pool):
        LATER(settle, "lb", pool.loadbalancer_id)

    def pool_update(self, old, new):
        LATER(settle, "pool", new.pool_id)

    def pool_delete(self, pool):
        LATER(settle, "pool", pool.pool_id)

    def member_create(self, member):
        LATER(settle, "pool", member.pool_id)

    def member_update(self, old, new):
        LATER(settle, "pool", old.pool_id)

    def member_delete(self, member):
        LATER(settle, "pool", member.pool_id)

    def member_batch_update(self, pool_id, members):
        LATER(settle, "pool", pool_id)

    def health_monitor_create(self, healthmonitor):
        LATER(settle, "pool", healthmonitor.pool_id)

    def health_monitor_update(self, old, new):
        LATER(settle, "pool", old.pool_id)

    def health_monitor_delete(self, healthmonitor):
        LATER(settle, "pool", healthmonitor.pool_id)

    def l7policy_create(self, l7policy):
        LATER(settle, "listener", l7policy.listener_id)

    def l7policy_update(self, old, new):
        LATER(settle, "l7policy", new.l7policy_id)

    def l7policy_delete(self, l7policy):
        LATER(settle, "l7policy", l7policy.l7policy_id)

    def l7rule_create(self, l7rule):
        LATER(settle, "l7policy", l7rule.l7policy_id)

    def l7rule_update(self, old, new):
        LATER(settle, "l7policy", old.l7policy_id)

    def l7rule_delete(self, l7rule):
        LATER(settle, "l7policy", l7rule.l7policy_id)
