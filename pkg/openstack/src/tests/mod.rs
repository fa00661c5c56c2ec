//! The client against a small server of our own: what a cloud does seldom, and what it must never see.

use std::collections::BTreeMap;

use fabric_openstack_types::credentials::{AuthMethod, Credentials, DomainRef, Interface, Scope, UserRef};

pub(crate) fn credentials(auth_url: &str) -> Credentials {
    Credentials {
        auth_url: auth_url.to_owned(),
        method: AuthMethod::Password {
            user: UserRef::Name { name: "demo".to_owned(), domain: DomainRef::Name("demo".to_owned()) },
            password: "correct-horse".into(),
            scope: Scope::ProjectName { name: "demo".to_owned(), domain: DomainRef::Name("demo".to_owned()) },
        },
        region: None,
        interface: Interface::Public,
        ca_cert: None,
        insecure: false,
        endpoint_overrides: BTreeMap::new(),
    }
}
