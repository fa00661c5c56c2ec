use fabric_apis::decode;
use serde_json::json;

use super::*;
use crate::openstack::admission::{Entry, Lookup, entry};

const SHOOT: &str = r#"
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata: {name: a, namespace: garden-dev}
spec:
  cloudProfile: {kind: CloudProfile, name: cloud}
  credentialsBindingName: creds
  region: r
  networking: {type: calico, nodes: 10.250.0.0/16}
  dns:
    providers:
      - {type: openstack-designate, primary: true, credentialsRef: {apiVersion: v1, kind: Secret, name: dns}}
      - {type: openstack-designate}
      - {type: aws-route53, primary: true}
  provider:
    type: openstack
    infrastructureConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: InfrastructureConfig
      floatingPoolName: pool
      networks: {workers: 10.250.0.0/19}
    controlPlaneConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: ControlPlaneConfig
      loadBalancerProvider: amphora
    workers:
      - name: w
        zones: [nova]
        providerConfig:
          apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
          kind: WorkerConfig
          serverGroup: {policy: soft}
"#;

type Edit = fn(&mut Value);

fn shoot(edit: Edit) -> Document {
    let mut document = decode::documents("", SHOOT.as_bytes()).unwrap().remove(0);
    edit(&mut document.value);
    document
}

fn rules() -> &'static Entry {
    entry("core.gardener.cloud/v1beta1", "Shoot").unwrap()
}

fn secret(data: &[(&str, &str)]) -> Value {
    let data: serde_json::Map<_, _> = data.iter().map(|(key, value)| ((*key).to_owned(), json!(value))).collect();
    json!({"stringData": data})
}

/// A garden in which the Shoot is in order, as `kind namespace/name` to object.
fn garden(name: &str) -> Lookup {
    let profile = json!({
        "constraints": {"floatingPools": [{"name": "pool", "domain": "hush"}], "loadBalancerProviders": [{"name": "amphora"}]},
        "serverGroupPolicies": ["soft"],
    });
    let login = [("domainName", "hush"), ("tenantName", "t"), ("username", "hush"), ("password", "hush")];
    let dns: Vec<_> = login.into_iter().chain([("authURL", "https://keystone.example")]).collect();
    Lookup::Found(match name {
        "CloudProfile cloud" => json!({"spec": {"providerConfig": profile}}),
        "NamespacedCloudProfile garden-dev/cloud" => {
            json!({"status": {"cloudProfileSpec": {"providerConfig": profile}}})
        }
        "CredentialsBinding garden-dev/creds" => json!({
            "metadata": {"namespace": "garden-dev"},
            "credentialsRef": {"apiVersion": "v1", "kind": "Secret", "namespace": "garden-ops", "name": "login"},
        }),
        "CredentialsBinding garden-dev/internal" => json!({
            "credentialsRef": {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "InternalSecret", "namespace": "garden-ops", "name": "login"},
        }),
        "CredentialsBinding garden-dev/identity" => json!({
            "credentialsRef": {"apiVersion": "security.gardener.cloud/v1alpha1", "kind": "WorkloadIdentity", "name": "x"},
        }),
        "SecretBinding garden-dev/creds" => json!({"secretRef": {"namespace": "garden-ops", "name": "login"}}),
        "Secret garden-ops/login" => secret(&login),
        "InternalSecret garden-ops/login" => secret(&login),
        "Secret garden-dev/dns" => secret(&dns),
        _ => return Lookup::NotFound,
    })
}

/// Asks for what the rules need until they need nothing more, and judges. The rounds, the wanted, the findings.
fn judge_in(reviewed: &Reviewed<'_>, garden: impl Fn(&str) -> Lookup) -> (Vec<String>, Findings) {
    let (mut resolved, mut wanted) = (Resolved::new(), Vec::new());
    let case = rules().open(*reviewed);
    for round in 0.. {
        let more = case.references(&resolved);
        if more.is_empty() {
            break;
        }
        assert!(round < 3, "asks for more and more: {more:?}");
        for reference in more {
            wanted.push(reference.to_string());
            let lookup = garden(&reference.to_string());
            resolved.insert(reference, lookup);
        }
    }
    (wanted, case.judge(&resolved))
}

