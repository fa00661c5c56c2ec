"""P12: judging 1 000 Shoots against only loading them in Python, on all CPUs."""
import json
import os

import shoots
from harness import ALL_CPUS, interleave, rounds, run

COUNT = 1000
HERE = os.path.dirname(os.path.abspath(__file__))


def main(work, rows):
    texts, wrong = shoots.generate(COUNT)
    folder, single = os.path.join(work, "shoots"), os.path.join(work, "shoots.yaml")
    os.mkdir(folder)
    for number, text in enumerate(texts):
        with open(os.path.join(folder, f"shoot-{number:04}.yaml"), "w", encoding="utf-8") as f:
            f.write(text)
    with open(single, "w", encoding="utf-8") as f:
        f.write("---\n".join(texts))
    peaks = []
    for what, path in (("validate_files", folder), ("validate_one_file", single)):
        contestants = {"ours": lambda _, p=path: validate(p, wrong), "PyYAML": lambda _, p=path: load(p)}
        results = interleave(contestants, rounds(15), warm_up=2)
        ours, theirs = results["ours"], results["PyYAML"]
        rows.add("P12", what, [r.seconds for r in ours], "PyYAML CSafeLoader", [r.seconds for r in theirs], "s", 0.1)
        peaks.append((what, ours))
    for what, ours in peaks:
        rows.add("P12", what.replace("validate", "memory"), [r.peak_mb for r in ours], "limit", 40, "MB", 1.0)


def validate(path, wrong):
    """Ours, which has to find every Shoot and exactly what is wrong."""
    ran = run([os.environ["FABRIC_BIN"], "infra", "validate", "-f", path, "-o", "json"], ALL_CPUS, expect=(1,))
    reports = json.loads(ran.out)
    found = sorted(report["name"].rpartition("/")[2] for report in reports if report["errors"])
    if len(reports) != COUNT or found != wrong:
        raise SystemExit(f"error: {len(reports)} of {COUNT} reports, {len(found)} of {len(wrong)} with errors")
    return ran


def load(path):
    ran = run([os.environ["FABRIC_BENCH_PYTHON"], os.path.join(HERE, "peers", "load_yaml.py"), path], ALL_CPUS)
    if int(ran.out) != COUNT:
        raise SystemExit(f"error: the peer loaded {ran.out.strip()} of {COUNT} documents")
    return ran
