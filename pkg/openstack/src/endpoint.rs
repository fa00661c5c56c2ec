//! From a catalog's URL to the root of the API version that we speak, without asking the service.
//!
//! A catalog names Neutron and Octavia with or without a version, Nova and Manila with one and sometimes with the
//! project behind it (`/v2.1/<project>`). Each form can be told from the path alone, which saves a discovery call.

use fabric_openstack_types::Service;
use reqwest::Url;

/// The URL below which the resources of the service's API lie.
pub(crate) fn root(service: Service, catalog: &Url) -> Url {
    let mut segments: Vec<String> = catalog
        .path_segments()
        .into_iter()
        .flatten()
        .filter(|segment| !segment.is_empty())
        .map(str::to_owned)
        .collect();
    let versioned = segments.iter().rposition(|segment| is_version(segment));
    match (service, versioned) {
        (Service::Identity, Some(at)) => {
            // `…/v2.0` of old configurations: Keystone's version 2 is gone.
            segments.truncate(at);
            segments.push("v3".to_owned());
        }
        (Service::Identity, None) => segments.push("v3".to_owned()),
        (Service::Network | Service::Compute, Some(_)) => {}
        (Service::Network, None) => segments.push("v2.0".to_owned()),
        (Service::Compute, None) => segments.push("v2.1".to_owned()),
        (Service::SharedFileSystem, Some(at)) => {
            if let Some(version) = segments.get_mut(at).filter(|version| *version == "v1") {
                *version = "v2".to_owned();
            }
        }
        (Service::SharedFileSystem, None) => segments.push("v2".to_owned()),
        (Service::LoadBalancer, versioned) => {
            if versioned.is_none() {
                segments.push("v2".to_owned());
            }
            if segments.last().is_none_or(|last| last != "lbaas") {
                segments.push("lbaas".to_owned());
            }
        }
    }
    let mut url = catalog.clone();
    url.set_query(None);
    url.set_fragment(None);
    if let Ok(mut path) = url.path_segments_mut() {
        path.clear().extend(segments);
    }
    url
}

/// `v2`, `v2.0`, `v2.1`, `v3`.
fn is_version(segment: &str) -> bool {
    segment.strip_prefix('v').is_some_and(|number| {
        number.starts_with(|c: char| c.is_ascii_digit()) && number.chars().all(|c| c.is_ascii_digit() || c == '.')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_follow_from_the_catalogs_url_alone() {
        use Service::*;
        for (service, catalog, root) in [
            (Identity, "http://h:5000", "http://h:5000/v3"),
            (Identity, "https://h/identity/", "https://h/identity/v3"),
            (Identity, "https://h/identity/v3/", "https://h/identity/v3"),
            (Identity, "https://h:5000/v2.0", "https://h:5000/v3"),
            (Network, "http://h:9696", "http://h:9696/v2.0"),
            (Network, "http://h:9696/", "http://h:9696/v2.0"),
            (Network, "http://h:9696/v2.0", "http://h:9696/v2.0"),
            (Network, "https://h/networking", "https://h/networking/v2.0"),
            (Compute, "http://h:8774/v2.1", "http://h:8774/v2.1"),
            (Compute, "http://h:8774/v2.1/0123abcd", "http://h:8774/v2.1/0123abcd"),
            (Compute, "https://h/compute", "https://h/compute/v2.1"),
            (SharedFileSystem, "http://h:8786/v2", "http://h:8786/v2"),
            (SharedFileSystem, "http://h:8786/v2/0123", "http://h:8786/v2/0123"),
            (SharedFileSystem, "http://h:8786/v1/0123", "http://h:8786/v2/0123"),
            (SharedFileSystem, "http://h:8786", "http://h:8786/v2"),
            (LoadBalancer, "http://h:9876", "http://h:9876/v2/lbaas"),
            (LoadBalancer, "http://h/load-balancer", "http://h/load-balancer/v2/lbaas"),
            (LoadBalancer, "http://h:9876/v2.0", "http://h:9876/v2.0/lbaas"),
            (LoadBalancer, "http://h:9876/v2/lbaas", "http://h:9876/v2/lbaas"),
        ] {
            let url = Url::parse(catalog).unwrap();
            assert_eq!(super::root(service, &url).as_str(), root, "{service} {catalog}");
        }
    }
}
