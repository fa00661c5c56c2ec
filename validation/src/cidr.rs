//! Address ranges as text, read the way Go's `net.ParseCIDR` does, since that is what has accepted existing shoots.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fabric_apis::field::{Error, ErrorList, Path};
use ipnet::{IpNet, Ipv4Net, Ipv6Net};

/// A range as written, and what it means.
#[derive(Clone, Copy, Debug)]
pub struct Cidr<'a> {
    text: &'a str,
    address: IpAddr,
    prefix: u8,
    network: IpNet,
}

impl<'a> Cidr<'a> {
    /// Reads `text`; `None` when it is no CIDR.
    ///
    /// Leading zeros in an octet and zones are refused, leading zeros in the prefix length are not.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (address_text, length_text) = text.split_once('/')?;
        let address: IpAddr = address_text.parse().ok()?;
        if length_text.is_empty() || length_text.len() > 8 || !length_text.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let prefix: u8 = length_text.parse::<u32>().ok()?.try_into().ok()?;
        let network = match address {
            IpAddr::V4(address) => IpNet::V4(Ipv4Net::new(address, prefix).ok()?.trunc()),
            IpAddr::V6(address) => unmapped(Ipv6Net::new(address, prefix).ok()?.trunc()),
        };
        Some(Self { text, address, prefix, network })
    }

    /// The range as written.
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The network. An IPv4-mapped IPv6 range (`::ffff:10.0.0.0/104`) is the IPv4 range it maps, as in Go.
    pub fn network(&self) -> IpNet {
        self.network
    }

    /// The prefix length as written.
    pub fn prefix(&self) -> u8 {
        self.prefix
    }

    /// Whether it is an IPv6 range; an IPv4-mapped one is not.
    pub fn is_ipv6(&self) -> bool {
        matches!(self.network, IpNet::V6(_))
    }

    /// Whether no host bits are set.
    pub fn is_canonical(&self) -> bool {
        let written = match self.address {
            IpAddr::V6(address) => address.to_ipv4_mapped().map_or(IpAddr::V6(address), IpAddr::V4),
            v4 => v4,
        };
        self.network.network() == written
    }

    /// Whether every address of `other` lies in this range.
    pub fn contains(&self, other: &Cidr<'_>) -> bool {
        match (self.network, other.network) {
            (IpNet::V4(outer), IpNet::V4(inner)) => outer.contains(&inner),
            (IpNet::V6(outer), IpNet::V6(inner)) => outer.contains(&inner),
            _ => false,
        }
    }

    /// Whether any address lies in both.
    pub fn overlaps(&self, other: &Cidr<'_>) -> bool {
        self.contains(other) || other.contains(self)
    }
}

/// Go works on the mapped IPv4 network as soon as the whole `::ffff:0:0/96` prefix is fixed.
fn unmapped(network: Ipv6Net) -> IpNet {
    let mapped: Option<Ipv4Addr> = Ipv6Addr::to_ipv4_mapped(&network.network());
    let short = network.prefix_len().checked_sub(96);
    match mapped.zip(short).and_then(|(address, prefix)| Ipv4Net::new(address, prefix).ok()) {
        Some(v4) => IpNet::V4(v4),
        None => IpNet::V6(network),
    }
}

/// Rule: `text` is a CIDR without host bits. Gives the range when it can be read at all.
pub fn validate_canonical<'a>(text: &'a str, path: &Path<'_>, errors: &mut ErrorList) -> Option<Cidr<'a>> {
    let Some(cidr) = Cidr::parse(text) else {
        errors.push(Error::invalid(path, text, format!("invalid CIDR address: {text}")));
        return None;
    };
    if !cidr.is_canonical() {
        errors.push(Error::invalid(path, text, "must be valid canonical CIDR"));
    }
    Some(cidr)
}

