use fabric_openstack_types::credentials::{AuthMethod, DomainRef, Interface, Scope, UserRef};

use super::*;
use crate::config;

const CLOUDS: &str = "
clouds:
  byword:
    auth: {auth_url: 'https://k/v3', username: u, password: 1234, project_name: p, user_domain_name: d}
    region_name: R
    interface: internal
    network_endpoint_override: http://127.0.0.1:1
    shared_file_system_endpoint_override: http://127.0.0.1:2
  split:
    auth: {auth_url: 'https://k/v3', user_id: uid, project_id: pid}
    verify: false
  byid:
    auth_type: v3applicationcredential
    auth: {auth_url: 'https://k/v3', application_credential_id: i, application_credential_secret: hunter2}
    regions: [{name: A}, B]
  vendor:
    profile: big
    auth: {username: u, password: hunter2, project_name: p, domain_name: d}
";

fn clouds() -> Clouds {
    let mut clouds = Clouds::parse("clouds.yaml", CLOUDS).unwrap();
    let secure = "clouds: {split: {auth: {password: hunter2}}, stranger: {auth: {password: x}}}";
    clouds.add_secrets("secure.yaml", secure).unwrap();
    let public = "public-clouds: {big: {auth: {auth_url: 'https://big/v3'}, region_name: BIG}}";
    clouds.add_profiles("clouds-public.yaml", public).unwrap();
    clouds
}

fn credentials(cloud: &str) -> Result<Credentials, Error> {
    clouds().credentials(cloud, &Surroundings::default())
}

#[test]
fn reads_each_way_to_log_in() {
    let byword = credentials("byword").unwrap();
    assert_eq!(byword.region.as_deref(), Some("R"));
    assert_eq!(byword.interface, Interface::Internal);
    assert_eq!(byword.endpoint_overrides["network"], "http://127.0.0.1:1");
    assert_eq!(byword.endpoint_overrides["sharev2"], "http://127.0.0.1:2");
    let domain = || DomainRef::Name("d".to_owned());
    let AuthMethod::Password { user, scope, .. } = byword.method else { panic!() };
    let name = |name: &str| name.to_owned();
    assert_eq!(user, UserRef::Name { name: name("u"), domain: domain() });
    // The project's domain is not given: the user's.
    assert_eq!(scope, Scope::ProjectName { name: name("p"), domain: domain() });

    let split = credentials("split").unwrap();
    assert!(split.insecure);
    assert!(matches!(split.method, AuthMethod::Password { user: UserRef::Id(_), scope: Scope::ProjectId(_), .. }));

    let byid = credentials("byid").unwrap();
    assert_eq!(byid.region.as_deref(), Some("A"));
    assert!(matches!(byid.method, AuthMethod::AppCredentialId { .. }));

    let vendor = credentials("vendor").unwrap();
    assert_eq!((vendor.auth_url.as_str(), vendor.region.as_deref()), ("https://big/v3", Some("BIG")));
}

#[test]
fn an_unknown_cloud_lists_the_known_ones() {
    let error = credentials("stranger").unwrap_err().to_string();
    assert_eq!(error, r#"clouds.yaml: no cloud "stranger"; it has byid, byword, split, vendor"#);
}

#[test]
fn errors_name_file_cloud_field_and_fix_but_no_secret() {
    for (cloud, said) in [
        ("{}", "auth.auth_url is missing: Keystone's URL"),
        ("{auth: {auth_url: x, username: u, password: hunter2}}", "auth.user_domain_name is missing"),
        ("{auth: {auth_url: x, user_id: u}}", "auth.password is missing"),
        ("{auth: {auth_url: x}, auth_type: token}", r#"auth_type: "token" is not supported"#),
        (
            "{auth: {auth_url: x, user_id: u, password: hunter2, project_id: p}, interface: outer}",
            "use public, internal or admin",
        ),
        (
            "{auth: {auth_url: x, user_id: u, password: hunter2, project_id: p}, verify: maybe}",
            "neither true nor false",
        ),
        ("{profile: none}", "is not in clouds-public.yaml"),
    ] {
        let text = format!("clouds: {{c: {cloud}}}");
        let clouds = Clouds::parse("f.yaml", &text).unwrap();
        let error = clouds.credentials("c", &Surroundings::default()).unwrap_err().to_string();
        assert!(error.starts_with(r#"f.yaml: cloud "c": "#), "{error}");
        assert!(error.contains(said), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
}

#[test]
fn broken_yaml_is_placed_and_not_quoted() {
    for (text, said) in [
        ("clouds:\n  a: {password: hunter2", "f.yaml: no valid YAML at line "),
        ("[1, 2]", "must be a mapping"),
        ("clouds: [a]", "must hold one entry a cloud"),
        ("clouds: hunter2", "must hold one entry a cloud"),
    ] {
        let error = Clouds::parse("f.yaml", text).unwrap_err().to_string();
        assert!(error.contains(said), "{error}");
        assert!(!error.contains("hunter2"), "{error}");
    }
    assert!(Clouds::parse("f.yaml", "").unwrap().names().is_empty());
}

#[test]
fn files_are_found_in_openstacksdks_order() {
    let root = tempfile::tempdir().unwrap();
    let write = |path: &str, url: &str| {
        let file = root.path().join(path);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        let auth = format!("{{auth_url: '{url}', user_id: u, password: p, project_id: p}}");
        std::fs::write(&file, format!("clouds: {{c: {{auth: {auth}}}}}")).unwrap();
        file
    };
    let mut from = Surroundings {
        working: root.path().join("work"),
        home: Some(root.path().join("home")),
        machine: root.path().join("etc"),
        ..Surroundings::default()
    };
    let url = |from: &Surroundings| config::load(Some("c"), from).unwrap().auth_url;
    let missing = config::load(None, &from).unwrap_err().to_string();
    assert!(missing.contains("none exists") && missing.contains("OS_CLOUD"), "{missing}");
    write("etc/clouds.yaml", "machine");
    assert_eq!(url(&from), "machine");
    write("home/.config/openstack/clouds.yaml", "home");
    assert_eq!(url(&from), "home");
    write("work/clouds.yml", "work");
    assert_eq!(url(&from), "work");
    let named = write("named.yaml", "named");
    let named = named.display().to_string();
    from.variables.insert("OS_CLIENT_CONFIG_FILE".to_owned(), named);
    assert_eq!(url(&from), "named");
    // The only cloud needs no name.
    assert_eq!(config::load(None, &from).unwrap().auth_url, "named");
    assert_eq!(config::known(&from).unwrap(), ["c"]);
    let debug = format!("{from:?} {:?}", config::load(None, &from).unwrap());
    assert!(!debug.contains("password: \"p\""), "{debug}");
}
