"""P11: the admission program on one CPU, asked over HTTPS past every API server; the load, the cluster and the cloud
are on another one.

By a timetable, with and without looks into a cloud whose calls take 20 ms; the certificate changes in the middle of
each round. Then as fast as it answers, beside the same server without rules, which only reads what is reviewed: its
library with the garden's objects in memory, which shows what the rules cost; and the program as it is, which reads the
secrets of shoots from a real kube-apiserver.
"""
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from dataclasses import dataclass

import reviews
from harness import ALL_CPUS, interleave, place, rounds, run, say

SERVER_CPU, LOAD_CPU = ALL_CPUS[:1], ALL_CPUS[-1:]
RATE, SECONDS, CLOSED_SECONDS = 200, 30, 4
LIMIT_MS, LIMIT_MB, LEAST_RATE = 5, 40, 0.7
LATENCY_MS = 20
TOOLS = os.environ.get("FABRIC_BENCH_TOOLS", "")


def main(work, rows):
    bench = Bench(work)
    try:
        timetable(bench, rows)
        as_answered(bench, rows)
    finally:
        bench.end()


def timetable(bench, rows):
    programs = {"static": bench.admission("off"), "warn": bench.admission("warn")}
    # A short round first, in which profiles and listings are read for the first time.
    contestants = {name: lambda number, p=program: bench.timetable(p, SECONDS if number else 5)
                   for name, program in programs.items()}
    results = interleave(contestants, rounds(7))
    for name, program in programs.items():
        p99 = [round_.seconds * 1e3 for round_ in results[name]]
        # A look into the cloud takes 20 ms and more: with them the limit is what it is compared to, no goal.
        rows.add("P11", f"p99_{name}", p99, "limit", LIMIT_MS, "ms", 1.0 if name == "static" else None)
        rows.add("P11", f"memory_{name}", [round_.peak_mb for round_ in results[name]], "limit", LIMIT_MB, "MB", 1.0)
        program.end()


def as_answered(bench, rows):
    servers = {"program": bench.admission("off"), "rules": bench.library(), "empty": bench.library("--empty")}
    contestants = {name: lambda _, s=server, n=name: bench.as_answered(s, n != "empty") for name, server in servers.items()}
    results = interleave(contestants, rounds(7))
    for name, all_ in results.items():
        cpu = sum(r.cpu for r in all_) / sum(r.count for r in all_)
        say(f"  {name}: {sum(r.rate for r in all_) / len(all_):.0f} a second, {cpu * 1e6:.0f} µs of the server's CPU each, "
            f"which was busy {sum(r.cpu for r in all_) / sum(r.took for r in all_):.0%} of the time")
    empty = [r.rate for r in results["empty"]]
    # What limits the program is the API server beside the load: no goal there.
    for name, goal in (("rules", LEAST_RATE), ("program", None)):
        rows.add("P11", f"max_rate_{name}", [r.rate for r in results[name]], "empty rules", empty, "1/s", goal,
                 at_least=True)


@dataclass(frozen=True)
class Round:
    """What the load saw, and what the server spent on it."""
    seconds: float  # p99; in a round without a timetable, a review's mean
    rate: float
    count: int
    took: float
    cpu: float
    peak_mb: float


