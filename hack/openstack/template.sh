# A template is a migrated and seeded database with the keys of its tokens. It is made once per machine and
# set of pins, because the migrations take a minute; a fresh lab starts from a copy, in seconds. Sourced.
# Nothing in it depends on ports or folders but what `place` writes anew in every lab.

TEMPLATE=$CACHE/lab-template-$(cd "$ROOT/hack/openstack" && cat requirements.txt template.sh conf.sh seed.py | digest)

ensure_template() {
  [ -e "$TEMPLATE" ] || locked "$TEMPLATE.lock" make_template
  touch "$TEMPLATE"
}

make_template() {
  [ -e "$TEMPLATE" ] && return 0 # another checkout was faster
  local start=$SECONDS
  use_state "$TEMPLATE.partial"
  stop_all # of an interrupted run
  rm -rf "$STATE"
  use_state "$TEMPLATE.partial"
  trap stop_all EXIT
  choose_ports
  write_conf
  start_mariadb
  say "creating the schemas by each project's own migrations (a minute or two, once per machine)"
  migrate
  say "schemas: $((SECONDS - start)) s"
  start_apis keystone neutron nova
  agents
  "$VENV/bin/python" "$ROOT/hack/openstack/seed.py" --out "$STATE/seed.json" --region "$REGION" --keystone "$(url keystone)" \
    --network "$(url neutron)" --compute "$(url nova)" --share "$(url manila)" --loadbalancer "$(url octavia)" \
    --admin-password "$ADMIN_PASSWORD" --service-password "$SERVICE_PASSWORD" --demo-password "$DEMO_PASSWORD"
  stop_all
  trap - EXIT
  rm -rf "$ETC" "$LOG" "$RUN" "$TMPDIR" "$STATE/ports" "$STATE/plugins" "$STATE/neutron" "$STATE/nova" "$STATE/manila"
  mv -T "$STATE" "$TEMPLATE"
  # Those of other pins that nobody has used for two weeks.
  find "$CACHE" -maxdepth 1 -name 'lab-template-*' -mtime +14 -exec rm -rf {} +
  say "template of the lab made in $((SECONDS - start)) s"
}

migrate() {
  local d a b owner
  owner="--keystone-user $(id -un) --keystone-group $(id -gn)"
  for d in keystone neutron nova_api nova_cell0 nova_cell1 manila octavia; do my -e "create database $d"; done
  "$VENV/bin/neutron-db-manage" --config-file "$ETC/neutron/neutron.conf" upgrade heads >"$LOG/migrate-neutron.log" 2>&1 & b=$!
  # shellcheck disable=SC2086 # owner is four words
  (
    set -e
    keystone() { "$VENV/bin/keystone-manage" --config-file "$ETC/keystone/keystone.conf" "$@"; }
    nova() { "$VENV/bin/nova-manage" --config-file "$ETC/nova/nova.conf" "$@"; }
    keystone db_sync
    keystone fernet_setup $owner
    keystone credential_setup $owner
    keystone bootstrap --bootstrap-password "$ADMIN_PASSWORD" --bootstrap-region-id "$REGION" \
      --bootstrap-public-url "$(url keystone)" --bootstrap-internal-url "$(url keystone)" --bootstrap-admin-url "$(url keystone)"
    "$VENV/bin/manila-manage" --config-file "$ETC/manila/manila.conf" db sync
    # manila-manage reports success even when it made no table.
    [ "$(my -N -e "select count(*) from information_schema.tables where table_schema='manila'")" -gt 20 ]
    nova api_db sync
    nova cell_v2 map_cell0 --database_connection "$(db_url nova_cell0)"
    nova cell_v2 create_cell --name cell1
    nova db sync
    "$VENV/bin/octavia-db-manage" --config-file "$ETC/octavia/octavia.conf" upgrade head
  ) >"$LOG/migrate.log" 2>&1 & a=$!
  wait $a || fail "a migration" "$LOG/migrate.log"
  wait $b || fail "neutron's migration" "$LOG/migrate-neutron.log"
}

# Agents that are alive for ever. With none there is no availability zone, and `availability_zone_hints` would be
# refused; nothing listens behind them.
agents() {
  my neutron <<'SQL'
insert into agents (id, agent_type, `binary`, topic, host, admin_state_up, created_at, started_at, heartbeat_timestamp, configurations, availability_zone, `load`) values
 ('00000000-0000-4000-8000-0000000000d1', 'DHCP agent', 'neutron-dhcp-agent', 'dhcp_agent', 'net-1', 1, now(), now(), '2099-01-01',
  '{"dhcp_driver":"fake"}', 'nova', 0),
 ('00000000-0000-4000-8000-0000000000e1', 'L3 agent', 'neutron-l3-agent', 'l3_agent', 'net-1', 1, now(), now(), '2099-01-01',
  '{"agent_mode":"legacy","handle_internal_only_routers":true}', 'nova', 0),
 ('00000000-0000-4000-8000-0000000000f1', 'Open vSwitch agent', 'neutron-openvswitch-agent', 'N/A', 'net-1', 1, now(), now(), '2099-01-01',
  '{"bridge_mappings":{"public":"br-ex"},"tunnel_types":["vxlan"],"tunneling_ip":"127.0.0.1"}', NULL, 0);
SQL
  my nova_cell1 <<'SQL'
insert into services (created_at, forced_down, host, `binary`, topic, report_count, disabled, deleted, last_seen_up, version, uuid)
 select now(), 0, 'cmp-1', 'nova-compute', 'compute', 1, 0, 0, '2099-01-01', (select max(version) from services), '00000000-0000-4000-8000-0000000000c1';
SQL
}

# Tells the databases and the clients where this lab is.
place() {
  local name="case s.type when 'identity' then '$(url keystone)' when 'network' then '$(url neutron)'
    when 'compute' then '$(url nova)' when 'sharev2' then '$(url manila)' when 'load-balancer' then '$(url octavia)' end"
  my -e "update keystone.endpoint e join keystone.service s on e.service_id = s.id set e.url = $name;
    update nova_api.cell_mappings set database_connection = '$(db_url nova_cell0)' where name = 'cell0';
    update nova_api.cell_mappings set database_connection = '$(db_url nova_cell1)' where name = 'cell1'"
  "$VENV/bin/python" "$ROOT/hack/openstack/clouds.py" --state "$STATE" --region "$REGION" --keystone "$(url keystone)" \
    --network "$(url neutron)" --compute "$(url nova)" --share "$(url manila)" --loadbalancer "$(url octavia)" \
    --admin-password "$ADMIN_PASSWORD" --demo-password "$DEMO_PASSWORD" --venv "$VENV"
}
