"""Runs contestants side by side and tells how they compare (see the section on benches in the targets).

A round runs every contestant once, in an order that rotates; ratios are taken within a round, so that what slows the
machine for a while slows both sides of a ratio.
"""
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass

ALL_CPUS = sorted(os.sched_getaffinity(0))


def say(text):
    print(text, file=sys.stderr, flush=True)


@dataclass(frozen=True)
class Ran:
    """A process that ended."""
    seconds: float
    peak_mb: float
    code: int
    out: str


def run(command, cpus, env=None, expect=(0,)):
    """Runs a command on these CPUs. Its peak memory includes that of a process before `exec`, a copy of this one: what is
    below some 15 MB reads as that, so the figure is never too good."""
    with open("/dev/null", "rb") as nothing, TempText() as out, TempText() as err:
        begun = time.perf_counter()
        process = subprocess.Popen(command, stdin=nothing, stdout=out.file, stderr=err.file,
                                   env={**os.environ, **(env or {})},
                                   preexec_fn=lambda: place(cpus))
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begun
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode not in expect:
            raise SystemExit(f"error: exit code {process.returncode} of {' '.join(command)}\n{out.text()}{err.text()}")
        return Ran(seconds, usage.ru_maxrss * 1024 / 1e6, process.returncode, out.text())


def place(cpus):
    """Pins a process, and lets it run before whatever else wants its CPU, where that is allowed."""
    os.sched_setaffinity(0, cpus)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        pass


class TempText:
    """A file for a process's output: unlike a pipe it never makes the process wait."""

    def __enter__(self):
        self.file = os.fdopen(os.memfd_create("output"), "w+b")
        return self

    def __exit__(self, *_):
        self.file.close()

    def text(self):
        self.file.seek(0)
        return self.file.read().decode(errors="replace")


def rounds(default):
    """How many: what the environment says, or the bench's own number; never fewer than seven."""
    return max(7, int(os.environ.get("FABRIC_BENCH_ROUNDS", default)))


def interleave(contestants, measured, warm_up=1):
    """What `contestants[name](round)` returned, by name, a list of the `measured` rounds after the warm-up."""
    results = {name: [] for name in contestants}
    order = list(contestants)
    total = warm_up + measured
    for number in range(total):
        for name in order:
            result = contestants[name](number)
            if number >= warm_up:
                results[name].append(result)
        order.append(order.pop(0))
        told = ", ".join(f"{name} {all_[-1].seconds:.3f} s" for name, all_ in results.items() if all_)
        say(f"  round {number + 1}/{total}: {told or 'warm-up'}")
    return results


class Rows:
    """The lines that go out, and the table at the end."""

    def __init__(self):
        self.rows = []

    def add(self, bench, what, ours, peer, theirs, unit, goal, at_least=False):
        """A comparison: two lists of equal length, `goal` the largest good ratio, or the smallest; None: it is only
        told. A plain number for `theirs` is a limit that stands for itself."""
        if not isinstance(theirs, list):
            theirs = [theirs] * len(ours)
        ratios = [a / b for a, b in zip(ours, theirs, strict=True)]
        low, ratio, high = statistics.quantiles(ratios, n=4, method="inclusive")
        row = {"id": bench, "what": what, "ours": figure(statistics.median(ours)), "peer": peer,
               "theirs": figure(statistics.median(theirs)), "unit": unit, "ratio": figure(ratio),
               "low": figure(low), "high": figure(high), "rounds": len(ours), "goal": goal,
               "met": None if goal is None else ratio >= goal if at_least else ratio <= goal}
        self.rows.append(row)
        print(json.dumps(row), flush=True)

    def table(self):
        form = "{:4} {:22} {:>10} {:>10} {:6} {:>7}  {:15} {:>5}  {:5}{}"
        say(form.format("id", "what", "ours", "theirs", "unit", "ratio", "(quartiles)", "goal", "met", "peer"))
        for r in self.rows:
            say(form.format(r["id"], r["what"], r["ours"], r["theirs"], r["unit"], r["ratio"],
                            f"({r['low']}–{r['high']})", "-" if r["goal"] is None else r["goal"],
                            {True: "yes", False: "NO", None: "-"}[r["met"]], r["peer"]))


def figure(number):
    """Four digits that matter."""
    return float(f"{number:.4g}")
