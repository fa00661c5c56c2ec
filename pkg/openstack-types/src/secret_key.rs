//! The keys of Gardener's secrets with a login for OpenStack: `cloudprovider`, and those for DNS entries.

/// Keystone domain, by name.
pub const DOMAIN_NAME: &str = "domainName";
/// Project, by name.
pub const TENANT_NAME: &str = "tenantName";
/// User, by name.
pub const USER_NAME: &str = "username";
/// The user's password.
pub const PASSWORD: &str = "password";
/// Application credential, by id.
pub const APPLICATION_CREDENTIAL_ID: &str = "applicationCredentialID";
/// Application credential, by name; needs the user's name.
pub const APPLICATION_CREDENTIAL_NAME: &str = "applicationCredentialName";
/// The application credential's secret.
pub const APPLICATION_CREDENTIAL_SECRET: &str = "applicationCredentialSecret";
/// Keystone's URL; Gardener fills it in from the CloudProfile.
pub const AUTH_URL: &str = "authURL";
/// CA bundle, PEM.
pub const CA_CERT: &str = "caCert";
/// `true` = don't verify certificates.
pub const INSECURE: &str = "insecure";

/// All of them.
pub const ALL: [&str; 10] = [
    DOMAIN_NAME,
    TENANT_NAME,
    USER_NAME,
    PASSWORD,
    APPLICATION_CREDENTIAL_ID,
    APPLICATION_CREDENTIAL_NAME,
    APPLICATION_CREDENTIAL_SECRET,
    AUTH_URL,
    CA_CERT,
    INSECURE,
];

/// What a secret for DNS entries may call its keys as well: usual name, other name.
pub const DNS_ALIASES: [(&str, &str); 9] = [
    (DOMAIN_NAME, "OS_DOMAIN_NAME"),
    (TENANT_NAME, "OS_PROJECT_NAME"),
    (USER_NAME, "OS_USERNAME"),
    (PASSWORD, "OS_PASSWORD"),
    (APPLICATION_CREDENTIAL_ID, "OS_APPLICATION_CREDENTIAL_ID"),
    (APPLICATION_CREDENTIAL_NAME, "OS_APPLICATION_CREDENTIAL_NAME"),
    (APPLICATION_CREDENTIAL_SECRET, "OS_APPLICATION_CREDENTIAL_SECRET"),
    (AUTH_URL, "OS_AUTH_URL"),
    (CA_CERT, "OS_CACERT"),
];
