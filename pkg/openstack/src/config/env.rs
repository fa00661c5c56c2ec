//! The `OS_*` variables that `openrc` files set.

use fabric_openstack_types::credentials::Credentials;

use super::{Surroundings, clouds_yaml, fields::Fields};
use crate::error::Error;

/// Every field of `auth`, and nothing else of the environment.
const FIELDS: [&str; 19] = [
    "auth_url",
    "username",
    "user_id",
    "password",
    "project_name",
    "project_id",
    "tenant_name",
    "tenant_id",
    "user_domain_name",
    "user_domain_id",
    "project_domain_name",
    "project_domain_id",
    "domain_name",
    "domain_id",
    "default_domain",
    "system_scope",
    "application_credential_id",
    "application_credential_name",
    "application_credential_secret",
];

/// Reads credentials from the environment.
///
/// # Errors
/// Names the variable and the fix.
pub fn credentials(from: &Surroundings) -> Result<Credentials, Error> {
    let values = FIELDS.iter().filter_map(|field| {
        let value = from.variable(&spelled(field))?;
        Some(((*field).to_owned(), value.to_owned()))
    });
    let fields = Fields { place: "environment".to_owned(), spelled, values: values.collect() };
    let interface = from.variable("OS_INTERFACE").or_else(|| from.variable("OS_ENDPOINT_TYPE"));
    let insecure = fields.switch("insecure", from.variable("OS_INSECURE"))?;
    Ok(Credentials {
        auth_url: fields.need("auth_url", "Keystone's URL, for example https://keystone/v3")?,
        method: fields.method(from.variable("OS_AUTH_TYPE"))?,
        region: from.variable("OS_REGION_NAME").map(str::to_owned),
        interface: fields.interface("interface", interface)?,
        ca_cert: match from.variable("OS_CACERT") {
            Some(file) => Some(clouds_yaml::ca_cert(&fields.place, "OS_CACERT", from, file)?),
            None => None,
        },
        insecure: insecure.unwrap_or(false),
        endpoint_overrides: Default::default(),
    })
}

fn spelled(field: &str) -> String {
    format!("OS_{}", field.to_uppercase())
}

#[cfg(test)]
mod tests {
    use fabric_openstack_types::credentials::{AuthMethod, DomainRef, Interface, Scope, UserRef};

    use super::*;

    fn set(pairs: &[(&str, &str)]) -> Surroundings {
        let pairs = pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned()));
        Surroundings { variables: pairs.collect(), ..Surroundings::default() }
    }

    #[test]
    fn an_openrc_file_logs_in_by_password() {
        let from = set(&[
            ("OS_AUTH_URL", "https://keystone:5000"),
            ("OS_USERNAME", "demo"),
            ("OS_PASSWORD", "hunter2"),
            ("OS_PROJECT_NAME", "p"),
            ("OS_USER_DOMAIN_NAME", "ud"),
            ("OS_PROJECT_DOMAIN_ID", "pd"),
            ("OS_REGION_NAME", "R"),
            ("OS_ENDPOINT_TYPE", "internalURL"),
            ("OS_INSECURE", "True"),
        ]);
        let read = credentials(&from).unwrap();
        assert_eq!(read.region.as_deref(), Some("R"));
        assert_eq!(read.interface, Interface::Internal);
        assert!(read.insecure);
        let AuthMethod::Password { user, scope, .. } = read.method else { panic!("{read:?}") };
        let domain = DomainRef::Name("ud".to_owned());
        assert_eq!(user, UserRef::Name { name: "demo".to_owned(), domain });
        let domain = DomainRef::Id("pd".to_owned());
        assert_eq!(scope, Scope::ProjectName { name: "p".to_owned(), domain });
    }

    #[test]
    fn a_missing_variable_is_named_with_its_fix() {
        let base = [("OS_AUTH_URL", "https://k"), ("OS_USERNAME", "u"), ("OS_USER_DOMAIN_NAME", "d")];
        for (more, said) in [
            (vec![], "environment: OS_PASSWORD is missing"),
            (vec![("OS_PASSWORD", "hunter2")], "environment: OS_PROJECT_NAME is missing"),
            (
                vec![("OS_PASSWORD", "hunter2"), ("OS_SYSTEM_SCOPE", "all")],
                "OS_SYSTEM_SCOPE: infrastructure lies in a project",
            ),
            (vec![("OS_AUTH_TYPE", "v3oidc")], "OS_AUTH_TYPE: \"v3oidc\" is not supported"),
            (vec![("OS_APPLICATION_CREDENTIAL_ID", "i")], "OS_APPLICATION_CREDENTIAL_SECRET is missing"),
        ] {
            let error = credentials(&set(&[&base[..], &more].concat())).unwrap_err().to_string();
            assert!(error.contains(said), "{error}");
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
