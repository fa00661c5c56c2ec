//! Addresses: arithmetic over both families, free ones of a subnet, and what a new port gets.

use std::collections::HashSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::IpNet;
use serde_json::{Value, json};

use super::errors::{bad, error, no_address, subnet_not_found};
use super::{networks, validate};
use crate::json::{int, list, text, text_opt};
use crate::request::Reply;
use crate::state::{State, table};

/// Neutron picks at random from the first addresses that are free; so do we, lest somebody counts on an order.
const WINDOW: usize = 200;

/// An address as a number.
pub(crate) fn number(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(a) => u128::from(u32::from(a)),
        IpAddr::V6(a) => u128::from(a),
    }
}

/// A number as an address.
pub(crate) fn address(number: u128, v4: bool) -> Option<IpAddr> {
    if v4 {
        return u32::try_from(number).ok().map(|n| IpAddr::V4(Ipv4Addr::from(n)));
    }
    Some(IpAddr::V6(Ipv6Addr::from(number)))
}

/// The default gateway: the first address behind the network's own.
pub(crate) fn first_host(net: &IpNet) -> Option<IpAddr> {
    address(number(net.network()).checked_add(1)?, net.addr().is_ipv4())
}

/// Everything but the network's own address, IPv4's broadcast address, and the gateway.
pub(crate) fn default_ranges(net: &IpNet, gateway: Option<IpAddr>) -> Vec<Value> {
    let v4 = net.addr().is_ipv4();
    let (mut start, mut end) = (number(net.network()), number(net.broadcast()));
    if end - start > 1 {
        start += 1;
        end -= u128::from(v4);
    }
    let gateway = gateway.map(number).filter(|g| (start..=end).contains(g));
    let parts = match gateway {
        Some(g) => vec![(start, g.saturating_sub(1)), (g.saturating_add(1), end)],
        None => vec![(start, end)],
    };
    let kept = parts.into_iter().filter(|(a, b)| a <= b);
    kept.filter_map(|(a, b)| Some(json!({"start": address(a, v4)?.to_string(), "end": address(b, v4)?.to_string()})))
        .collect()
}

/// Does the subnet give addresses that a port makes itself from its MAC address?
pub(crate) fn is_auto(subnet: &Value) -> bool {
    matches!(text(subnet, "ipv6_address_mode"), "slaac" | "dhcpv6-stateless")
}

/// The EUI-64 address of a MAC address in a /64.
pub(crate) fn eui64(net: &IpNet, mac: &str) -> Option<IpAddr> {
    let bytes: Vec<u8> = mac.split(':').filter_map(|b| u8::from_str_radix(b, 16).ok()).collect();
    let [a, b, c, d, e, f] = bytes.as_slice() else { return None };
    let low = u64::from_be_bytes([a ^ 2, *b, *c, 0xff, 0xfe, *d, *e, *f]);
    address(number(net.network()) | u128::from(low), false)
}

/// The network of a subnet.
pub(crate) fn net_of(subnet: &Value) -> Option<IpNet> {
    text(subnet, "cidr").parse().ok()
}

/// Every address that a port has in the subnet.
fn used(st: &State, subnet: &str) -> HashSet<u128> {
    st.all(table::PORTS)
        .flat_map(|p| list(p, "fixed_ips"))
        .filter(|f| text(f, "subnet_id") == subnet)
        .filter_map(validate::address_of)
        .map(number)
        .collect()
}

/// Is the address one of the subnet's, and has no port it?
pub(crate) fn check_free(st: &State, subnet: &Value, wanted: IpAddr) -> Result<(), Reply> {
    let id = text(subnet, "id");
    if !net_of(subnet).is_some_and(|n| n.contains(&wanted)) {
        let message = format!("IP address {wanted} is not a valid IP for the specified subnet.");
        return Err(error(400, "InvalidIpForSubnet", message));
    }
    if used(st, id).contains(&number(wanted)) {
        let message = format!("IP address {wanted} already allocated in subnet {id}");
        return Err(error(409, "IpAddressAlreadyAllocated", message));
    }
    Ok(())
}

/// A free address of the subnet's pools, `None` when there is none.
pub(crate) fn pick(st: &mut State, subnet: &Value) -> Option<IpAddr> {
    let v4 = int(subnet, "ip_version") == 4;
    let used = used(st, text(subnet, "id"));
    let mut free: Vec<u128> = Vec::new();
    for range in list(subnet, "allocation_pools") {
        let bound = |key: &str| text(range, key).parse::<IpAddr>().ok().map(number);
        let (Some(start), Some(end)) = (bound("start"), bound("end")) else { continue };
        let left = WINDOW.saturating_sub(free.len());
        free.extend((start..=end).filter(|n| !used.contains(n)).take(left));
    }
    let at = st.rng.below(free.len());
    free.get(at).and_then(|n| address(*n, v4))
}

fn fixed(subnet: &Value, address: IpAddr) -> Value {
    json!({"subnet_id": text(subnet, "id"), "ip_address": address.to_string()})
}

