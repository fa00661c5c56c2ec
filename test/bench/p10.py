"""P10: looks for drift over 500 Infrastructures that nobody changes, with 20 credentials, on a real kube-apiserver and
an OpenStack whose calls take 10 ms. The controller is alone on one CPU; the cluster and the cloud are on another one.

First how it grows: the time until all objects are known, and the memory, with 100 and with 5 000 of them. Then the
rounds, which write nothing; and reconciles that gardenlet asked for, which have to write their status.
"""
import base64
import http.client
import json
import os
import re
import signal
import ssl
import subprocess
import threading
import time
import urllib.request
from concurrent.futures import ThreadPoolExecutor

from harness import ALL_CPUS, rounds, say
from p11 import LOAD_CPU, SERVER_CPU, TOOLS, Server
from reviews import CONFIG, CORE, named

SHOOTS, CREDENTIALS, LATENCY_MS, CONCURRENCY = 500, 20, 10, 20
FEW, MANY, GROWN = 100, 5000, "bench-grown"
WINDOW = 5
LEAST_RATE, LIMIT_MB = 50, 40
EXTENSIONS = "extensions.gardener.cloud/v1alpha1"
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"


def main(work, rows):
    bench = Bench(work)
    try:
        growth(bench, rows)
        bench.shoots()
        drift = drift_rounds(bench, rows)
        annotated(bench, rows, drift)
    finally:
        bench.end()


