//! `infra validate`: no cloud, only files.

use std::process::Stdio;

use serde_json::json;

use crate::{Desk, OWN, golden};

const BAD: &str = "\
apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
kind: InfrastructureConfig
floatingPoolName: public
networks:
  id: team-network
  subnetId: 11111111-2222-3333-4444-555555555555
  workers: 10.0.0.0/33
  subnet: team
";

fn shoot(name: &str, workers: &str) -> String {
    format!(
        "\
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  name: {name}
  namespace: garden-dev
spec:
  cloudProfile: {{kind: CloudProfile, name: cloud}}
  region: one
  provider:
    type: openstack
    infrastructureConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: InfrastructureConfig
      floatingPoolName: public
      networks:
        workers: {workers}
    controlPlaneConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: ControlPlaneConfig
      loadBalancerProvider: amphora
    workers:
    - name: pool
      zones: [nova]
  networking:
    type: calico
    nodes: 10.250.0.0/16
    pods: 100.96.0.0/11
"
    )
}

fn infrastructure(networks: &str) -> String {
    format!(
        "\
apiVersion: extensions.gardener.cloud/v1alpha1
kind: Infrastructure
metadata: {{name: infra, namespace: shoot--dev--web}}
spec:
  type: openstack
  region: one
  secretRef: {{name: cloudprovider, namespace: shoot--dev--web}}
  providerConfig:
    apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
    kind: InfrastructureConfig
    floatingPoolName: public
    networks: {networks}
"
    )
}

#[test]
fn every_finding_is_told_at_once_as_a_table_and_as_json() {
    let desk = Desk::new();
    desk.write("bad.yaml", BAD);
    golden("bad.txt", &desk.run("infra validate -f bad.yaml").ends(1).out);
    golden("bad.json", &desk.run("infra validate -f bad.yaml -o json").ends(1).out);
    golden("bad.yaml", &desk.run("infra validate -f bad.yaml -o yaml").ends(1).out);
}

#[test]
fn a_valid_object_ends_with_zero_and_an_empty_list_of_errors() {
    let desk = Desk::new();
    desk.write("good.yaml", OWN);
    let ended = desk.run("infra validate -f good.yaml").ends(0);
    assert!(ended.out.contains("good.yaml[0] InfrastructureConfig: valid"), "{}", ended.out);
    assert_eq!(
        desk.run("infra validate -f good.yaml -o json").ends(0).json(),
        json!([{"file": "good.yaml", "index": 0, "kind": "InfrastructureConfig", "name": "", "errors": [], "warnings": []}]),
    );
}

#[test]
fn paths_begin_where_the_config_stands() {
    let desk = Desk::new();
    desk.write("1-bare.yaml", &OWN.replace("10.250.0.0/16", "10.250.0.0/40"));
    desk.write("2-shoot.yaml", &shoot("web", "10.250.0.0/40"));
    desk.write("3-infra.yaml", &infrastructure("{workers: 10.250.0.0/40}"));
    let found = desk.run("infra validate -f . -o json").ends(1).json();
    let fields: Vec<(&str, &str, &str)> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|it| {
            assert_eq!(it["errors"][0]["type"], "FieldValueInvalid");
            (it["kind"].as_str().unwrap(), it["name"].as_str().unwrap(), it["errors"][0]["field"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        fields,
        [
            ("InfrastructureConfig", "", "networks.workers"),
            ("Shoot", "garden-dev/web", "spec.provider.infrastructureConfig.networks.workers"),
            ("Infrastructure", "shoot--dev--web/infra", "spec.providerConfig.networks.workers"),
        ]
    );
}

#[test]
fn reads_standard_input_lists_and_json() {
    let desk = Desk::new();
    let ended = desk.run_with("infra validate -f - -o json", OWN).ends(0);
    assert_eq!(ended.json()[0]["file"], "<stdin>");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [
        {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "metadata": {"name": "a", "namespace": "garden-x"},
         "spec": {"provider": {"type": "openstack", "workers": []}}},
        {"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "metadata": {"name": "b", "namespace": "garden-x"},
         "spec": {"provider": {"type": "openstack", "workers": [{"name": "p"}]}}},
    ]});
    let found = desk.run_with("infra validate -f - -o json", &list.to_string()).ends(1).json();
    assert_eq!((&found[0]["name"], &found[0]["errors"]), (&json!("garden-x/a"), &json!([])), "no workers, no rules");
    assert_eq!(found[1]["errors"][0]["field"], "spec.provider.infrastructureConfig");
    assert_eq!(found[1]["index"], 1);
}

