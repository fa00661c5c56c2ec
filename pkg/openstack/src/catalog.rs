//! Keystone's service catalog: which URL a service has in our region and interface. URLs are used as they are.

use fabric_openstack_types::Service;
use reqwest::Url;
use serde::Deserialize;

/// The catalog of a token.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(transparent)]
pub(crate) struct Catalog(Vec<Entry>);

#[derive(Clone, Debug, Deserialize)]
struct Entry {
    #[serde(rename = "type")]
    service_type: String,
    #[serde(default)]
    endpoints: Vec<Endpoint>,
}

#[derive(Clone, Debug, Deserialize)]
struct Endpoint {
    interface: String,
    url: String,
    #[serde(default)]
    region: Option<String>,
    #[serde(default)]
    region_id: Option<String>,
}

impl Endpoint {
    fn region(&self) -> &str {
        let region = self.region.as_deref().or(self.region_id.as_deref());
        region.unwrap_or_default()
    }

    fn is_in(&self, region: &str) -> bool {
        self.region.as_deref() == Some(region) || self.region_id.as_deref() == Some(region)
    }
}

/// The types under which a service stands in a catalog, the preferred one first.
pub(crate) fn types(service: Service) -> &'static [&'static str] {
    match service {
        Service::Identity => &["identity"],
        Service::Network => &["network"],
        Service::Compute => &["compute"],
        // `share` is Manila's first API, which has no share networks of today's form.
        Service::SharedFileSystem => &["sharev2", "shared-file-system"],
        Service::LoadBalancer => &["load-balancer"],
    }
}

impl Catalog {
    /// The endpoint of the first of these types that the catalog has; the error says what it has instead.
    pub(crate) fn find(&self, types: &[&str], region: Option<&str>, interface: &str) -> Result<Url, String> {
        let entry = types
            .iter()
            .find_map(|wanted| self.0.iter().find(|entry| entry.service_type == *wanted))
            .ok_or_else(|| format!("the catalog has no service of type {}", types.join(" or ")))?;
        let reachable: Vec<_> = entry.endpoints.iter().filter(|endpoint| endpoint.interface == interface).collect();
        let found = match region {
            Some(region) => reachable.iter().find(|endpoint| endpoint.is_in(region)),
            None if one_region(&reachable) => reachable.first(),
            None => {
                return Err(format!("the catalog has several regions ({}): name one", regions(&reachable)));
            }
        };
        let endpoint = found.ok_or_else(|| match region {
            Some(region) if !reachable.is_empty() => format!(
                "no {interface} endpoint of {} in region {region:?}; there is one in {}",
                entry.service_type,
                regions(&reachable)
            ),
            _ => format!("no {interface} endpoint of {}", entry.service_type),
        })?;
        parse(&endpoint.url)
    }
}

/// An endpoint's URL: absolute, with a host.
pub(crate) fn parse(url: &str) -> Result<Url, String> {
    match Url::parse(url) {
        Ok(parsed) if matches!(parsed.scheme(), "http" | "https") && parsed.has_host() => Ok(parsed),
        Ok(_) => Err(format!("endpoint {url:?} is no http or https URL")),
        Err(error) => Err(format!("endpoint {url:?} is no URL: {error}")),
    }
}

fn one_region(endpoints: &[&Endpoint]) -> bool {
    endpoints.windows(2).all(|pair| matches!(pair, [a, b] if a.region() == b.region()))
}

fn regions(endpoints: &[&Endpoint]) -> String {
    let mut names: Vec<_> = endpoints.iter().map(|endpoint| endpoint.region()).collect();
    names.sort_unstable();
    names.dedup();
    names.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn catalog() -> Catalog {
        serde_json::from_value(serde_json::json!([
            {"type": "network", "name": "neutron", "id": "1", "endpoints": [
                {"interface": "public", "region": "A", "region_id": "A", "url": "http://a:9696", "id": "2"},
                {"interface": "internal", "region": "A", "region_id": "A", "url": "http://in:9696", "id": "3"},
                {"interface": "public", "region": "B", "region_id": "b-id", "url": "http://b/network", "id": "4"}]},
            {"type": "shared-file-system", "endpoints": [
                {"interface": "public", "region": "A", "url": "http://a/share/v2"}]},
            {"type": "compute", "endpoints": [{"interface": "public", "region": "A", "url": "ftp://a"}]}
        ]))
        .unwrap()
    }

    #[test]
    fn finds_by_type_region_and_interface() {
        let find =
            |types: &[&str], region, interface| catalog().find(types, region, interface).map(|url| url.to_string());
        assert_eq!(find(&["network"], Some("A"), "public").unwrap(), "http://a:9696/");
        assert_eq!(find(&["network"], Some("b-id"), "public").unwrap(), "http://b/network");
        assert_eq!(find(&["network"], None, "internal").unwrap(), "http://in:9696/");
        let share = types(Service::SharedFileSystem);
        assert_eq!(find(share, Some("A"), "public").unwrap(), "http://a/share/v2");
        for (types, region, interface, said) in [
            (["network"], None, "public", "several regions (A, B)"),
            (["network"], Some("C"), "public", "there is one in A, B"),
            (["network"], Some("A"), "admin", "no admin endpoint of network"),
            (["load-balancer"], Some("A"), "public", "no service of type load-balancer"),
            (["compute"], Some("A"), "public", "is no http or https URL"),
        ] {
            let error = find(&types, region, interface).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
    }
}
