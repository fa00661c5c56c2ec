# shellcheck shell=bash
# The lab's Kubernetes: etcd, kube-apiserver and kube-controller-manager on loopback, with Gardener's kinds as
# CustomResourceDefinitions. Sourced, after the state's folders are known (hack/openstack/state.sh).
#
# No kubelet, no scheduler, no proxy: a Pod is an object, and a Service leads nowhere.
KUBE_PARTS="kube-controller-manager kube-apiserver etcd" # in the order in which they are stopped

kube_up() { # [--reset]
  local start=$SECONDS
  "$ROOT/hack/bootstrap" kube
  use_state "$LAB"
  KUBE=$STATE/kube
  export KUBECONFIG=$KUBE/admin.kubeconfig KUBECACHEDIR=$KUBE/cache
  if [ "${1:-}" = --reset ]; then
    # shellcheck disable=SC2086 # one word a part
    stop $KUBE_PARTS
    rm -rf "$KUBE"
  fi
  mkdir -p "$KUBE/bin"
  ln -sfn "$(kube_tool kubectl)" "$KUBE/bin/kubectl"
  ln -sfn "$(kube_tool helm)" "$KUBE/bin/helm"
  kube_ports
  [ -e "$KUBE/admin.kubeconfig" ] || kube_certificates
  kube_etcd
  kube_apiserver
  kube_controllers
  kube_kinds
  say "Kubernetes is up after $((SECONDS - start)) s; clients find it in $KUBECONFIG"
}

kube_alive() {
  local name
  for name in $KUBE_PARTS; do alive "$name" && return 0; done
  return 1
}

kube_exports() {
  local kube=$LAB/kube
  printf 'export FABRIC_LAB_STATE=%q FABRIC_LAB_KUBECONFIG=%q FABRIC_LAB_KUBE_BIN=%q KUBECONFIG=%q\n' \
    "$LAB" "$kube/admin.kubeconfig" "$kube/bin" "$kube/admin.kubeconfig"
  # The lab's kubectl and helm, ahead of others; once, however often this is evaluated.
  # shellcheck disable=SC2016 # for the caller's shell
  printf 'case ":$PATH:" in *:%q:*) ;; *) export PATH=%q:"$PATH" ;; esac\n' "$kube/bin" "$kube/bin"
}

