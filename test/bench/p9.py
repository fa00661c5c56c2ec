"""P9: what a shoot needs, made on the lab by one process: ours, an openstacksdk script, openstackclient commands; and
how many calls it takes us to find that nothing is to be done.

All make the same objects, tags and rules: after each round what stands under the names is compared. Everybody waits
until the router's interface is ACTIVE. Removing is not measured.
"""
import base64
import json
import os
import re
import uuid

from cloud import Cloud
from counter import Counter, clouds_through, dump, load_facts
from harness import ALL_CPUS, interleave, rounds, run, say

HERE = os.path.dirname(os.path.abspath(__file__))
CONFIG = """\
apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
kind: InfrastructureConfig
floatingPoolName: public
networks:
  workers: 10.250.0.0/19
"""
# Clients stay on one CPU; the services go where the kernel puts them.
CLIENT_CPU = ALL_CPUS[-1:]
# Each of Neutron's processes compiles its queries when it is asked for the first time, for ours and for the script,
# which use a connection or a few; the many commands of the client meet them all.
WARM_UP = 12
NO_OP_CALLS, NO_OP_TOKENS = 12, 1


class Bench:
    """The contestants: each makes the infrastructure of a name."""

    def __init__(self, work):
        self.work, self.cloud, self.run_id = work, Cloud(), uuid.uuid4().hex[:6]
        self.config, self.key = os.path.join(work, "config.yaml"), os.path.join(work, "key.pub")
        with open(self.config, "w", encoding="utf-8") as f:
            f.write(CONFIG)
        with open(self.key, "w", encoding="utf-8") as f:
            f.write(public_key())
        self.shape, self.made = None, set()
        self.cloud.under("nothing")  # wakes the services one after the other: they load a part on the first call

    def name(self, who, number):
        name = f"bench-{self.run_id}-{who}-{number}"
        self.made.add(name)
        return name

    def ours(self, name, env=None):
        command = [os.environ["FABRIC_BIN"], "infra", "apply", "-f", self.config, "--name", name,
                   "--nodes", "10.250.0.0/16", "--pods", "100.96.0.0/11", "--ssh-key", self.key,
                   "--state", os.path.join(self.work, f"{name}.json")]
        return run(command, CLIENT_CPU, {"OS_CLOUD": "demo", **(env or {})})

    def sdk(self, name, env=None):
        python = os.path.join(os.environ["FABRIC_BENCH_OPENSTACK"], "python")
        return run([python, os.path.join(HERE, "peers", "create_sdk.py"), name, str(uuid.uuid4()), self.key], CLIENT_CPU,
                   {"OS_CLOUD": "demo", **(env or {})})

    def client(self, name, env=None):
        path = f"{os.environ['FABRIC_BENCH_OPENSTACK']}:{os.environ['PATH']}"
        return run([os.path.join(HERE, "peers", "create_client.sh"), name, str(uuid.uuid4()), self.key], CLIENT_CPU,
                   {"OS_CLOUD": "demo", "PATH": path, **(env or {})})

    def check(self, who, name):
        """The same was made as by everybody before."""
        shape = self.cloud.shape(name)
        if self.shape is None:
            self.shape = (who, shape)
            kinds = ", ".join(f"{len(things)} {kind}" for kind, things in shape.items())
            say(f"  each makes: {kinds}, {len(shape['security_groups'][0]['security_group_rules'])} rules")
        if shape != self.shape[1]:
            text = "\n".join(difference(self.shape[1], shape))
            raise SystemExit(f"error: {self.shape[0]} (-) and {who} (+) made different things:\n{text}")

    def remove(self, name):
        self.cloud.remove(name)
        self.made.discard(name)

    def contestant(self, who):
        def one(number):
            name = self.name(who, number)
            ran = getattr(self, who)(name)
            self.check(who, name)
            self.remove(name)
            return ran
        return one


def main(work, rows):
    bench = Bench(work)
    try:
        create(bench, rows)
        no_op(bench, rows)
    finally:
        for name in list(bench.made):
            bench.remove(name)


def create(bench, rows):
    say(f"  waking the services: {WARM_UP} times each")
    for number in range(WARM_UP):
        for who in ("ours", "sdk"):
            bench.contestant(who)(f"warm-{number}")
    results = interleave({who: bench.contestant(who) for who in ("ours", "sdk", "client")}, rounds(7))
    seconds = {who: [ran.seconds for ran in all_] for who, all_ in results.items()}
    rows.add("P9", "create_vs_sdk", seconds["ours"], "openstacksdk script", seconds["sdk"], "s", 0.6)
    rows.add("P9", "create_vs_client", seconds["ours"], "openstackclient", seconds["client"], "s", 0.1)


def no_op(bench, rows):
    """Counted outside of our process, by a proxy before each service."""
    counter = Counter(load_facts())
    env = {"OS_CLIENT_CONFIG_FILE": clouds_through(counter, bench.work)}
    try:
        for who in ("ours", "sdk", "client"):
            name = bench.name(who, "counted")
            counter.clear()
            getattr(bench, who)(name, env)
            say(f"  {who} creates with {counter.requests()} calls, {counter.tokens()} tokens")
            if os.environ.get("FABRIC_BENCH_TRACE"):
                say(dump(counter.calls))
        name = bench.name("ours", "counted")
        calls, tokens = [], []
        for _ in range(rounds(7)):
            counter.clear()
            ran = bench.ours(name, env)
            calls.append(counter.requests())
            tokens.append(counter.tokens())
            told = re.search(r"(\d+) API calls?, (\d+) logins?", ran.out)
            if not told or [int(told[1]), int(told[2])] != [calls[-1], tokens[-1]]:
                raise SystemExit(f"error: counted {calls[-1]} calls and {tokens[-1]} tokens, ours told:\n{ran.out}")
        changing = [call for call in counter.calls if call[1] != "GET" and call[0] != "identity"]
        if changing:
            raise SystemExit(f"error: the second apply changed something:\n{dump(changing)}")
        if os.environ.get("FABRIC_BENCH_TRACE"):
            say(dump(counter.calls))
    finally:
        counter.close()
    rows.add("P9", "noop_calls", calls, "limit", NO_OP_CALLS, "calls", 1.0)
    rows.add("P9", "noop_tokens", tokens, "limit", NO_OP_TOKENS, "tokens", 1.0)


def public_key():
    """An Ed25519 key whose private half nobody has (RFC 8709, section 4)."""
    parts = (b"ssh-ed25519", os.urandom(32))
    blob = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
    return f"ssh-ed25519 {base64.b64encode(blob).decode()}"


def difference(one, two):
    lines = [set(json.dumps(shape, indent=1, sort_keys=True).splitlines()) for shape in (one, two)]
    return [f"-{line}" for line in sorted(lines[0] - lines[1])] + [f"+{line}" for line in sorted(lines[1] - lines[0])]
