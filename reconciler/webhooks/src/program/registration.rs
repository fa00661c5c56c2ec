//! The webhook configurations, made from the table of the rules.

use std::collections::BTreeMap;

use fabric_admission::certificates::Leader;
use fabric_admission::cluster::{Configurations, FailurePolicy, Reach, WebhookKind};
use fabric_validation::openstack::admission::{Webhook, entries};
use fabric_validation::openstack::{PROVIDER_TYPE, cloudprovider};
use kube::Client;

use super::{Args, Mode, Program};
use crate::Error;
use crate::routes::{kind, operations};

/// How long an apiserver waits, in seconds. Upstream's, and Kubernetes' default.
const TIMEOUT: u8 = 10;

pub(super) fn configurations(
    program: &Program,
    args: &Args,
    garden: Client,
    leader: Leader,
) -> Result<Configurations, Error> {
    let described = |&webhook: &Webhook| described(webhook, program.component, &args.namespaces);
    let webhooks = program.webhooks.iter().map(described).collect();
    let name = args.config_name.clone().unwrap_or_else(|| program.full_name());
    let reach = reach(program, args)?;
    Ok(Configurations::new(garden, name, reach, webhooks, args.owner_namespace.clone(), leader))
}

fn reach(program: &Program, args: &Args) -> Result<Reach, Error> {
    let (name, port) = (program.full_name(), args.service_port);
    Ok(match args.mode {
        Mode::Service => Reach::Service { namespace: args.namespace()?.to_owned(), name, port },
        Mode::UrlService => Reach::Url(format!("https://{name}.{}:{port}", args.namespace()?)),
        Mode::Url => Reach::Url(format!("https://{}", args.url.as_deref().unwrap_or_default())),
    })
}

/// The host of `host`, `host:port`, `[address]:port` or a bare address.
pub(super) fn host(url: &str) -> &str {
    if let Some((address, _)) = url.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return address;
    }
    match url.split_once(':') {
        // More than one colon: an IPv6 address without port.
        Some((host, port)) if !port.contains(':') => host,
        _ => url,
    }
}

/// A webhook as an apiserver is told about it.
fn described(webhook: Webhook, component: &str, namespaces: &[String]) -> fabric_admission::cluster::Webhook {
    let name = |name: &str| format!("{name}.{component}.extensions.gardener.cloud");
    let label = |key: String| BTreeMap::from([(key, "true".to_owned())]);
    let of_provider = || label(format!("provider.extensions.gardener.cloud/{PROVIDER_TYPE}"));
    let (name, labels, condition) = match webhook {
        Webhook::Validate => (name("validator"), of_provider(), None),
        Webhook::Secrets => {
            (name("secrets.validator"), label(format!("provider.shoot.gardener.cloud/{PROVIDER_TYPE}")), None)
        }
        Webhook::Mutate => (name("mutator"), of_provider(), None),
        // gardenlet puts no label of the provider on it.
        Webhook::Infrastructure => {
            let expression = format!("object.spec.type == '{PROVIDER_TYPE}'");
            (name("validator"), BTreeMap::new(), Some(("provider".to_owned(), expression)))
        }
        // As gardenlet labels the secret; which provider it is for says the label of its namespace.
        Webhook::Cloudprovider => {
            let purpose = BTreeMap::from([("gardener.cloud/purpose".to_owned(), cloudprovider::NAME.to_owned())]);
            (name("cloudprovider"), purpose, None)
        }
    };
    let namespace_labels = match webhook {
        Webhook::Cloudprovider => {
            BTreeMap::from([("shoot.gardener.cloud/provider".to_owned(), PROVIDER_TYPE.to_owned())])
        }
        _ => BTreeMap::new(),
    };
    fabric_admission::cluster::Webhook {
        name,
        kind: if webhook.is_mutating() { WebhookKind::Mutating } else { WebhookKind::Validating },
        path: webhook.path(),
        rules: entries(webhook).map(|entry| (kind(entry), entry.plural.to_owned(), operations(entry))).collect(),
        labels,
        namespaces: namespaces.to_vec(),
        namespace_labels,
        condition,
        // The controller checks an Infrastructure again; in the garden nobody does until the shoot is made.
        failure: if webhook == Webhook::Infrastructure { FailurePolicy::Ignore } else { FailurePolicy::Fail },
        timeout: TIMEOUT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_are_told_from_ports() {
        for (url, expected) in [
            ("admission.example.org", "admission.example.org"),
            ("admission.garden:8443", "admission.garden"),
            ("127.0.0.1:10250", "127.0.0.1"),
            ("[::1]:10250", "::1"),
            ("fd00::1", "fd00::1"),
        ] {
            assert_eq!(host(url), expected);
        }
    }

    #[test]
    fn names_selectors_and_policies_are_ours_by_webhook() {
        for (webhook, name, selector, failure) in [
            (Webhook::Validate, "validator", Some("provider.extensions.gardener.cloud/openstack"), FailurePolicy::Fail),
            (
                Webhook::Secrets,
                "secrets.validator",
                Some("provider.shoot.gardener.cloud/openstack"),
                FailurePolicy::Fail,
            ),
            (Webhook::Mutate, "mutator", Some("provider.extensions.gardener.cloud/openstack"), FailurePolicy::Fail),
            (Webhook::Infrastructure, "validator", None, FailurePolicy::Ignore),
            (Webhook::Cloudprovider, "cloudprovider", Some("gardener.cloud/purpose"), FailurePolicy::Fail),
        ] {
            let told = described(webhook, "admission-openstack-fabric", &[]);
            assert_eq!(told.name, format!("{name}.admission-openstack-fabric.extensions.gardener.cloud"));
            assert_eq!(told.labels.keys().next().map(String::as_str), selector);
            assert_eq!(told.failure, failure);
            assert_eq!(told.path, webhook.path());
            assert!(!told.rules.is_empty(), "{webhook:?} is sent something");
        }
    }
}
