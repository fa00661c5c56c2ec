# shellcheck shell=bash
# Starts what a state folder describes: the database server and the five APIs. Sourced.
. "$ROOT/hack/openstack/conf.sh"
PATH=$PATH:/usr/sbin # mariadbd, for a user who is not root

my() { mariadb --no-defaults -u root -S "$SOCK" "$@"; }

start_mariadb() {
  if [ ! -d "$DATA/mysql" ]; then
    mariadb-install-db --no-defaults --user="$(id -un)" --datadir="$DATA" --skip-test-db \
      --auth-root-authentication-method=normal >"$LOG/install-db.log" 2>&1 || fail mariadb "$LOG/install-db.log"
  fi
  # Nothing here has to survive a power cut: durability is traded for speed.
  alive mariadb || launch mariadb mariadbd --no-defaults --user="$(id -un)" --datadir="$DATA" --socket="$SOCK" \
    --skip-networking --skip-name-resolve --skip-log-bin --character-set-server=utf8mb4 \
    --innodb-flush-log-at-trx-commit=0 --innodb-doublewrite=0 --innodb-buffer-pool-size=128M \
    --innodb-log-file-size=32M --max-connections=300 --pid-file="$RUN/mysqld.pid"
  local n
  for ((n = 0; n < 600; n++)); do
    my -e 'select 1' >/dev/null 2>&1 && return 0
    alive mariadb || break
    sleep 0.1
  done
  fail mariadb "$LOG/mariadb.out"
}

# Starts an API, or starts it again when its configuration is another than the one it runs with.
start_api() { # name wsgi-module arguments...
  local name=$1 conf workers=1; shift
  # Neutron computes most; with one process a client's parallel calls would wait for each other, as on no real cloud.
  [ "$name" != neutron ] || workers=${FABRIC_LAB_WORKERS:-2}
  conf=$({ echo "$*" "$workers" "$FABRIC_LAB_ACTIVE_DELAY" "${FABRIC_LAB_THREADS:-}"; find "$ETC/$name" "$STATE/plugins" "$ROOT/hack/openstack/serve.py" -type f -name '*[!c]' -exec cat {} +; } | digest)
  if alive "$name"; then
    [ "$(cat "$RUN/$name.conf" 2>/dev/null)" = "$conf" ] && return 0
    stop "$name"
  fi
  API_WORKERS=$workers API_THREADS=${FABRIC_LAB_THREADS:-8} launch "$name" "$VENV/bin/python" "$ROOT/hack/openstack/serve.py" "$1" "$(port "$name")" "${@:2}"
  echo "$conf" > "$RUN/$name.conf"
}

start_apis() { # names...
  local name
  if ! diff -qr -x __pycache__ "$ROOT/hack/openstack/plugins" "$STATE/plugins" >/dev/null 2>&1; then
    rm -rf "$STATE/plugins" && cp -r "$ROOT/hack/openstack/plugins" "$STATE/plugins" && chmod -R u+w "$STATE/plugins"
  fi
  export OS_KEYSTONE_CONFIG_DIR=$ETC/keystone OS_KEYSTONE_CONFIG_FILES=keystone.conf
  export OS_NEUTRON_CONFIG_DIR=$ETC/neutron OS_NEUTRON_CONFIG_FILES=neutron.conf
  export OS_NOVA_CONFIG_DIR=$ETC/nova OS_NOVA_CONFIG_FILES="api-paste.ini;nova.conf"
  cp "$VENV/etc/nova/api-paste.ini" "$ETC/nova/"
  for name; do
    case $name in
      keystone) start_api keystone keystone.wsgi.api ;;
      neutron) start_api neutron neutron.wsgi.api ;;
      nova) start_api nova nova.wsgi.osapi_compute ;;
      manila) start_api manila manila.wsgi.api --config-file "$ETC/manila/manila.conf" ;;
      octavia) start_api octavia octavia.wsgi.api --config-file "$ETC/octavia/octavia.conf" ;;
    esac
  done
  for name; do wait_for "$name"; done
}

wait_for() { # api
  local n
  for ((n = 0; n < 1200; n++)); do
    case $(curl -s -o /dev/null -m 5 -w '%{http_code}' "http://127.0.0.1:$(port "$1")/$([ "$1" = keystone ] && echo v3)" || true) in
      200 | 300) return 0 ;;
    esac
    alive "$1" || break
    sleep 0.1
  done
  fail "$1" "$LOG/$1.out"
}

fail() { # name log
  tail -n 20 "$2" >&2
  die "$1 does not come up; its whole log: $2"
}
