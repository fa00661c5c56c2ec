# shellcheck shell=bash
# The state of one lab: its folders, its ports, and the processes that it started. Sourced.
REGION=RegionOne
# Known to whoever reads this file: the services listen on loopback and guard nothing.
ADMIN_PASSWORD=admin-secret SERVICE_PASSWORD=service-secret DEMO_PASSWORD=demo-secret
APIS="keystone neutron nova manila octavia"

use_state() { # folder
  STATE=$1
  ETC=$STATE/etc LOG=$STATE/log RUN=$STATE/run DATA=$STATE/mysql KEYS=$STATE/keys
  SOCK=$RUN/mysql.sock
  [ ${#SOCK} -le 104 ] || die "the path of the lab's state is too long for a unix socket (107 characters); set FABRIC_LAB_STATE to a shorter one than $STATE"
  # Seconds until what was made goes ACTIVE, and the file that stops that while it exists.
  export FABRIC_LAB_ACTIVE_DELAY=${FABRIC_LAB_ACTIVE_DELAY:-0.3} FABRIC_LAB_HOLD_FILE=$STATE/hold
  export no_proxy=127.0.0.1,localhost NO_PROXY=127.0.0.1,localhost
  unset "${!OS_@}" # the caller's own cloud
  export TMPDIR=$STATE/tmp PYTHONPATH=$STATE/plugins PYTHONWARNINGS=ignore OS_NOVA_DISABLE_EVENTLET_PATCHING=1
  mkdir -p "$STATE" && chmod 700 "$STATE" && mkdir -p "$ETC" "$LOG" "$RUN" "$TMPDIR"
}

# Ports are chosen free once and remembered, below the range that the kernel gives to clients.
choose_ports() {
  # shellcheck disable=SC1091
  [ -s "$STATE/ports" ] && . "$STATE/ports" && { any_alive || ports_free; } && return 0
  stop_apis
  "$VENV/bin/python" - $APIS > "$STATE/ports.new" <<'PY'
import random, socket, sys
held = []
for name in sys.argv[1:]:
    while True:
        s = socket.socket()
        port = random.randrange(15000, 32000)
        try:
            s.bind(("127.0.0.1", port))
        except OSError:
            continue
        held.append(s)  # so that no port is drawn twice
        print(f"P_{name.upper()}={port}")
        break
PY
  mv "$STATE/ports.new" "$STATE/ports"
  # shellcheck disable=SC1091
  . "$STATE/ports"
}
port() { local name=P_${1^^}; echo "${!name}"; }
ports_free() {
  local name
  for name in $APIS; do ! (: < "/dev/tcp/127.0.0.1/$(port "$name")") 2>/dev/null || return 1; done
}
url() { # api
  local base; base=http://127.0.0.1:$(port "$1")
  case $1 in keystone) echo "$base/v3";; nova) echo "$base/v2.1";; manila) echo "$base/v2";; *) echo "$base";; esac
}
db_url() { echo "mysql+pymysql://root@localhost/$1?unix_socket=$SOCK&charset=utf8mb4"; }

# A pid file holds "PID START", so that a number that the kernel gave to someone else is never taken for ours.
# A process that ended and waits to be collected has no start any more.
start_of() { [ -r "/proc/$1/stat" ] && sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | awk '$1 != "Z" {print $20}'; }
alive() { # name
  local pid start
  [ -s "$RUN/$1.pid" ] || return 1
  read -r pid start < "$RUN/$1.pid"
  [ -n "$start" ] && [ "$(start_of "$pid")" = "$start" ]
}
any_alive() {
  local name
  for name in $APIS; do alive "$name" && return 0; done
  return 1
}

launch() { # name command...
  local name=$1 pid; shift
  setsid nohup "$@" >>"$LOG/$name.out" 2>&1 </dev/null 9>&- &
  pid=$!
  # Until setsid has replaced the shell nothing but the pid differs: the start time stays.
  echo "$pid $(start_of $pid)" > "$RUN/$name.pid"
}

stop() { # name...
  local name pid n
  for name; do
    if alive "$name"; then
      read -r pid _ < "$RUN/$name.pid"
      kill -TERM "$pid" || true
      for ((n = 0; n < 300; n++)); do alive "$name" || break; sleep 0.05; done
      if alive "$name"; then kill -KILL "$pid" || true; fi
      say "stopped $name ($pid)"
    fi
    rm -f "$RUN/$name.pid" "$RUN/$name.conf"
  done
}
# shellcheck disable=SC2086 # one word a service
stop_apis() { stop $APIS; }
stop_all() { stop_apis; stop mariadb; }