/// The addresses of a new port on a network: as wanted, or one of each family; self-made ones come on top.
///
/// # Errors
/// An unknown subnet, an address that is taken or foreign, or no address left.
pub(crate) fn pick_addresses(
    st: &mut State,
    network: &str,
    wanted: Option<&[Value]>,
    mac: &str,
    with_auto: bool,
) -> Result<Vec<Value>, Reply> {
    let subnets: Vec<Value> = networks::subnets(st, network).cloned().collect();
    let mut out = match wanted {
        Some(wanted) => as_wanted(st, network, &subnets, wanted, mac)?,
        None => one_of_each(st, network, &subnets)?,
    };
    if with_auto {
        for subnet in subnets.iter().filter(|s| is_auto(s)) {
            let has = out.iter().any(|f| text(f, "subnet_id") == text(subnet, "id"));
            if let Some(own) = net_of(subnet).and_then(|n| eui64(&n, mac)).filter(|_| !has) {
                out.push(fixed(subnet, own));
            }
        }
    }
    Ok(out)
}

fn as_wanted(
    st: &mut State,
    network: &str,
    subnets: &[Value],
    wanted: &[Value],
    mac: &str,
) -> Result<Vec<Value>, Reply> {
    let mut out: Vec<Value> = Vec::new();
    for ask in wanted {
        let address = validate::address_of(ask);
        let subnet = match text_opt(ask, "subnet_id") {
            Some(id) => match subnets.iter().find(|s| text(s, "id") == id) {
                Some(found) => found,
                None if st.get(table::SUBNETS, id).is_none() => return Err(subnet_not_found(id)),
                None => {
                    let message = format!(
                        "Failed to create port on network {network}, because fixed_ips included invalid subnet {id}"
                    );
                    return Err(bad("port", message));
                }
            },
            None => {
                let around =
                    subnets.iter().find(|s| address.is_some_and(|a| net_of(s).is_some_and(|n| n.contains(&a))));
                around.ok_or_else(|| {
                    error(
                        400,
                        "InvalidIpForNetwork",
                        "IP address is not a valid IP for any of the subnets on the specified network.",
                    )
                })?
            }
        };
        let given = match address {
            Some(address) => {
                check_free(st, subnet, address)?;
                address
            }
            None if is_auto(subnet) => {
                net_of(subnet).and_then(|n| eui64(&n, mac)).ok_or_else(|| no_address(network))?
            }
            None => pick(st, subnet).ok_or_else(|| no_address(network))?,
        };
        out.push(fixed(subnet, given));
    }
    Ok(out)
}

/// One address of each family; subnets are tried in random order until one has an address left.
fn one_of_each(st: &mut State, network: &str, subnets: &[Value]) -> Result<Vec<Value>, Reply> {
    let mut out = Vec::new();
    for version in [4, 6] {
        let mut left: Vec<&Value> = subnets.iter().filter(|s| int(s, "ip_version") == version && !is_auto(s)).collect();
        if left.is_empty() {
            continue;
        }
        let mut found = None;
        while found.is_none() && !left.is_empty() {
            let subnet = left.swap_remove(st.rng.below(left.len()));
            found = pick(st, subnet).map(|a| fixed(subnet, a));
        }
        out.push(found.ok_or_else(|| no_address(network))?);
    }
    Ok(out)
}

/// Takes the subnet's addresses away from all ports: it is deleted.
pub(crate) fn free_everything(st: &mut State, subnet: &str) {
    let ports: Vec<String> = st
        .all(table::PORTS)
        .filter(|p| list(p, "fixed_ips").iter().any(|f| text(f, "subnet_id") == subnet))
        .map(|p| text(p, "id").to_owned())
        .collect();
    for id in ports {
        let Some(port) = st.get(table::PORTS, &id) else { continue };
        let kept: Vec<Value> =
            list(port, "fixed_ips").iter().filter(|f| text(f, "subnet_id") != subnet).cloned().collect();
        let mut change = super::Fields::new();
        change.insert("fixed_ips".to_owned(), Value::from(kept));
        st.change(table::PORTS, &id, &change);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// First and last address of each.
    type Ranges = &'static [(&'static str, &'static str)];

    #[test]
    fn default_ranges_leave_out_network_broadcast_and_gateway() {
        let cases: [(&str, Option<&str>, Ranges); 5] = [
            ("10.0.0.0/24", Some("10.0.0.1"), &[("10.0.0.2", "10.0.0.254")]),
            ("10.0.0.0/29", Some("10.0.0.4"), &[("10.0.0.1", "10.0.0.3"), ("10.0.0.5", "10.0.0.6")]),
            ("10.0.0.0/24", None, &[("10.0.0.1", "10.0.0.254")]),
            ("2001:db8::/64", Some("2001:db8::1"), &[("2001:db8::2", "2001:db8::ffff:ffff:ffff:ffff")]),
            ("10.0.0.0/31", None, &[("10.0.0.0", "10.0.0.1")]),
        ];
        for (net, gateway, expected) in cases {
            let found = default_ranges(&net.parse().unwrap(), gateway.map(|g| g.parse().unwrap()));
            let found: Vec<_> = found.iter().map(|r| (text(r, "start"), text(r, "end"))).collect();
            assert_eq!(found, expected, "{net}");
        }
    }

    #[test]
    fn a_port_makes_its_address_from_its_mac_address() {
        let made = eui64(&"fd00:100::/64".parse().unwrap(), "fa:16:3e:8b:0b:bb").unwrap();
        assert_eq!(made.to_string(), "fd00:100::f816:3eff:fe8b:bbb");
    }
}