class Server:
    """A process on the server's CPU, and where its webhooks are."""

    def __init__(self, command, log, address, cpus=SERVER_CPU, env=None):
        self.log = open(log, "w+", encoding="utf-8")
        own = {key: value for key, value in os.environ.items() if not key.startswith(("KUBE", "OS_"))}
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
                                        env={**own, **(env or {})}, preexec_fn=lambda: place(cpus))
        self.told = self.wait(address)
        self.address = self.told.get("webhooks")

    def wait(self, field):
        """The first line that has this field."""
        end = time.monotonic() + 30
        while time.monotonic() < end and self.process.poll() is None:
            with open(self.log.name, encoding="utf-8") as lines:
                for line in lines:
                    if line.endswith("}\n") and field in (told := json.loads(line)):
                        return told
            time.sleep(0.05)
        with open(self.log.name, encoding="utf-8") as lines:
            raise SystemExit(f"error: {self.process.args[0]} does not start\n{lines.read()}")

    def cpu(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as f:
            fields = f.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak_mb(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as f:
            return next(int(line.split()[1]) for line in f if line.startswith("VmHWM:")) * 1024 / 1e6

    def end(self):
        self.process.kill()
        self.process.wait()
        self.log.close()


class Bench:
    def __init__(self, work):
        self.work, self.servers = work, []
        self.certificates = os.path.join(work, "certificates")
        os.mkdir(self.certificates)
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                     "-subj", "/CN=bench CA", "-keyout", "ca.key", "-out", "ca.crt")
        self.renew()
        self.cloud = self.start([TOOLS, "cloud", "--latency", str(LATENCY_MS)], "auth_url", LOAD_CPU).told
        self.projects = [f"garden-bench-{os.getpid()}-{number}" for number in range(reviews.PROJECTS)]
        garden = reviews.garden(self.projects, self.cloud)
        self.garden, self.requests = os.path.join(work, "garden.jsonl"), os.path.join(work, "reviews.jsonl")
        reviews.write(garden, self.garden)
        lines = reviews.generate(2000, self.projects, self.cloud)
        self.refused = sum(not line["allowed"] for line in lines) / len(lines)
        reviews.write(lines, self.requests)
        # A server without rules refuses nobody.
        self.all_allowed = os.path.join(work, "allowed.jsonl")
        reviews.write([{**line, "allowed": True} for line in lines], self.all_allowed)
        spaces = [reviews.named("v1", "Namespace", name) for name in self.projects]
        self.kubectl("apply", spaces + garden)

    def kubectl(self, verb, objects, *more):
        everything = json.dumps({"apiVersion": "v1", "kind": "List", "items": objects})
        kubectl = os.path.join(os.environ["FABRIC_LAB_KUBE_BIN"], "kubectl")
        subprocess.run([kubectl, "--kubeconfig", os.environ["FABRIC_LAB_KUBECONFIG"], verb, *more, "-f", "-"], check=True,
                       input=everything, text=True, stdout=subprocess.DEVNULL)

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.certificates, check=True, stderr=subprocess.DEVNULL)

    def renew(self):
        """Another key and certificate of the same CA, moved into place as a volume's are."""
        self.openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                     "-CA", "ca.crt", "-CAkey", "ca.key", "-subj", "/CN=bench", "-addext", "subjectAltName=DNS:localhost",
                     "-addext", "basicConstraints=critical,CA:false", "-keyout", "tls.key.new", "-out", "tls.crt.new")
        for name in ("tls.key", "tls.crt"):
            path = os.path.join(self.certificates, name)
            shutil.move(path + ".new", path)

    def start(self, command, field, cpus=SERVER_CPU):
        log = os.path.join(self.work, f"server-{len(self.servers)}.log")
        server = Server(command, log, field, cpus)
        self.servers.append(server)
        return server

    def admission(self, mode):
        return self.start([
            os.environ["FABRIC_BENCH_ADMISSION"], "--kubeconfig", os.environ["FABRIC_LAB_KUBECONFIG"],
            "--webhook-config-cert-dir", self.certificates, "--webhook-config-register=false",
            "--leader-election=false", "--webhook-config-server-host", "127.0.0.1", "--webhook-config-server-port", "0",
            "--metrics-bind-address", "0", "--health-bind-address", "0", "--dynamic-validation", mode], "webhooks")

    def library(self, *more):
        return self.start([TOOLS, "serve", "--cert-dir", self.certificates, "--garden", self.garden, *more], "webhooks")

    def load(self, server, requests, seconds, *how):
        cpu = server.cpu()
        ran = run([TOOLS, "load", "--address", server.address, "--ca", os.path.join(self.certificates, "ca.crt"),
                   "--requests", requests, "--seconds", str(seconds), *how], LOAD_CPU)
        told = json.loads(ran.out)
        if told["failed"]:
            raise SystemExit(f"error: {told['failed']} of {told['count']} reviews: {told['problems']}")
        return told, server.cpu() - cpu

    def timetable(self, server, seconds):
        changing = threading.Timer(seconds / 4, self.renew)
        changing.start()
        told, cpu = self.load(server, self.requests, seconds, "--rate", str(RATE))
        changing.join()
        # Files are looked at every 10 s.
        if seconds == SECONDS and told["certificates"] < 2:
            raise SystemExit(f"error: the certificate did not change: {told}")
        say(f"    {told['count']} reviews, {told['refused']} refused, {told['warned']} warned, none failed; p50 "
            f"{told['p50_ms']:.2f} ms, p99 {told['p99_ms']:.2f} ms, longest {told['max_ms']:.1f} ms; "
            f"{told['certificates']} certificates; {server.peak_mb():.1f} MB")
        return Round(told["p99_ms"] / 1e3, told["rate"], told["count"], seconds, cpu, server.peak_mb())

    def as_answered(self, server, rules):
        told, cpu = self.load(server, self.requests if rules else self.all_allowed, CLOSED_SECONDS)
        took = told["count"] / told["rate"]
        return Round(1 / told["rate"], told["rate"], told["count"], took, cpu, server.peak_mb())

    def end(self):
        for server in self.servers:
            if server.process.poll() is None:
                server.process.send_signal(signal.SIGKILL)
                server.process.wait()
        namespaces = [reviews.named("v1", "Namespace", name) for name in getattr(self, "projects", [])]
        profile = [reviews.named(reviews.CORE, "CloudProfile", "openstack")]
        try:
            self.kubectl("delete", namespaces + profile, "--wait=false", "--ignore-not-found")
        except subprocess.CalledProcessError as error:
            say(f"not everything was deleted: {error}")