fn errors(reviewed: &Reviewed<'_>, garden: impl Fn(&str) -> Lookup) -> Vec<String> {
    let findings = judge_in(reviewed, garden).1;
    let told: Vec<String> = findings.errors.iter().map(ToString::to_string).collect();
    assert!(!told.iter().any(|text| text.contains("hush")), "{told:?}");
    told
}

#[test]
fn the_rules_ask_for_what_stands_around_a_shoot() {
    let usual = [
        "CredentialsBinding garden-dev/creds",
        "CloudProfile cloud",
        "Secret garden-dev/dns",
        "Secret garden-ops/login",
    ];
    let cases: Vec<(&str, Edit, Vec<&str>)> = vec![
        ("usual", |_| {}, usual.to_vec()),
        (
            "a secret binding, a profile by its old name, a DNS secret by its old name",
            |s| {
                s["spec"]["credentialsBindingName"] = Value::Null;
                s["spec"]["secretBindingName"] = json!("creds");
                s["spec"]["cloudProfile"] = Value::Null;
                s["spec"]["cloudProfileName"] = json!("cloud");
                s["spec"]["dns"]["providers"][0] =
                    json!({"type": "openstack-designate", "primary": true, "secretName": "dns"});
            },
            vec![
                "SecretBinding garden-dev/creds",
                "CloudProfile cloud",
                "Secret garden-dev/dns",
                "Secret garden-ops/login",
            ],
        ),
        (
            "an internal secret and a profile of the project",
            |s| {
                s["spec"]["credentialsBindingName"] = json!("internal");
                s["spec"]["cloudProfile"]["kind"] = json!("NamespacedCloudProfile");
                s["spec"]["dns"] = Value::Null;
            },
            vec![
                "CredentialsBinding garden-dev/internal",
                "NamespacedCloudProfile garden-dev/cloud",
                "InternalSecret garden-ops/login",
            ],
        ),
        (
            "nothing named",
            |s| {
                s["spec"]["credentialsBindingName"] = json!("");
                s["spec"]["cloudProfile"] = Value::Null;
                s["spec"]["dns"] = Value::Null;
            },
            vec![],
        ),
        ("workerless", |s| s["spec"]["provider"]["workers"] = json!([]), vec![]),
        ("of another provider", |s| s["spec"]["provider"]["type"] = json!("aws"), vec![]),
        ("in deletion", |s| s["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z"), vec![]),
        ("not readable", |s| s["spec"]["region"] = json!(1), vec![]),
    ];
    for (case, edit, expected) in cases {
        let document = shoot(edit);
        let (mut wanted, findings) = judge_in(&Reviewed::create(&document), garden);
        let mut expected = expected;
        wanted.sort();
        expected.sort_unstable();
        assert_eq!(wanted, expected, "{case}");
        assert_eq!(findings.is_empty(), case != "not readable", "{case}: {findings:?}");
    }
}