#[test]
fn folders_are_read_in_order_and_each_file_once() {
    let desk = Desk::new();
    for name in ["in/b.yaml", "in/a.yml", "in/c.json", "in/notes.txt", "in/deep/d.yaml"] {
        desk.write(name, if name.ends_with("json") { r#"{"apiVersion": "v1", "kind": "ConfigMap"}"# } else { OWN });
    }
    let files = |line: &str| -> Vec<String> {
        let found = desk.run(line).ends(0).json();
        found.as_array().unwrap().iter().map(|it| it["file"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(files("infra validate -f in -f in/b.yaml -o json"), ["in/a.yml", "in/b.yaml"]);
    assert_eq!(files("infra validate -R -f in -o json"), ["in/a.yml", "in/b.yaml", "in/deep/d.yaml"]);
}

#[test]
fn a_malformed_file_is_placed_and_voided_and_the_others_are_judged() {
    let desk = Desk::new();
    desk.write("a.yaml", &format!("{OWN}---\nkind: [\n"));
    desk.write("b.json", "{\"kind\"\n\"x\"}\n");
    desk.write("c.yaml", OWN);
    let found = desk.run("infra validate -f . -o json").ends(1).json();
    let place = |n: usize| {
        (found[n]["file"].clone(), found[n]["syntax"]["line"].clone(), found[n]["errors"][0]["type"].clone())
    };
    assert_eq!(found.as_array().unwrap().len(), 3, "{found}");
    assert_eq!((found[0]["file"].as_str(), found[0]["kind"].as_str()), (Some("./a.yaml"), Some("")));
    assert!(found[0]["syntax"]["line"].as_u64().unwrap() >= 7, "{found}");
    assert_eq!(place(1), (json!("./b.json"), json!(2), json!("FieldValueInvalid")));
    assert_eq!(found[2]["errors"], json!([]));
    let table = desk.run("infra validate -f b.json").ends(1).out;
    golden("malformed.txt", &table);
}

#[test]
fn a_malformed_secret_is_placed_without_showing_it() {
    let desk = Desk::new();
    desk.write("s.yaml", "apiVersion: v1\nkind: Secret\nstringData:\n  password: \"hush\n  username: [\n");
    let ended = desk.run("infra validate -f s.yaml").ends(1);
    assert!(ended.out.contains("s.yaml:4:"), "{}", ended.out);
    assert!(!ended.out.contains("hush") && !ended.err.contains("hush"), "{}", ended.out);
}

#[test]
fn a_secret_is_judged_and_never_shown() {
    let desk = Desk::new();
    desk.write(
        "s.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: cloudprovider}\nstringData: {domainName: d, tenantName: t, username: \" hush\", password: 4711}\n",
    );
    let ended = desk.run("infra validate -f s.yaml").ends(1);
    assert!(ended.out.contains("secret.stringData.password"), "{}", ended.out);
    assert!(!ended.out.contains("4711") && !ended.out.contains("hush"), "{}", ended.out);
    desk.write(
        "s.yaml",
        "apiVersion: v1\nkind: Secret\nstringData: {domainName: d, tenantName: t, username: \" hush\"}\n",
    );
    let ended = desk.run("infra validate -f s.yaml").ends(1);
    assert!(ended.out.contains("secret.data[username]") && !ended.out.contains("hush"), "{}", ended.out);
}

#[test]
fn a_large_file_keeps_indices_and_lines() {
    let desk = Desk::new();
    let mut all = String::new();
    for n in 0..400 {
        let workers = if n == 321 { "10.250.0.0/40" } else { "10.250.0.0/16" };
        all.push_str("---\n");
        all.push_str(&shoot(&format!("s{n}"), workers));
    }
    desk.write("all.yaml", &all);
    let found = desk.run("infra validate -f all.yaml -o json").ends(1).json();
    let found = found.as_array().unwrap();
    assert_eq!(found.len(), 400);
    for (n, report) in found.iter().enumerate() {
        assert_eq!(
            (report["index"].as_u64(), report["name"].clone()),
            (Some(n as u64), json!(format!("garden-dev/s{n}")))
        );
        assert_eq!(report["errors"].as_array().unwrap().len(), usize::from(n == 321));
    }
    // The same file, broken near its end: the line counts from the file's beginning, and nothing else is told.
    let lines = all.lines().count();
    desk.write("all.yaml", &format!("{all}---\nkind: \"\n"));
    let found = desk.run("infra validate -f all.yaml -o json").ends(1).json();
    assert_eq!(found.as_array().unwrap().len(), 1);
    assert!(found[0]["syntax"]["line"].as_u64().unwrap() as usize > lines, "{found}");
}

#[test]
fn a_change_is_compared_with_the_object_before_it() {
    let desk = Desk::new();
    desk.write("old.yaml", &shoot("web", "10.250.0.0/16"));
    desk.write("new.yaml", &shoot("web", "10.250.128.0/17"));
    desk.write("other.yaml", &shoot("other", "10.250.0.0/16"));
    let ended = desk.run("infra validate -f new.yaml --old old.yaml").ends(1);
    assert!(
        ended.out.contains("networks.workers: Invalid value: \"10.250.128.0/17\": field is immutable"),
        "{}",
        ended.out
    );
    desk.run("infra validate -f old.yaml --old old.yaml --rules update").ends(0);
    desk.run("infra validate -f new.yaml --old old.yaml --rules create").ends(0);
    let ended = desk.run("infra validate -f other.yaml --old old.yaml").ends(0);
    assert!(ended.out.contains("judged as a new one"), "{}", ended.out);
    let ended = desk.run("infra validate -f other.yaml --old old.yaml --rules update").ends(1);
    assert!(ended.out.contains("--old holds no object"), "{}", ended.out);
    let ended = desk.run("infra validate -f new.yaml --rules update").ends(64);
    assert!(ended.err.contains("--old FILE"), "{}", ended.err);
}

#[test]
fn the_floating_pool_is_looked_up_in_the_profile() {
    let profile = |pool: &str| {
        format!(
            "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nmetadata: {{name: cloud}}\nspec:\n  type: openstack\n  \
             providerConfig:\n    constraints: {{floatingPools: [{pool}]}}\n"
        )
    };
    let desk = Desk::new();
    desk.write("shoot.yaml", &shoot("web", "10.250.0.0/16"));
    desk.write("profile.yaml", &profile("{name: other}"));
    desk.write("here/shoot.yaml", &shoot("web", "10.250.0.0/16"));
    desk.write("here/profile.yaml", &profile("{name: other}"));
    for line in ["-f shoot.yaml --cloud-profile profile.yaml", "-f here"] {
        let ended = desk.run(&format!("infra validate {line}")).ends(1);
        assert!(
            ended.out.contains(r#"floatingPoolName: Unsupported value: "public": supported values: "other""#),
            "{}",
            ended.out
        );
    }
    desk.write("profile.yaml", &profile("{name: public, domain: d}"));
    let ended = desk.run("infra validate -f shoot.yaml --cloud-profile profile.yaml").ends(0);
    assert!(ended.out.contains("give --domain"), "{}", ended.out);
    desk.run("infra validate -f shoot.yaml --cloud-profile profile.yaml --domain d").ends(0);
    desk.run("infra validate -f shoot.yaml --cloud-profile profile.yaml --domain e").ends(1);
    let secret = |domain: &str| {
        format!(
            "apiVersion: v1\nkind: Secret\nstringData: {{domainName: {domain}, tenantName: t, username: u, password: p}}\n"
        )
    };
    desk.write("secret.yaml", &secret("d"));
    let ended = desk.run("infra validate -f shoot.yaml -f secret.yaml --cloud-profile profile.yaml").ends(0);
    assert!(!ended.out.contains("give --domain"), "{}", ended.out);
    desk.write("secret.yaml", &secret("e"));
    desk.run("infra validate -f shoot.yaml --secret secret.yaml --cloud-profile profile.yaml").ends(1);
}

#[test]
fn facts_around_a_config_come_from_flags_or_from_a_cluster() {
    let given = "{id: 11111111-1111-1111-1111-111111111111, router: {id: 22222222-2222-2222-2222-222222222222}, \
         subnetId: 33333333-3333-3333-3333-333333333333, ipv6: {nodeSubnetId: 44444444-4444-4444-4444-444444444444, \
         podCIDR: 'fd00:1::/48', serviceCIDR: 'fd00:2::/112'}}";
    let cluster = |families: &str| {
        format!(
            "apiVersion: extensions.gardener.cloud/v1alpha1\nkind: Cluster\nmetadata: {{name: shoot--dev--web}}\nspec:\n  \
             cloudProfile: {{}}\n  shoot: {{spec: {{networking: {{nodes: 10.0.0.0/16, ipFamilies: [{families}]}}}}}}\n"
        )
    };
    let desk = Desk::new();
    desk.write("infra.yaml", &infrastructure(given));
    desk.write("v4.yaml", &cluster("IPv4"));
    desk.write("both.yaml", &cluster("IPv4, IPv6"));
    let warns = |line: &str| desk.run(&format!("infra validate {line}")).ends(0).out.contains("ipFamilies");
    assert!(warns("-f infra.yaml -f v4.yaml"));
    assert!(!warns("-f infra.yaml -f both.yaml"));
    assert!(warns("-f infra.yaml --ip-families IPv4"));
    assert!(!warns("-f infra.yaml --ip-families IPv4,IPv6"));
}

#[test]
fn what_is_not_ours_is_skipped_and_what_is_misspelt_is_not() {
    let desk = Desk::new();
    desk.write("cm.yaml", "apiVersion: v1\nkind: ConfigMap\n");
    desk.write("typo.yaml", &OWN.replace("kind: InfrastructureConfig", "kind: InfrastructureConfg"));
    desk.write("version.yaml", &shoot("web", "10.250.0.0/16").replace("v1beta1", "v1alpha1"));
    desk.write("gcp.yaml", &shoot("web", "10.250.0.0/16").replace("type: openstack", "type: gcp"));
    desk.write("nothing.yaml", "a: 1\n");
    let ended = desk.run("infra validate -f cm.yaml").ends(1);
    assert!(ended.err.contains("nothing to validate") && ended.err.contains("next:"), "{}", ended.err);
    assert!(desk.run("infra validate -f typo.yaml").ends(1).out.contains("is it InfrastructureConfig?"));
    assert!(desk.run("infra validate -f version.yaml").ends(1).out.contains("core.gardener.cloud/v1beta1"));
    assert!(desk.run("infra validate -f nothing.yaml").ends(1).out.contains("kind: Required value"));
    desk.write("good.yaml", OWN);
    let ended = desk.run("infra validate -f good.yaml -f cm.yaml -f gcp.yaml").ends(0);
    assert!(ended.out.contains("its provider is gcp") && ended.out.contains("1 object: all valid"), "{}", ended.out);
}

#[test]
fn a_wrong_command_line_ends_with_64_and_a_missing_file_with_1() {
    let desk = Desk::new();
    desk.write("own.yaml", OWN);
    for line in [
        "infra validate",
        "infra frobnicate",
        "infra validate -f x --output xml",
        "infra validate -f own.yaml --nodes ten",
        "infra plan -f own.yaml --cloud demo --name shoot--dev--web --pods 10.96.0.0/33",
        "",
        "infra",
    ] {
        desk.run(line).ends(64);
    }
    let ended = desk.run("infra validate -f own.yaml --nodes 10.250.0.1/16").ends(64);
    assert!(ended.err.contains("the range is 10.250.0.0/16"), "{}", ended.err);
    let ended = desk.run("infra validate -f nowhere.yaml").ends(1);
    assert_eq!(ended.err, "error: nowhere.yaml: no such file or directory\n next: check the path given with -f\n");
    std::fs::create_dir(desk.path("empty")).unwrap();
    assert!(desk.run("infra validate -f empty").ends(1).err.contains("holds no .yaml"));
}

#[test]
fn long_lines_and_control_characters_stay_in_the_file() {
    let desk = Desk::new();
    desk.write("deep.json", &format!("{{\"a\": {}", "[".repeat(100_000)));
    let ended = desk.run("infra validate -f deep.json").ends(1);
    assert!(ended.out.starts_with("deep.json:1:") && ended.out.len() < 300, "{}", ended.out);
    desk.write("red.yaml", "a: \u{1b}[31m\nb: [\n");
    assert!(!desk.run("infra validate -f red.yaml").ends(1).out.contains('\u{1b}'));
}

#[test]
fn names_that_are_no_utf8_are_told_apart() {
    use std::os::unix::ffi::OsStringExt;
    let desk = Desk::new();
    for byte in [0xe8, 0xe9] {
        let name = std::ffi::OsString::from_vec([b"caf", &[byte][..], b".yaml"].concat());
        std::fs::write(desk.path("").join(name), OWN).unwrap();
    }
    let ended = desk.run("infra validate -f .").ends(0);
    assert!(ended.out.contains("2 objects: all valid"), "{}", ended.out);
}

#[test]
fn a_reader_that_goes_away_stops_nothing() {
    let desk = Desk::new();
    desk.write("own.yaml", OWN);
    let apply = "-vv infra apply -f own.yaml --cloud demo --name shoot--dev--web";
    for (line, code) in [("infra validate -f nowhere.yaml", 1), (apply, 0), ("infra frobnicate", 64), ("demo", 0)] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = desk.command(line);
        command.stdin(Stdio::null()).stdout(writer.try_clone().unwrap()).stderr(writer);
        assert_eq!(command.status().unwrap().code(), Some(code), "{line}");
    }
    desk.run("infra drift -f own.yaml --cloud demo --name shoot--dev--web").ends(0);
}

#[test]
fn colours_are_used_only_when_wanted() {
    let desk = Desk::new();
    desk.write("good.yaml", OWN);
    let coloured = |line: &str| desk.run(line).ends(0).out.contains('\u{1b}');
    assert!(!coloured("infra validate -f good.yaml"));
    assert!(coloured("infra validate -f good.yaml --color always"));
    assert!(!coloured("infra validate -f good.yaml --color never"));
}

#[test]
fn profiles_and_bindings_are_judged_beside_what_they_refer_to() {
    let desk = Desk::new();
    let config = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1, kind: CloudProfileConfig";
    let images = "machineImages: [{name: linux, versions: [{version: '1'}]}]";
    desk.write(
        "cloud.yaml",
        &format!(
            "apiVersion: core.gardener.cloud/v1beta1\nkind: CloudProfile\nmetadata: {{name: cloud}}\nspec:\n  type: openstack\n  {images}\n  \
             providerConfig: {{{config}, keystoneURL: 'https://keystone.example', {images}, \
             constraints: {{floatingPools: [{{name: public}}], loadBalancerProviders: [{{name: amphora}}]}}}}\n"
        ),
    );
    desk.run("infra validate -f cloud.yaml").ends(0);
    desk.write(
        "own.yaml",
        &format!(
            "apiVersion: core.gardener.cloud/v1beta1\nkind: NamespacedCloudProfile\nmetadata: {{name: own, namespace: garden-dev}}\nspec:\n  \
             parent: {{kind: CloudProfile, name: cloud}}\n  {images}\n  providerConfig: {{{config}, {images}}}\n"
        ),
    );
    desk.run("infra validate -f own.yaml").ends(0);
    let ended = desk.run("infra validate -f own.yaml -f cloud.yaml").ends(1);
    assert!(
        ended
            .out
            .contains("spec.providerConfig.machineImages[0].versions[0]: Forbidden: machine image version linux@1"),
        "{}",
        ended.out
    );
    desk.write(
        "binding.yaml",
        "apiVersion: core.gardener.cloud/v1beta1\nkind: SecretBinding\nmetadata: {name: creds, namespace: garden-dev}\n\
         provider: {type: openstack}\nsecretRef: {name: login, namespace: garden-ops}\n",
    );
    desk.run("infra validate -f binding.yaml").ends(0);
    desk.write(
        "login.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: garden-ops}\nstringData: {domainName: hush, password: hush}\n",
    );
    let ended = desk.run("infra validate -f binding.yaml -f login.yaml").ends(1);
    assert!(ended.out.contains("SecretBinding garden-dev/creds: invalid"), "{}", ended.out);
    assert!(
        ended.out.contains("secret.data[tenantName]: Required value") && !ended.out.contains("hush"),
        "{}",
        ended.out
    );
}

#[test]
fn a_shoot_that_no_rule_is_for_passes_as_in_the_garden() {
    let desk = Desk::new();
    let wrong = shoot("web", "10.250.0.0/40");
    desk.write("shoot.yaml", &wrong);
    desk.run("infra validate -f shoot.yaml").ends(1);
    // A label changes nothing that rules are about.
    desk.write("labelled.yaml", &wrong.replace("  namespace: garden-dev", "  namespace: garden-dev\n  labels: {a: b}"));
    desk.run("infra validate -f labelled.yaml --old shoot.yaml").ends(0);
    let leaving = "  namespace: garden-dev\n  deletionTimestamp: 2026-01-01T00:00:00Z";
    desk.write("leaving.yaml", &wrong.replace("  namespace: garden-dev", leaving));
    desk.run("infra validate -f leaving.yaml").ends(0);
}
