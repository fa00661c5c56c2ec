# shellcheck shell=bash
# Writes every service's configuration below $ETC. Sourced by hack/lab; needs the variables of state.sh.
write_conf() {
mkdir -p "$ETC"/{keystone,neutron,nova,manila,octavia} "$LOG" "$RUN" "$RUN"/lock

cat > "$ETC/keystone/keystone.conf" <<E
[DEFAULT]
use_stderr = true
log_file = $LOG/keystone.log
debug = ${FABRIC_LAB_DEBUG:-false}
public_endpoint = http://127.0.0.1:$P_KEYSTONE
[database]
connection = $(db_url keystone)
[cache]
enabled = true
backend = dogpile.cache.memory
[token]
provider = fernet
expiration = ${FABRIC_LAB_TOKEN_EXPIRATION:-86400}
[fernet_tokens]
key_repository = $KEYS/fernet
[credential]
key_repository = $KEYS/credential
[receipt]
key_repository = $KEYS/fernet
[fernet_receipts]
key_repository = $KEYS/fernet
[identity]
password_hash_rounds = 4
[oslo_policy]
enforce_scope = true
enforce_new_defaults = true
E

authtoken() { cat <<E
[keystone_authtoken]
www_authenticate_uri = http://127.0.0.1:$P_KEYSTONE/v3
auth_url = http://127.0.0.1:$P_KEYSTONE/v3
auth_type = password
username = $1
password = $SERVICE_PASSWORD
project_name = service
user_domain_id = default
project_domain_id = default
service_token_roles_required = true
token_cache_time = 300
E
}

# --- neutron -----------------------------------------------------------------
cat > "$ETC/neutron/neutron.conf" <<E
[DEFAULT]
log_file = $LOG/neutron.log
debug = ${FABRIC_LAB_DEBUG:-false}
transport_url = fake://
core_plugin = ml2
service_plugins = router,trunk,tag,revisions,timestamp
state_path = $STATE/neutron
api_paste_config = $VENV/etc/neutron/api-paste.ini
auth_strategy = keystone
notify_nova_on_port_status_changes = false
notify_nova_on_port_data_changes = false
dhcp_agent_notification = false
global_physnet_mtu = 1500
network_auto_schedule = false
router_auto_schedule = false
[database]
connection = $(db_url neutron)
max_pool_size = 10
max_overflow = 20
max_retries = 1
retry_interval = 1
[oslo_concurrency]
lock_path = $RUN/lock/neutron
[oslo_policy]
enforce_scope = true
enforce_new_defaults = true
policy_file = $ETC/neutron/policy.yaml
[quotas]
quota_network = 200
quota_subnet = 400
quota_router = 200
quota_port = 1000
quota_floatingip = 200
quota_security_group = 200
quota_security_group_rule = 4000
[ml2]
type_drivers = flat,vlan,geneve,vxlan
tenant_network_types = vxlan
mechanism_drivers = openvswitch,lab
extension_drivers = port_security,dns_domain_ports
[ml2_type_flat]
flat_networks = public
[ml2_type_vxlan]
vni_ranges = 1:65535
[ml2_type_geneve]
vni_ranges = 1:65535
max_header_size = 38
[ml2_type_vlan]
network_vlan_ranges = public:100:199
[securitygroup]
enable_security_group = true
[labplane]
active_delay = $FABRIC_LAB_ACTIVE_DELAY
hold_file = $FABRIC_LAB_HOLD_FILE
$(authtoken neutron)
E

# The role netadmin, in its own project: what many clouds' relaxed policies give a network owner.
{ echo 'netadmin: "role:netadmin and project_id:%(project_id)s"'
  for verb in create update; do for attr in enable_snat external_fixed_ips; do
    echo "\"${verb}_router:external_gateway_info:$attr\": \"rule:admin_only or rule:netadmin\""; done; done
  for attr in network_type physical_network segmentation_id; do
    echo "\"get_network:provider:$attr\": \"rule:admin_only or role:netadmin\""; done
} > "$ETC/neutron/policy.yaml"

# --- nova --------------------------------------------------------------------
cat > "$ETC/nova/nova.conf" <<E
[DEFAULT]
log_file = $LOG/nova.log
debug = ${FABRIC_LAB_DEBUG:-false}
transport_url = fake://
state_path = $STATE/nova
host = localhost
enabled_apis = osapi_compute
[api]
auth_strategy = keystone
[wsgi]
api_paste_config = $VENV/etc/nova/api-paste.ini
[api_database]
connection = $(db_url nova_api)
max_pool_size = 10
max_overflow = 20
max_retries = 1
retry_interval = 1
[database]
connection = $(db_url nova_cell1)
max_pool_size = 10
max_overflow = 20
max_retries = 1
retry_interval = 1
[oslo_concurrency]
lock_path = $RUN/lock/nova
[oslo_policy]
enforce_scope = true
enforce_new_defaults = true
[cache]
enabled = true
backend = dogpile.cache.memory
$(authtoken nova)
E

# --- manila ------------------------------------------------------------------
cat > "$ETC/manila/manila.conf" <<E
[DEFAULT]
log_file = $LOG/manila.log
debug = ${FABRIC_LAB_DEBUG:-false}
transport_url = fake://
state_path = $STATE/manila
host = localhost
api_paste_config = $VENV/etc/manila/api-paste.ini
auth_strategy = keystone
enabled_share_protocols = NFS
storage_availability_zone = nova
[quota]
share_networks = 200
[database]
connection = $(db_url manila)
max_pool_size = 10
max_overflow = 20
max_retries = 1
retry_interval = 1
[oslo_concurrency]
lock_path = $RUN/lock/manila
[oslo_policy]
enforce_scope = true
enforce_new_defaults = true
$(authtoken manila)
E

# --- octavia -----------------------------------------------------------------
cat > "$ETC/octavia/octavia.conf" <<E
[DEFAULT]
log_file = $LOG/octavia.log
debug = ${FABRIC_LAB_DEBUG:-false}
transport_url = fake://
[api_settings]
auth_strategy = keystone
enabled_provider_drivers = lab:no data plane
default_provider_driver = lab
[controller_worker]
network_driver = allowed_address_pairs_driver
compute_driver = compute_noop_driver
volume_driver = volume_noop_driver
image_driver = image_noop_driver
[database]
connection = $(db_url octavia)
max_pool_size = 10
max_overflow = 20
max_retries = 1
retry_interval = 1
[oslo_concurrency]
lock_path = $RUN/lock/octavia
[oslo_policy]
enforce_scope = true
enforce_new_defaults = true
$(authtoken octavia)
$(authtoken octavia | sed -n 's/^.keystone_authtoken.$/[service_auth]/; /www_auth\|token/d; p')
[neutron]
region_name = $REGION
valid_interfaces = public
E
}
