"""P8: a reconcile that has nothing to do, ours beside the calls of upstream's Go flow, on the embedded cloud whose calls
take 0, 20 and 50 ms. The reconciler is alone on one CPU; the cloud is on another one.

Both sides run in one program (src/noop): ours is the controller's own driver with its cache of sessions, the peer sends
what src/noop/plan.rs lists. What each sends is counted by itself and by the cloud.

What the lines compare, for a shoot that is `managed`, `no_dns` (managed, without DNS servers: upstream writes the subnet
each time), `given` (network, router and subnet are the user's) or `dual` (managed, with an IPv6 side):
  noop_…  the controller in service, which has its token, beside upstream's whole reconcile: the check of the config and
          the flow, each with a provider client, and a login, of its own. It is the same work: ours checks too.
  flow_…  the same beside the flow alone, which leaves upstream's check out and ours in.
  new_…   the controller just started, which has to log in and to connect; the peer keeps its connections.
Calls are requests without the logins, as in P9, tokens are the logins, and `flow_requests_…` are both: upstream logs in
for each reconcile. `flow_calls_…` are told without a goal: a shoot is six kinds of things in the cloud, upstream's flow
asks for the external network besides, and six calls cannot be 0.8 of seven.
"""
import json
import os
import signal
import statistics
import subprocess
import time
from dataclasses import dataclass

from harness import interleave, place, rounds, say
from p11 import LOAD_CPU, SERVER_CPU, TOOLS, Server

PATTERNS = ("managed", "no_dns", "given", "dual")
# How often in a round, by latency: a tenth of a second and more for each side.
LATENCIES = {0: 25, 20: 5, 50: 3}
CONTESTANTS = ("kept", "new", "whole", "flow")
NAMES = {"whole": "upstream's check and flow", "flow": "upstream's flow"}
MOST_CALLS, MOST_WALL = 0.8, 0.5


def main(work, rows):
    counts = {}
    for latency, times in LATENCIES.items():
        cloud = Cloud(work, latency)
        try:
            for pattern in PATTERNS:
                say(f"  {pattern}, {latency} ms")
                results = measure(cloud, work, pattern, times)
                tell(rows, pattern, latency, results, counts)
        finally:
            cloud.end()


def measure(cloud, work, pattern, times):
    worker = Worker(cloud, work, pattern)
    try:
        return interleave({who: lambda _, w=who: worker.run(w, times) for who in CONTESTANTS}, rounds(7))
    finally:
        worker.end()


def tell(rows, pattern, latency, results, counts):
    def each(who, field):
        return [getattr(ran, field) for ran in results[who]]
    sent = {who: (each(who, "calls"), each(who, "tokens")) for who in CONTESTANTS}
    if pattern not in counts:
        counts[pattern] = sent
        kept, whole, flow = (sent[who] for who in ("kept", "whole", "flow"))
        rows.add("P8", f"noop_calls_{pattern}", kept[0], NAMES["whole"], whole[0], "calls", MOST_CALLS)
        rows.add("P8", f"noop_tokens_{pattern}", kept[1], NAMES["whole"], whole[1], "tokens", None)
        rows.add("P8", f"flow_calls_{pattern}", kept[0], NAMES["flow"], flow[0], "calls", None)
        requests = [[calls + tokens for calls, tokens in zip(*of)] for of in (kept, flow)]
        rows.add("P8", f"flow_requests_{pattern}", requests[0], NAMES["flow"], requests[1], "requests", MOST_CALLS)
    elif counts[pattern] != sent:
        raise SystemExit(f"error: {pattern}: what is sent depends on the latency: {counts[pattern]}, {sent}")
    seconds = {who: each(who, "seconds") for who in CONTESTANTS}
    for what, ours, peer, goal in (("noop", "kept", "whole", MOST_WALL), ("flow", "kept", "flow", MOST_WALL),
                                   ("new", "new", "whole", None)):
        # Without latency it is the work of the CPU, and the peer does none on the answers.
        goal = goal if latency else None
        rows.add("P8", f"{what}_wall_{pattern}_{latency}ms", seconds[ours], NAMES[peer], seconds[peer], "s", goal)


@dataclass(frozen=True)
class Ran:
    """The median of a round's runs, and what each of them sent."""
    seconds: float
    calls: int
    tokens: int


class Cloud(Server):
    """The embedded cloud, which counts what reaches it."""

    def __init__(self, work, latency):
        super().__init__([TOOLS, "cloud", "--latency", str(latency), "--tenants", "1"],
                         os.path.join(work, f"cloud-{latency}.log"), "auth_url", LOAD_CPU)
        self.latency = latency
        self.answers = open(self.log.name, encoding="utf-8")
        self.answers.readline()

    def counted(self):
        """What it has counted since it began; it says so when it gets the signal."""
        self.process.send_signal(signal.SIGUSR1)
        end, line = time.monotonic() + 10, ""
        while not line.endswith("\n"):
            if time.monotonic() > end:
                raise SystemExit("error: the cloud does not tell what it counted")
            time.sleep(0.002)
            line += self.answers.readline()
        return json.loads(line)

    def end(self):
        self.answers.close()
        super().end()


class Worker:
    """The process that reconciles one shoot, by one side or the other."""

    def __init__(self, cloud, work, pattern):
        self.cloud = cloud
        command = [TOOLS, "noop", "--cloud", json.dumps(cloud.told), "--pattern", pattern.replace("_", "-")]
        shows = os.environ.get("FABRIC_BENCH_TRACE") and cloud.latency == 0
        if shows:
            command.append("--show")
        self.log = open(os.path.join(work, f"noop-{pattern}.log"), "w+", encoding="utf-8")
        own = {key: value for key, value in os.environ.items() if not key.startswith(("KUBE", "OS_"))}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True,
                                        env=own, preexec_fn=lambda: place(SERVER_CPU))
        writes = dict(zip(("whole", "flow"), self.answer()["mutations"], strict=True))
        self.mutations = {"kept": 0, "new": 0, **writes}
        if shows:
            say(self.told())

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"error: the reconciler ended with {self.process.wait()}\n{self.told()}")
        return json.loads(line)

    def told(self):
        with open(self.log.name, encoding="utf-8") as log:
            return log.read().rstrip()

    def run(self, who, times):
        """Some runs of one contestant: none may write but what the plan says, and the cloud has to have counted the same."""
        before = self.cloud.counted()
        print(who, times, file=self.process.stdin, flush=True)
        told = self.answer()
        after = self.cloud.counted()
        seen = {field: after[field] - before[field] for field in before}
        expected = {"tokens": told["tokens"] * times, "calls": (told["calls"] + told["tokens"]) * times,
                    "mutations": self.mutations[who] * times}
        if seen != expected:
            raise SystemExit(f"error: {times} times {who}: the cloud counted {seen}, expected {expected}")
        return Ran(statistics.median(told["seconds"]), told["calls"], told["tokens"])

    def end(self):
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        self.log.close()