#[test]
fn what_is_not_there_or_not_readable_is_told_at_the_field_that_names_it() {
    type Change = fn(&str) -> Option<Lookup>;
    let cases: Vec<(&str, Edit, Change, &[&str])> = vec![
        (
            "no profile",
            |_| {},
            |name| (name == "CloudProfile cloud").then_some(Lookup::NotFound),
            &[r#"spec.cloudProfile.name: Not found: "CloudProfile cloud""#],
        ),
        (
            "a profile without offer",
            |_| {},
            |name| (name == "CloudProfile cloud").then(|| Lookup::Found(json!({"spec": {"providerConfig": null}}))),
            &[
                r#"spec.cloudProfile.name: Invalid value: "cloud": providerConfig is not given for CloudProfile cloud: its operator has to add one"#,
            ],
        ),
        (
            "a project's profile that was not merged yet",
            |s| s["spec"]["cloudProfile"]["kind"] = json!("NamespacedCloudProfile"),
            |name| {
                let bare = json!({"spec": {"providerConfig": {"constraints": {}}}});
                name.starts_with("NamespacedCloudProfile").then_some(Lookup::Found(bare))
            },
            &[
                r#"spec.cloudProfile.name: Invalid value: "cloud": providerConfig is not given for NamespacedCloudProfile garden-dev/cloud: its operator has to add one"#,
            ],
        ),
        (
            "a profile out of reach",
            |_| {},
            |name| (name == "CloudProfile cloud").then(|| Lookup::Unreadable("timed out".into())),
            &["spec.cloudProfile.name: Internal error: CloudProfile cloud could not be read: timed out"],
        ),
        (
            "a profile whose offer does not fit",
            |_| {},
            |name| {
                (name == "CloudProfile cloud")
                    .then(|| Lookup::Found(json!({"spec": {"providerConfig": {"constraints": 7}}})))
            },
            &[
                "spec.cloudProfile.name: Internal error: providerConfig of CloudProfile cloud could not be read: decoding error: field \"constraints\": invalid type: integer `7`, expected an object",
            ],
        ),
        (
            "no binding",
            |s| s["spec"]["credentialsBindingName"] = json!("gone"),
            |_| None,
            &[r#"spec.credentialsBindingName: Not found: "CredentialsBinding garden-dev/gone""#],
        ),
        (
            "a binding to something else",
            |s| s["spec"]["credentialsBindingName"] = json!("identity"),
            |_| None,
            &[
                r#"spec.credentialsBindingName: Invalid value: "identity": CredentialsBinding garden-dev/identity leads to nothing that can hold a login for OpenStack: credentialsRef.kind: Unsupported value: "WorkloadIdentity": supported values: "Secret", "InternalSecret""#,
            ],
        ),
        (
            "a binding to nothing",
            |_| {},
            |name| (name == "Secret garden-ops/login").then_some(Lookup::NotFound),
            &[r#"spec.credentialsBindingName: Not found: "Secret garden-ops/login""#],
        ),
        (
            "a login without domain",
            |_| {},
            |name| (name == "Secret garden-ops/login").then(|| Lookup::Found(secret(&[("password", "hush")]))),
            &[
                r#"spec.credentialsBindingName: Invalid value: "creds": Secret garden-ops/login, which CredentialsBinding garden-dev/creds leads to, has no domainName"#,
            ],
        ),
        (
            "DNS without credentials",
            |s| s["spec"]["dns"]["providers"][0]["credentialsRef"] = Value::Null,
            |_| None,
            &[
                "spec.dns.providers[0].credentialsRef: Required value: a primary openstack-designate provider needs a Secret to log in with",
            ],
        ),
        (
            "DNS with other credentials",
            |s| s["spec"]["dns"]["providers"][0]["credentialsRef"]["kind"] = json!("WorkloadIdentity"),
            |_| None,
            &[
                r#"spec.dns.providers[0].credentialsRef: Invalid value: "dns": a WorkloadIdentity cannot hold a login for OpenStack: refer to a Secret"#,
            ],
        ),
        (
            "no DNS secret",
            |s| s["spec"]["dns"]["providers"][0]["credentialsRef"]["name"] = json!("gone"),
            |_| None,
            &[r#"spec.dns.providers[0].credentialsRef: Not found: "Secret garden-dev/gone""#],
        ),
        (
            "a DNS secret out of reach",
            |_| {},
            |name| (name == "Secret garden-dev/dns").then(|| Lookup::Unreadable("forbidden".into())),
            &[
                "spec.dns.providers[0].credentialsRef: Internal error: Secret garden-dev/dns could not be read: forbidden",
            ],
        ),
        (
            "a DNS secret that is wrong",
            |_| {},
            |name| (name == "Secret garden-dev/dns").then(|| Lookup::Found(json!({"data": {"password": 5}}))),
            &[
                "spec.dns.providers[0].credentialsRef: Invalid value: \"dns\": Secret garden-dev/dns: data.password: Invalid value: invalid type: integer, expected a base64-encoded string",
            ],
        ),
    ];
    for (case, edit, change, expected) in cases {
        let document = shoot(edit);
        let told = errors(&Reviewed::create(&document), |name| change(name).unwrap_or_else(|| garden(name)));
        assert_eq!(told, expected, "{case}");
    }
    let wrong = shoot(|_| {});
    let told = errors(&Reviewed::create(&wrong), |name| match name {
        "Secret garden-dev/dns" => Lookup::Found(secret(&[("domainName", "hush"), ("password", "hush")])),
        name => garden(name),
    });
    assert!(!told.is_empty());
    for text in told {
        assert!(
            text.starts_with(
                r#"spec.dns.providers[0].credentialsRef: Invalid value: "dns": Secret garden-dev/dns: data"#
            ),
            "{text}"
        );
    }
}

/// What has to be on offer, and in which case it is not asked.
#[test]
fn what_is_new_has_to_be_on_offer() {
    let empty = |name: &str| match name {
        "CloudProfile cloud" => Lookup::Found(json!({"spec": {"providerConfig": {}}})),
        name => garden(name),
    };
    let pool = r#"spec.provider.infrastructureConfig.floatingPoolName: Unsupported value: "pool": "#;
    let balancer = r#"spec.provider.controlPlaneConfig.loadBalancerProvider: Unsupported value: "amphora": "#;
    let group = r#"spec.provider.workers[0].providerConfig.serverGroup.policy: Invalid value: "soft": no matching server group policy found in cloudprofile: it offers none"#;
    let new = shoot(|_| {});
    assert_eq!(
        errors(&Reviewed::create(&new), empty),
        [group, pool.trim_end_matches(": "), balancer.trim_end_matches(": ")]
    );
    let nothing = |s: &mut Value| s["spec"]["credentialsBindingName"] = Value::Null;
    assert_eq!(errors(&Reviewed::create(&shoot(nothing)), empty), [group], "without credentials");

    let old = shoot(|s| s["spec"]["region"] = json!("q"));
    assert_eq!(errors(&Reviewed::update(&new, &old), empty), Vec::<String>::new(), "nothing of it changed");
    let dead = |_: &str| Lookup::Unreadable("the garden is down".into());
    assert_eq!(errors(&Reviewed::update(&new, &old), dead), Vec::<String>::new(), "nobody was needed");

    let old = shoot(|s| {
        s["spec"]["provider"]["controlPlaneConfig"]["loadBalancerProvider"] = json!("ovn");
        s["spec"]["provider"]["infrastructureConfig"]["floatingPoolName"] = json!("other");
        s["spec"]["provider"]["workers"][0]["providerConfig"] = Value::Null;
    });
    let immutable = r#"spec.provider.infrastructureConfig.floatingPoolName: Invalid value: "pool": field is immutable"#;
    assert_eq!(
        errors(&Reviewed::update(&new, &old), empty),
        [immutable, group, pool.trim_end_matches(": "), balancer.trim_end_matches(": ")]
    );
}

#[test]
fn a_shoot_that_no_rule_is_for_passes_whatever_it_says() {
    let wrong: Edit = |s| {
        s["spec"]["provider"]["infrastructureConfig"] = json!({"kind": "Nonsense"});
        s["spec"]["networking"] = Value::Null;
    };
    let base = shoot(wrong);
    assert!(!errors(&Reviewed::create(&base), garden).is_empty());
    let exempt: [(&str, Edit); 3] = [
        ("in deletion", |s| s["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z")),
        ("workerless", |s| s["spec"]["provider"]["workers"] = Value::Null),
        ("of another provider", |s| s["spec"]["provider"]["type"] = json!("aws")),
    ];
    for (case, edit) in exempt {
        let mut document = base.clone();
        edit(&mut document.value);
        let (wanted, findings) = judge_in(&Reviewed::create(&document), garden);
        assert!(wanted.is_empty() && findings.is_empty(), "{case}: {findings:?}");
    }
    let mut labelled = base.clone();
    labelled.value["metadata"]["labels"] = json!({"a": "b"});
    let (wanted, findings) = judge_in(&Reviewed::update(&labelled, &base), garden);
    assert!(wanted.is_empty() && findings.is_empty(), "unchanged spec: {findings:?}");
}

#[test]
fn every_part_is_judged_at_once_also_where_another_cannot_be_read() {
    let document = shoot(|s| {
        s["spec"]["networking"] = json!({"ipFamilies": ["IPv6"]});
        let provider = &mut s["spec"]["provider"];
        provider["infrastructureConfig"]["extra"] = json!(1);
        provider["infrastructureConfig"]["floatingPoolName"] = json!("");
        provider["controlPlaneConfig"]["loadBalancerProvider"] = json!(["amphora"]);
        provider["workers"][0]["zones"] = json!([]);
        s["spec"]["dns"]["providers"][0]["credentialsRef"] = Value::Null;
    });
    let told = errors(&Reviewed::create(&document), garden);
    let fields: Vec<&str> = told.iter().map(|text| text.split(": ").next().unwrap()).collect();
    assert_eq!(
        fields,
        [
            "spec.provider.infrastructureConfig.extra",
            "spec.provider.controlPlaneConfig.loadBalancerProvider",
            "spec.networking.nodes",
            "spec.networking.ipFamilies",
            "spec.provider.infrastructureConfig.floatingPoolName",
            "spec.provider.workers[0].zones",
            "spec.dns.providers[0].credentialsRef",
        ]
    );
}

#[test]
fn a_change_is_compared_with_what_can_be_read_of_the_old_shoot() {
    let new = shoot(|_| {});
    let old: [(&str, Edit, &[&str]); 4] = [
        (
            "another range",
            |s| s["spec"]["provider"]["infrastructureConfig"]["networks"]["workers"] = json!("10.250.0.0/20"),
            &[
                r#"spec.provider.infrastructureConfig.networks.workers: Invalid value: "10.250.0.0/19": field is immutable"#,
            ],
        ),
        (
            "more zones",
            |s| s["spec"]["provider"]["workers"][0]["zones"] = json!(["nova", "supernova"]),
            &[
                r#"spec.provider.workers[0].zones: Invalid value: ["nova"]: field is immutable: zones can only be added, after ["nova","supernova"]"#,
            ],
        ),
        ("no config", |s| s["spec"]["provider"]["infrastructureConfig"] = Value::Null, &[]),
        ("no Shoot", |s| s["spec"]["region"] = json!(1), &[]),
    ];
    for (case, edit, expected) in old {
        assert_eq!(errors(&Reviewed::update(&new, &shoot(edit)), garden), expected, "{case}");
    }
}

#[test]
fn workers_and_what_stands_around_them_have_to_be_what_they_look_like() {
    let cases: [(Value, bool); 9] = [
        (json!({}), true),
        (json!({"spec": null}), true),
        (json!({"spec": {"provider": {}}}), true),
        (json!({"spec": {"provider": {"workers": null}}}), true),
        (json!({"spec": {"provider": {"workers": []}}}), true),
        (json!({"spec": {"provider": {"workers": [{}]}}}), false),
        (json!({"spec": {"provider": {"workers": {}}}}), false),
        (json!({"spec": {"provider": []}}), false),
        (json!({"spec": "x"}), false),
    ];
    for (value, expected) in cases {
        let document = Document { index: 0, value, duplicates: Vec::new() };
        assert_eq!(is_workerless(&document), expected, "{:?}", document.value);
    }
}
