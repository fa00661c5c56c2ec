# shellcheck shell=bash
# The lab's extension: gardener-extension-openstack-fabric from this checkout, beside the lab's Kubernetes, for
# Infrastructures that a person applies. Sourced, after hack/kube/cluster.sh.
EXTENSION=gardener-extension-openstack-fabric

extension_up() { # [--reset]: nothing of its own to begin anew
  local start=$SECONDS target
  is_up kube || die "the extension needs the lab's Kubernetes; start both with: hack/lab up all"
  # Built with the caller's environment, not with the lab's.
  (cd "$ROOT" && cargo build --locked --quiet -p "$EXTENSION") || die "the extension does not build"
  target=${CARGO_TARGET_DIR:-$ROOT/target}
  use_state "$LAB"
  KUBE=$STATE/kube
  "$KUBE/bin/kubectl" --kubeconfig "$KUBE/admin.kubeconfig" --cache-dir "$KUBE/cache" apply --server-side --field-manager=lab \
    -f "$ROOT/hack/kube/extension.yaml" >"$LOG/extension-namespace.log" 2>&1 || fail "the extension's namespace" "$LOG/extension-namespace.log"
  # The binary is a part of the command: another build is started anew.
  cp "$target/debug/$EXTENSION" "$KUBE/bin/$EXTENSION.new"
  cmp -s "$KUBE/bin/$EXTENSION.new" "$KUBE/bin/$EXTENSION" || stop extension
  mv "$KUBE/bin/$EXTENSION.new" "$KUBE/bin/$EXTENSION"
  kube_part extension "$KUBE/bin/$EXTENSION" --kubeconfig "$KUBE/admin.kubeconfig" --disable-webhooks=infrastructure,cloudprovider \
    --webhook-config-namespace extension-openstack-fabric --webhook-config-server-host 127.0.0.1 --webhook-config-server-port 0 \
    --metrics-bind-address 0 --health-bind-address 127.0.0.1:0 --drift-interval 60s --log-format text
  kube_wait extension grep -q 'holding the lease' "$LOG/extension.out"
  say "the extension is up after $((SECONDS - start)) s; it logs to $LOG/extension.out"
}

extension_exports() { :; }

extension_status() {
  local pid
  if alive extension; then
    read -r pid _ < "$RUN/extension.pid"
    printf '%-24s %-9s %-24s %7s %5s  %s\n' extension - "$LOG/extension.out" "$pid" \
      "$(awk '/^VmRSS/ {print int($2 / 1024)}' "/proc/$pid/status")" "$(tail -n 1 "$LOG/extension.out" | cut -c1-60)"
    return 0
  fi
  printf '%-24s %-9s %-24s %7s %5s  %s\n' extension - - - - "does not run"
  return 1
}
