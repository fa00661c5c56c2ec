//! What a secret holds, as lines `key=value`: no value that is nobody's business gets into an error.

#![no_main]

use std::collections::BTreeMap;

use fabric_apis::field::{ErrorList, Path};
use fabric_fuzz::{begin, examples};
use fabric_validation::openstack::secret::{key, validate_data, validate_dns_data};
use libfuzzer_sys::fuzz_target;

/// Part of every value that must stay hidden.
const MARK: &str = "Nobody's-Business";
/// Keys whose values may be told.
const TOLD: [&str; 3] = [key::TENANT_NAME, key::AUTH_URL, key::INSECURE];

fn keys() -> Vec<&'static str> {
    let usual = [
        key::DOMAIN_NAME,
        key::TENANT_NAME,
        key::USER_NAME,
        key::PASSWORD,
        key::APPLICATION_CREDENTIAL_ID,
        key::APPLICATION_CREDENTIAL_NAME,
        key::APPLICATION_CREDENTIAL_SECRET,
        key::AUTH_URL,
        key::CA_CERT,
        key::INSECURE,
    ];
    usual.into_iter().chain(key::DNS_ALIASES.map(|(_, other)| other)).collect()
}

fn seeds() -> Vec<Vec<u8>> {
    let secrets = examples().into_iter().filter(|example| example.object["kind"] == "Secret");
    let lines = |object: &serde_json::Value| -> String {
        let data = object["stringData"].as_object().into_iter().flatten();
        data.map(|(key, value)| format!("{key}={}\n", value.as_str().unwrap_or_default())).collect()
    };
    let mut all: Vec<Vec<u8>> = secrets.map(|example| lines(&example.object).into_bytes()).collect();
    all.push(keys().iter().map(|key| format!("{key}=https://a:b@c/v3\n")).collect::<String>().into_bytes());
    all
}

fn words() -> Vec<String> {
    let more =
        ["https://", "http://", "-----BEGIN CERTIFICATE-----", "-----END CERTIFICATE-----", "true", "%00", "[::1]"];
    keys().into_iter().chain(more).map(str::to_owned).collect()
}

fn hidden(errors: &ErrorList) {
    for error in errors.iter() {
        assert!(!error.to_string().contains(MARK), "a hidden value is told");
    }
}

fuzz_target!(init: begin(seeds(), words()), |data: &[u8]| {
    if data.windows(MARK.len()).any(|part| part == MARK.as_bytes()) {
        return;
    }
    let mut content = BTreeMap::new();
    for line in data.split(|byte| *byte == b'\n') {
        let Some(end) = line.iter().position(|byte| *byte == b'=') else { continue };
        let (Ok(name), mut value) = (std::str::from_utf8(&line[..end]), line[end + 1..].to_vec()) else { continue };
        let usual = key::DNS_ALIASES.iter().find(|(_, other)| *other == name).map_or(name, |(usual, _)| usual);
        if !TOLD.contains(&usual) && !value.is_empty() {
            let middle = value.len() / 2;
            value.splice(middle..middle, MARK.bytes());
        }
        content.insert(name.to_owned(), value);
    }
    let path = Path::new("secret");
    hidden(&validate_data(&content, &path));
    hidden(&validate_dns_data(&content, &path));
});