# Four free ports, chosen once and remembered: clients keep their kubeconfig over `down` and `up`.
kube_ports() {
  local name port seen=' '
  # shellcheck disable=SC1091
  [ -s "$KUBE/ports" ] && . "$KUBE/ports" && { alive kube-apiserver || kube_ports_free; } && return 0
  # shellcheck disable=SC2086
  stop $KUBE_PARTS
  for name in P_ETCD P_ETCD_PEER P_APISERVER P_CONTROLLERS; do
    while port=$((15000 + RANDOM % 17000)); [[ $seen = *" $port "* ]] || listens "$port"; do :; done
    seen+="$port "
    echo "$name=$port"
  done > "$KUBE/ports.new"
  mv "$KUBE/ports.new" "$KUBE/ports"
  rm -f "$KUBE"/*.kubeconfig # they name the port
  # shellcheck disable=SC1091
  . "$KUBE/ports"
}
kube_ports_free() {
  local port
  for port in "$P_ETCD" "$P_ETCD_PEER" "$P_APISERVER" "$P_CONTROLLERS"; do ! listens "$port" || return 1; done
}
listens() { (: < "/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# The authority stays when the ports change; the kubeconfigs name the port.
kube_certificates() {
  (umask 077 && cd "$KUBE" && { [ -e sa.pub ] || kube_authority; } && kube_config controllers && kube_config admin) \
    >"$LOG/kube-certificates.log" 2>&1 || fail "the cluster's authority" "$LOG/kube-certificates.log"
}
kube_authority() {
  kube_key ca &&
    openssl req -x509 -new -key ca.key -subj /CN=lab -days 3650 -out ca.crt &&
    kube_certificate apiserver /CN=kube-apiserver \
      'extendedKeyUsage=serverAuth\nsubjectAltName=IP:127.0.0.1,IP:10.0.0.1,DNS:localhost,DNS:kubernetes.default.svc\n' &&
    kube_certificate admin /O=system:masters/CN=admin 'extendedKeyUsage=clientAuth\n' &&
    kube_certificate controllers /CN=system:kube-controller-manager 'extendedKeyUsage=clientAuth\n' &&
    kube_key sa &&
    openssl ec -in sa.key -pubout -out sa.pub
}
kube_key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }
kube_certificate() { # name subject extensions
  kube_key "$1" && openssl req -new -key "$1.key" -subj "$2" |
    openssl x509 -req -CA ca.crt -CAkey ca.key -CAcreateserial -days 3650 -out "$1.crt" -extfile <(printf %b "$3")
}
kube_config() { # name
  cat >"$1.kubeconfig.new" <<EOF
apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: "https://127.0.0.1:$P_APISERVER", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: lab, context: {cluster: lab, user: $1}}]
current-context: lab
EOF
  mv "$1.kubeconfig.new" "$1.kubeconfig"
}

# Starts a part, or starts it again when its command is another than the one it runs with.
kube_part() { # name command...
  local name=$1 conf; shift
  conf=$(printf '%s\n' "$@" | digest)
  if alive "$name"; then
    [ "$(cat "$RUN/$name.conf" 2>/dev/null)" = "$conf" ] && return 0
    stop "$name"
  fi
  launch "$name" "$@"
  echo "$conf" > "$RUN/$name.conf"
}

# Nothing here has to survive a power cut: durability is traded for speed.
kube_etcd() {
  kube_part etcd "$(kube_tool etcd)" --data-dir "$KUBE/etcd" --unsafe-no-fsync --log-level warn \
    --listen-client-urls "http://127.0.0.1:$P_ETCD" --advertise-client-urls "http://127.0.0.1:$P_ETCD" \
    --listen-peer-urls "http://127.0.0.1:$P_ETCD_PEER" --initial-advertise-peer-urls "http://127.0.0.1:$P_ETCD_PEER" \
    --initial-cluster "default=http://127.0.0.1:$P_ETCD_PEER"
}

kube_apiserver() {
  # The default endpoint reconciler refuses a loopback address to advertise.
  kube_part kube-apiserver "$(kube_tool kube-apiserver)" --etcd-servers "http://127.0.0.1:$P_ETCD" \
    --bind-address 127.0.0.1 --secure-port "$P_APISERVER" --endpoint-reconciler-type none \
    --service-cluster-ip-range 10.0.0.0/24 --allow-privileged --profiling=false \
    --authorization-mode Node,RBAC --enable-admission-plugins NodeRestriction \
    --client-ca-file "$KUBE/ca.crt" --tls-cert-file "$KUBE/apiserver.crt" --tls-private-key-file "$KUBE/apiserver.key" \
    --service-account-issuer https://kubernetes.default.svc --service-account-key-file "$KUBE/sa.pub" \
    --service-account-signing-key-file "$KUBE/sa.key"
  kube_wait kube-apiserver kube_get "$P_APISERVER" readyz
}

kube_controllers() {
  # As plain system:kube-controller-manager only the service accounts' controller has the rights that it needs: hence
  # credentials of each controller's own.
  kube_part kube-controller-manager "$(kube_tool kube-controller-manager)" --kubeconfig "$KUBE/controllers.kubeconfig" \
    --bind-address 127.0.0.1 --secure-port "$P_CONTROLLERS" --leader-elect=false --use-service-account-credentials \
    --root-ca-file "$KUBE/ca.crt" --service-account-private-key-file "$KUBE/sa.key" \
    --controllers garbage-collector-controller,namespace-controller,serviceaccount-controller,root-ca-certificate-publisher-controller,clusterrole-aggregation-controller
}

# Gardener's kinds, the namespaces of the garden, and a request to each kind that is answered.
kube_kinds() {
  local log=$LOG/kube-kinds.log file
  local apply=("$KUBE/bin/kubectl" apply --server-side --force-conflicts --field-manager=lab -f "$ROOT/hack/kube/namespaces.yaml")
  for file in "$ROOT"/examples/20-crd-*.yaml; do apply+=(-f "$file"); done
  "${apply[@]}" >"$log" 2>&1 || fail "the set of Gardener's kinds" "$log"
  kube_wait kube-apiserver kube_served
  kube_wait kube-controller-manager kube_get "$P_APISERVER" api/v1/namespaces/garden/serviceaccounts/default
}
# Right after a definition is established a request can get 429, "storage is (re)initializing"; kubectl asks again.
kube_served() {
  local kinds
  kinds=$("$KUBE/bin/kubectl" get crd -o 'jsonpath={range .items[*]}{.metadata.name},{end}') && [ -n "$kinds" ] &&
    "$KUBE/bin/kubectl" get "${kinds%,}" -A >/dev/null 2>&1
}

kube_get() { # port path
  curl -fs -o /dev/null -m 5 --cacert "$KUBE/ca.crt" --cert "$KUBE/admin.crt" --key "$KUBE/admin.key" "https://127.0.0.1:$1/$2"
}

kube_wait() { # part command...
  local name=$1 n; shift
  for ((n = 0; n < 1200; n++)); do
    "$@" && return 0
    alive "$name" || break
    sleep 0.1
  done
  fail "$name" "$LOG/$name.out"
}

kube_status() {
  local name pid memory version well=0
  KUBE=$STATE/kube
  # shellcheck disable=SC1091
  . "$KUBE/ports"
  printf '%-24s %-9s %-24s %7s %5s  %s\n' part version address pid MiB answer
  for name in etcd kube-apiserver kube-controller-manager; do
    if ! alive "$name"; then
      printf '%-24s %-9s %-24s %7s %5s  %s\n' "$name" - - - - "does not run"
      well=1
      continue
    fi
    read -r pid _ < "$RUN/$name.pid"
    memory=$(awk '/^VmRSS/ {print int($2 / 1024)}' "/proc/$pid/status")
    version=$("$(kube_tool "$name")" --version | awk 'NR == 1 {print $NF}')
    printf '%-24s %-9s %-24s %7s %5s  %s\n' "$name" "$version" "$(kube_address "$name")" "$pid" "$memory" "$(kube_answer "$name")"
  done
  return $well
}
kube_address() { # part
  case $1 in
    etcd) echo "http://127.0.0.1:$P_ETCD" ;;
    kube-apiserver) echo "https://127.0.0.1:$P_APISERVER" ;;
    *) echo "https://127.0.0.1:$P_CONTROLLERS" ;;
  esac
}
kube_answer() { # part
  case $1 in
    etcd) curl -fs -m 5 "http://127.0.0.1:$P_ETCD/health" || echo "does not answer" ;;
    kube-apiserver)
      local kinds
      kinds=$(KUBECONFIG=$KUBE/admin.kubeconfig "$KUBE/bin/kubectl" --cache-dir "$KUBE/cache" get crd -o name | wc -l) &&
        echo "ready, $kinds definitions" || echo "does not answer" ;;
    # It makes its certificate itself, at every start.
    *) curl -fsk -m 5 "https://127.0.0.1:$P_CONTROLLERS/healthz" || echo "does not answer" ;;
  esac
}