def growth(bench, rows):
    """Started with few objects, then with many: nothing is due for any of them."""
    seen = {}
    bench.api.create("api/v1/namespaces", [named("v1", "Namespace", GROWN)])
    for count, first in ((FEW, 0), (MANY, FEW)):
        bench.grown(first, count)
        seen[count] = [bench.start_up() for _ in range(rounds(7))]
        seconds, rss = (sorted(values)[len(values) // 2] for values in zip(*seen[count]))
        say(f"  {count} objects: known after {seconds:.2f} s, {rss:.1f} MB")
    bench.delete_grown()
    rows.add("P10", "start_up", [s for s, _ in seen[MANY]], f"{FEW} objects", [s for s, _ in seen[FEW]], "s", None)
    rows.add("P10", "memory_grown", [m for _, m in seen[MANY]], f"{FEW} objects", [m for _, m in seen[FEW]], "MB", None)
    each = [(many - few) * 1e3 / (MANY - FEW) for (_, many), (_, few) in zip(seen[MANY], seen[FEW])]
    say(f"  each further object takes {sorted(each)[len(each) // 2]:.2f} kB")


def drift_rounds(bench, rows):
    controller = bench.controller("--drift-interval", "1s")
    looked = 'fabric_infrastructure_drift_rounds_total{result="clean"}'
    bench.wait(lambda: controller.metric(looked) >= SHOOTS)  # one look at each, and every login
    tokens, before = bench.cloud_told()["tokens"], bench.version()
    rates = []
    for number in range(rounds(7)):
        start, begun = controller.metric(looked), time.monotonic()
        time.sleep(WINDOW)
        rates.append((controller.metric(looked) - start) / (time.monotonic() - begun))
        say(f"  window {number + 1}: {rates[-1]:.0f} rounds a second, {controller.peak_mb():.1f} MB")
    other = [result for result in ("drifted", "pending", "error")
             if controller.metric(f'fabric_infrastructure_drift_rounds_total{{result="{result}"}}')]
    if other:
        raise SystemExit(f"error: rounds were not all clean: {other}")
    if bench.version() != before:
        raise SystemExit("error: a drift round wrote to an Infrastructure")
    told, peak = bench.cloud_told(), controller.peak_mb()
    if told["tokens"] != tokens:
        raise SystemExit(f"error: {told['tokens'] - tokens} new tokens for credentials that were logged in")
    controller.end()
    # All since the cloud began: those of the reconciles that made the infrastructures were another process's.
    own = (tokens - bench.tokens_before) / CREDENTIALS
    rows.add("P10", "drift_rate", rates, "limit", LEAST_RATE, "1/s", 1.0, at_least=True)
    rows.add("P10", "memory", [peak] * len(rates), "limit", LIMIT_MB, "MB", 1.0)
    rows.add("P10", "tokens_per_credential", [own] * len(rates), "limit", 1, "tokens", 1.0)
    return rates


def annotated(bench, rows, drift):
    controller = bench.controller("--drift-interval", "0s")
    rates = []
    for number in range(rounds(7)):
        before, begun = controller.reconciled(), time.monotonic()
        bench.ask()
        bench.wait(lambda: controller.reconciled() >= before + SHOOTS)
        rates.append(SHOOTS / (time.monotonic() - begun))
        say(f"  all asked, round {number + 1}: {rates[-1]:.0f} reconciles a second")
    controller.end()
    rows.add("P10", "annotated_rate", rates, "drift rounds", drift, "1/s", None)


class Controller(Server):
    def metrics(self):
        with urllib.request.urlopen(f"http://{self.operations}/metrics", timeout=10) as answer:
            return answer.read().decode()

    @property
    def operations(self):
        return self.told["operations"].strip('[]"')

    def metric(self, name):
        return sum(float(line.rpartition(" ")[2]) for line in self.metrics().splitlines() if line.startswith(name))

    def reconciled(self):
        failed = 'fabric_infrastructure_reconciles_total{operation="%s",result="failed"}'
        if any(self.metric(failed % operation) for operation in ("Create", "Reconcile")):
            with open(self.log.name, encoding="utf-8") as log:
                raise SystemExit(f"error: a reconcile failed\n{log.read()[-4000:]}")
        return self.metric("fabric_infrastructure_reconciles_total")

    def is_ready(self):
        try:
            with urllib.request.urlopen(f"http://{self.operations}/readyz", timeout=10):
                return True
        except urllib.error.HTTPError:
            return False

    def rss_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmRSS:")) * 1024 / 1e6


class Api:
    """The API server, as its administrator."""

    def __init__(self, kubeconfig, work):
        with open(kubeconfig, encoding="utf-8") as f:
            text = f.read()
        def field(name):
            return re.search(rf'{name}: "?([^,}}"\s]+)', text)[1]
        self.host = field("server").removeprefix("https://")
        files = {}
        for name in ("certificate-authority-data", "client-certificate-data", "client-key-data"):
            files[name] = os.path.join(work, name)
            with open(files[name], "wb") as f:
                f.write(base64.b64decode(field(name)))
        self.tls = ssl.create_default_context(cafile=files["certificate-authority-data"])
        self.tls.load_cert_chain(files["client-certificate-data"], files["client-key-data"])
        self.workers = ThreadPoolExecutor(4, initializer=self.connect)
        self.own, self.used = {}, {}

    def connect(self):
        self.own[threading.get_ident()] = http.client.HTTPSConnection(self.host, context=self.tls)

    def call(self, method, path, body=None, kind="application/json"):
        if threading.get_ident() not in self.own:
            self.connect()
        connection = self.own[threading.get_ident()]
        if time.monotonic() - self.used.get(threading.get_ident(), 0) > 10:
            connection.close()  # the API server lets go of idle connections; the next request opens another one
        connection.request(method, "/" + path, json.dumps(body) if body is not None else None, {"Content-Type": kind})
        answer = connection.getresponse()
        text = answer.read()
        self.used[threading.get_ident()] = time.monotonic()
        if answer.status >= 300:
            raise SystemExit(f"error: {method} {path}: {answer.status} {text[:500]!r}")
        return json.loads(text)

    def create(self, path, objects):
        list(self.workers.map(lambda made: self.call("POST", path(made) if callable(path) else path, made), objects))

    def merge(self, patches):
        list(self.workers.map(lambda it: self.call("PATCH", it[0], it[1], "application/merge-patch+json"), patches))


class Bench:
    def __init__(self, work):
        self.work, self.started, self.made = work, 0, []
        self.api = Api(os.environ["FABRIC_LAB_KUBECONFIG"], work)
        self.cloud = Server([TOOLS, "cloud", "--latency", str(LATENCY_MS), "--tenants", str(CREDENTIALS)],
                            os.path.join(work, "cloud.log"), "auth_url", LOAD_CPU)
        self.tokens_before = 0

    def controller(self, *more):
        self.started += 1
        return Controller([
            os.environ["FABRIC_BENCH_EXTENSION"], "--kubeconfig", os.environ["FABRIC_LAB_KUBECONFIG"],
            "--disable-webhooks=infrastructure,cloudprovider", "--webhook-config-namespace", "default", "--webhook-config-server-host", "127.0.0.1",
            "--webhook-config-server-port", "0", "--leader-election=false", "--metrics-bind-address", "127.0.0.1:0",
            "--health-bind-address", "0", "--shutdown-notice", "0s",
            "--infrastructure-max-concurrent-reconciles", str(CONCURRENCY), *more],
            os.path.join(self.work, f"controller-{self.started}.log"), "operations")

    def wait(self, done, seconds=600):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end:
                raise SystemExit("error: waited for too long")
            time.sleep(0.05)

    def start_up(self):
        begun = time.monotonic()
        controller = self.controller("--drift-interval", "0s")
        self.wait(controller.is_ready)
        seconds = time.monotonic() - begun
        time.sleep(1)
        rss = controller.rss_mb()
        controller.end()
        return seconds, rss

    def grown(self, first, end):
        path = f"apis/{EXTENSIONS}/namespaces/{GROWN}/infrastructures"
        names = [f"grown-{number}" for number in range(first, end)]
        self.api.create(path, [self.infrastructure(name, GROWN, {"workers": "10.250.0.0/19"}) for name in names])
        # As if each had been reconciled long ago.
        status = {"observedGeneration": 1, "lastOperation": {
            "type": "Reconcile", "state": "Succeeded", "progress": 100, "description": "Successfully reconciled",
            "lastUpdateTime": "2026-01-01T00:00:00Z"}}
        self.api.merge([(f"{path}/{name}/status", {"status": status}) for name in names])

    def delete_grown(self):
        self.api.call("DELETE", f"apis/{EXTENSIONS}/namespaces/{GROWN}/infrastructures")
        self.api.call("DELETE", f"api/v1/namespaces/{GROWN}")

    def infrastructure(self, name, namespace, networks):
        config = {"apiVersion": CONFIG, "kind": "InfrastructureConfig", "floatingPoolName": "public", "networks": networks}
        return named(EXTENSIONS, "Infrastructure", name, namespace, spec={
            "type": "openstack", "region": "RegionOne", "providerConfig": config,
            "secretRef": {"name": "cloudprovider", "namespace": namespace},
            "sshPublicKey": base64.b64encode(KEY.encode()).decode()})

    def shoots(self):
        """Every shoot in the network of the same user, a security group and a key pair of its own, made by the
        controller as gardenlet would ask for it."""
        cloud = self.cloud.told
        given = {"id": cloud["network"], "subnetId": cloud["subnet"], "router": {"id": cloud["router"]}}
        profile = named(CORE, "CloudProfile", "openstack", spec={"type": "openstack", "providerConfig": {
            "apiVersion": CONFIG, "kind": "CloudProfileConfig", "keystoneURL": cloud["auth_url"]}})
        self.made = [f"shoot--bench--{number}" for number in range(SHOOTS)]
        self.api.create("api/v1/namespaces", [named("v1", "Namespace", name) for name in self.made])
        clusters, secrets, objects = [], [], []
        for number, name in enumerate(self.made):
            shoot = named(CORE, "Shoot", f"s{number}", "garden-bench", spec={
                "region": "RegionOne", "provider": {"type": "openstack", "workers": [{"name": "w"}]},
                "networking": {"type": "calico", "nodes": "10.250.0.0/24", "services": "100.64.0.0/13",
                               "pods": f"100.{96 + number // 16}.{16 * (number % 16)}.0/20"}},
                status={"technicalID": name, "uid": f"00000000-0000-4000-8000-{number:012}"})
            clusters.append(named(EXTENSIONS, "Cluster", name, spec={"cloudProfile": profile, "seed": {}, "shoot": shoot}))
            login = {"domainName": "demo", "tenantName": "demo", **cloud["tenants"][number % CREDENTIALS]}
            secrets.append(named("v1", "Secret", "cloudprovider", name, stringData=login))
            objects.append(self.infrastructure("openstack", name, given))
        self.api.create(f"apis/{EXTENSIONS}/clusters", clusters)
        self.api.create(lambda it: f"api/v1/namespaces/{it['metadata']['namespace']}/secrets", secrets)
        self.api.create(lambda it: f"apis/{EXTENSIONS}/namespaces/{it['metadata']['namespace']}/infrastructures", objects)
        controller = self.controller("--drift-interval", "0s")
        begun = time.monotonic()
        self.wait(lambda: controller.reconciled() >= SHOOTS)
        say(f"  {SHOOTS} infrastructures made in {time.monotonic() - begun:.0f} s")
        controller.end()
        self.tokens_before = self.cloud_told()["tokens"]

    def ask(self):
        asked = {"metadata": {"annotations": {"gardener.cloud/operation": "reconcile"}}}
        self.api.merge([(f"apis/{EXTENSIONS}/namespaces/{name}/infrastructures/openstack", asked) for name in self.made])

    def version(self):
        """Changes with every write to an Infrastructure."""
        objects = self.api.call("GET", f"apis/{EXTENSIONS}/infrastructures")["items"]
        return sorted(it["metadata"]["resourceVersion"] for it in objects)

    def cloud_told(self):
        """What the cloud counted; it says so when it gets the signal."""
        def lines():
            with open(self.cloud.log.name, encoding="utf-8") as log:
                return [line for line in log if '"tokens"' in line and line.endswith("}\n")]
        before = len(lines())
        self.cloud.process.send_signal(signal.SIGUSR1)
        self.wait(lambda: len(lines()) > before, 10)
        return json.loads(lines()[-1])

    def end(self):
        self.cloud.end()
        if not self.made:
            return
        kubectl = [os.path.join(os.environ["FABRIC_LAB_KUBE_BIN"], "kubectl"), "--kubeconfig", os.environ["FABRIC_LAB_KUBECONFIG"]]
        try:
            free = {"metadata": {"finalizers": None}}
            self.api.merge([(f"apis/{EXTENSIONS}/namespaces/{name}/infrastructures/openstack", free) for name in self.made])
            names = ["clusters.extensions.gardener.cloud/" + name for name in self.made]
            names += ["namespace/" + name for name in self.made]
            subprocess.run([*kubectl, "delete", "--wait=false", "--ignore-not-found", *names], check=True, stdout=subprocess.DEVNULL)
        except (SystemExit, subprocess.CalledProcessError) as error:
            say(f"not everything was deleted: {error}")
