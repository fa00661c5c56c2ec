#!/usr/bin/env bash
# usage: create_client.sh NAME UID PUBLIC_KEY_FILE
#
# Makes a shoot's infrastructure of pattern 1 in the cloud of OS_CLOUD with openstackclient, until the router's
# interface is up.
set -euo pipefail
name=$1 uid=$2 key_file=$3
mark="osf:$name/$uid"
tags=(--tag "osf:shoot=$name" --tag "osf:uid=$uid")

openstack network create --description "$mark" "${tags[@]}" "$name"
openstack subnet create --description "$mark" "${tags[@]}" --network "$name" --subnet-range 10.250.0.0/19 "$name"
openstack router create --description "$mark" "${tags[@]}" --external-gateway public "$name"
openstack router add subnet "$name" "$name"
openstack security group create --description "Cluster Nodes $mark" "${tags[@]}" "$name"
openstack security group rule create --ingress --ethertype IPv4 --protocol any --remote-group "$name" \
  --description "IPv4: allow all incoming traffic within the same security group $mark" "$name"
for protocol in tcp udp; do
  openstack security group rule create --ingress --ethertype IPv4 --protocol "$protocol" --dst-port 30000:32767 \
    --remote-ip 0.0.0.0/0 --description "IPv4: allow all incoming $protocol traffic with port range 30000-32767 $mark" "$name"
done
openstack keypair create --public-key "$key_file" "$name"
until [ "$(openstack port list --router "$name" --device-owner network:router_interface -f value -c status)" = ACTIVE ]; do sleep 0.25; done