/// Rule: the range is an IPv6 one.
pub fn validate_ipv6(cidr: &Cidr<'_>, path: &Path<'_>, errors: &mut ErrorList) {
    if !cidr.is_ipv6() {
        errors.push(Error::invalid(path, cidr.text, "must be a valid IPv6 address"));
    }
}

/// Rule: no two of these ranges share an address. The later one is told.
pub fn validate_disjoint(ranges: &[(Cidr<'_>, Path<'_>)], errors: &mut ErrorList) {
    for (index, (later, path)) in ranges.iter().enumerate() {
        for (earlier, other) in ranges.iter().take(index) {
            if later.overlaps(earlier) {
                let detail = format!("must not overlap with \"{other}\" (\"{}\")", earlier.text);
                errors.push(Error::invalid(path, later.text, detail));
            }
        }
    }
}

/// Rule: the range lies inside the nodes CIDR of the shoot. Not checked when `nodes` is no CIDR.
pub fn validate_in_nodes(cidr: &Cidr<'_>, nodes: &str, path: &Path<'_>, errors: &mut ErrorList) {
    if Cidr::parse(nodes).is_some_and(|nodes| !nodes.contains(cidr)) {
        let detail = format!("must be a subset of \"networking.nodes\" (\"{nodes}\")");
        errors.push(Error::invalid(path, cidr.text, detail));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_go_reads_them() {
        // Text, readable, canonical, IPv6.
        let cases = [
            ("10.250.0.0/19", true, true, false),
            ("10.250.0.1/19", true, false, false),
            ("10.250.0.0/019", true, true, false),
            ("0.0.0.0/0", true, true, false),
            ("010.0.0.0/8", false, false, false),
            ("10.0.0/8", false, false, false),
            ("10.0.0.0/33", false, false, false),
            ("10.0.0.0/+8", false, false, false),
            ("10.0.0.0/", false, false, false),
            ("10.0.0.0", false, false, false),
            ("10.0.0.0/8/8", false, false, false),
            (" 10.0.0.0/8", false, false, false),
            ("10.0.0.0/00000000000008", false, false, false),
            ("fd00::/56", true, true, true),
            ("fd00::1/56", true, false, true),
            ("fe80::%eth0/64", false, false, false),
            ("::ffff:10.0.0.0/104", true, true, false),
            ("::ffff:10.0.0.1/104", true, false, false),
            ("::ffff:10.0.0.0/90", true, false, true),
            ("::/129", false, false, false),
            ("", false, false, false),
        ];
        for (text, readable, canonical, ipv6) in cases {
            let cidr = Cidr::parse(text);
            assert_eq!(cidr.is_some(), readable, "{text}");
            assert_eq!(cidr.is_some_and(|cidr| cidr.is_canonical()), canonical, "{text}");
            assert_eq!(cidr.is_some_and(|cidr| cidr.is_ipv6()), ipv6, "{text}");
        }
    }

    #[test]
    fn ranges_contain_and_overlap_within_one_family() {
        let cases = [
            ("10.0.0.0/8", "10.1.0.0/16", true, true),
            ("10.1.0.0/16", "10.0.0.0/8", false, true),
            ("10.1.0.0/16", "10.2.0.0/16", false, false),
            ("0.0.0.0/0", "::/0", false, false),
            ("10.0.0.0/8", "::ffff:10.1.0.0/112", true, true),
        ];
        for (outer, inner, contains, overlaps) in cases {
            let (outer, inner) = (Cidr::parse(outer).unwrap(), Cidr::parse(inner).unwrap());
            assert_eq!(outer.contains(&inner), contains, "{outer:?} {inner:?}");
            assert_eq!(outer.overlaps(&inner), overlaps, "{outer:?} {inner:?}");
        }
    }

    #[test]
    fn the_nodes_range_is_ignored_when_it_can_not_be_read() {
        let mut errors = ErrorList::new();
        let cidr = Cidr::parse("10.0.0.0/8").unwrap();
        validate_in_nodes(&cidr, "nonsense", &Path::new("workers"), &mut errors);
        assert!(errors.is_empty());
    }
}
