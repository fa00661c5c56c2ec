# shellcheck shell=bash
# Where things are, and the few words every script of hack/ speaks. Sourced, never run.
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)
CACHE=${XDG_CACHE_HOME:-~/.cache}/openstack-fabric

say() { printf '%s %s\n' "$(date +%T)" "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }
digest() { sha256sum | cut -c1-12; }

# Runs a command while holding a lock file, so that two checkouts can work side by side. What the
# command leaves running in the background has to close descriptor 9, or it keeps the lock.
locked() { # file command...
  local file=$1; shift
  mkdir -p "$(dirname "$file")"
  { flock -n 9 || { say "waiting for $file"; flock 9; }; "$@"; } 9>"$file"
}

# The virtual environment of the OpenStack services; another pin is another folder.
VENV=$CACHE/openstack-$(digest < "$ROOT/hack/openstack/requirements.txt")
# What the benches compare with, beyond what the lab's environment holds.
BENCH=$CACHE/bench-$(digest < "$ROOT/test/bench/requirements.txt")
NEXTEST_VERSION=0.9.148
NEXTEST=$CACHE/nextest-$NEXTEST_VERSION
DENY_VERSION=0.20.0
DENY=$CACHE/deny-$DENY_VERSION
MUTANTS_VERSION=27.1.0
MUTANTS=$CACHE/mutants-$MUTANTS_VERSION

# The parts of the Kubernetes lab: each is built from the module that hack/kube/tools pins it in.
KUBE_TOOLS=(etcd kube-apiserver kube-controller-manager kubectl helm)
kube_module() { # tool
  case $1 in etcd | helm) echo "$ROOT/hack/kube/tools/$1" ;; *) echo "$ROOT/hack/kube/tools/kubernetes" ;; esac
}
# Where a part is kept; another pin is another folder, so two checkouts with different pins do not meet.
kube_place() { echo "$CACHE/$1-$(cat "$(kube_module "$1")"/go.{mod,sum} | digest)"; } # tool
# The binary itself: KUBEBUILDER_ASSETS comes first, part by part, as it does with envtest.
kube_tool() { # tool
  if [ -x "${KUBEBUILDER_ASSETS:-}/$1" ]; then echo "$KUBEBUILDER_ASSETS/$1"; else echo "$(kube_place "$1")/$1"; fi
}
