use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::gardener::{Infrastructure, Shoot};
use crate::openstack::v1alpha1::{CloudProfileConfig, FloatingPool, InfrastructureConfig};

mod hostile;

const HEAD: &str = "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: InfrastructureConfig\n";

fn one(text: &str) -> Document {
    let mut documents = documents("f.yaml", text.as_bytes()).unwrap();
    assert_eq!(documents.len(), 1, "{text}");
    documents.remove(0)
}

fn config(body: &str) -> Result<InfrastructureConfig, String> {
    one(&format!("{HEAD}{body}")).strict().map_err(|error: Error| error.to_string())
}

#[test]
fn all_unknown_and_duplicate_fields_are_told_at_once_with_their_path() {
    let body = "
floatingPoolName: a
floatingPoolName: b
floating: c
networks:
  foo: 1
  id: a
  id: b
  ipv6: {podCIDR: x, podCidr: y, podCIDR: z}
  router: {ID: r}
";
    let expected = "strict decoding error: unknown field \"floating\", unknown field \"networks.foo\", \
        unknown field \"networks.ipv6.podCidr\", unknown field \"networks.router.ID\", \
        duplicate field \"floatingPoolName\", duplicate field \"networks.id\", \
        duplicate field \"networks.ipv6.podCIDR\"";
    assert_eq!(config(body).unwrap_err(), expected);
}

#[test]
fn json_input_is_judged_like_yaml() {
    let text = r#"{"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "InfrastructureConfig",
        "networks": {"id": "a", "foo": 1, "id": "b"}}"#;
    assert_eq!(
        one(text).strict::<InfrastructureConfig>().unwrap_err().to_string(),
        "strict decoding error: unknown field \"networks.foo\", duplicate field \"networks.id\""
    );
}

#[test]
fn duplicates_in_lists_carry_their_index() {
    let document = one("a:\n- b: 1\n- c: {d: 1, d: 2}\n  b: 1\n  b: 2\n");
    assert_eq!(document.duplicates, ["a[1].c.d", "a[1].b"]);
    assert_eq!(document.value, json!({"a": [{"b": 1}, {"c": {"d": 2}, "b": 2}]}));
}

#[test]
fn all_ill_typed_fields_are_told_with_the_fix() {
    let body = "
floatingPoolName: 1
networks:
  id: 12
  subnetId: 1e10
  securityGroupId: true
  subnetPool: {id: p, prefixLength: wide}
  shareNetwork: {enabled: yes}
  router: r
  unknown: 1
";
    let text = config(body).unwrap_err();
    for part in [
        "unknown field \"networks.unknown\"",
        "field \"floatingPoolName\": invalid type: integer `1`, expected a string; put the value in quotes",
        "field \"networks.subnetId\": invalid type: floating point `10000000000.0`, expected a string; put the value in quotes",
        "field \"networks.securityGroupId\": invalid type: boolean `true`, expected a string; put the value in quotes",
        "field \"networks.subnetPool.prefixLength\": invalid type: string \"wide\", expected an integer",
        "field \"networks.shareNetwork.enabled\": invalid type: string \"yes\", expected a boolean; write true or false, without quotes",
        "field \"networks.router\": invalid type: string \"r\", expected an object",
    ] {
        assert!(text.contains(part), "{part}\nis missing in\n{text}");
    }
}

#[test]
fn yaml_scalars_that_look_like_something_else_stay_text() {
    let body = "
floatingPoolName: on
floatingPoolSubnetName: 007
networks:
  workers: 10.250.0.0/19
  worker: no
  id: 123e4567-e89b-12d3-a456-426614174000
  subnetId: 00000000000000000000000000000001
  securityGroupId: 11112222333344445555666677778888
  shareNetworkId: 1111222233334444555566667777e888
  router: {id: 1_000}
";
    let config = config(body).unwrap();
    assert_eq!(config.floating_pool_name, "on");
    assert_eq!(config.floating_pool_subnet_name.as_deref(), Some("007"));
    assert_eq!(config.networks.worker, "no");
    assert_eq!(config.networks.id.as_deref(), Some("123e4567-e89b-12d3-a456-426614174000"));
    assert_eq!(config.networks.subnet_id.as_deref(), Some("00000000000000000000000000000001"));
    assert_eq!(config.networks.security_group_id.as_deref(), Some("11112222333344445555666677778888"));
    assert_eq!(config.networks.share_network_id.as_deref(), Some("1111222233334444555566667777e888"));
    assert_eq!(config.networks.router_id(), Some("1_000"));
}

#[test]
fn null_is_the_same_as_absent() {
    let config = config(
        "floatingPoolName: null\nnetworks: {workers: ~, id: null, router: null, shareNetwork: {enabled: null}}\n",
    )
    .unwrap();
    assert_eq!(config.floating_pool_name, "");
    assert_eq!(config.networks.workers, "");
    assert_eq!((config.networks.id, config.networks.router), (None, None));
    assert_eq!(config.networks.share_network.map(|share| share.enabled), Some(false));
    assert_eq!(super::tests::config("networks: null\n").unwrap().networks, Default::default());
}

#[test]
fn another_kind_is_named() {
    let cases = [
        (
            "apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: WorkerConfig\n",
            "found WorkerConfig of openstack.provider.extensions.gardener.cloud/v1alpha1",
        ),
        ("kind: InfrastructureConfig\n", "found InfrastructureConfig without apiVersion"),
        ("networks: {}\n", "found an object without kind"),
        ("apiVersion: v1\nkind: InfrastructureConfig\n", "found InfrastructureConfig of v1"),
        (
            "apiVersion: Openstack.provider.extensions.gardener.cloud/v1alpha1\nkind: InfrastructureConfig\n",
            "found InfrastructureConfig of Openstack.provider",
        ),
    ];
    for (text, found) in cases {
        let error = one(text).strict::<InfrastructureConfig>().unwrap_err().to_string();
        let start = "expected InfrastructureConfig of openstack.provider.extensions.gardener.cloud/v1alpha1, ";
        assert!(error.starts_with(start) && error.contains(found), "{error}");
    }
    assert_eq!(
        one("- a\n").strict::<InfrastructureConfig>().unwrap_err().to_string(),
        "strict decoding error: expected an object of kind InfrastructureConfig"
    );
}

#[test]
fn malformed_input_is_told_by_file_line_and_column() {
    // Text, line, column.
    let cases = [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, 0),
        ("a: 1\n\tb: 2\n", 1, 4),
        ("{\n  \"a\": 1,\n  \"b\" 2\n}\n", 3, 7),
        ("{\"a\": 1", 1, 7),
        ("a: 1\n---\nb: \"x\n", 3, 4),
        ("a: *nowhere\n", 1, 4),
    ];
    for (text, line, column) in cases {
        let error = documents("dir/f.yaml", text.as_bytes()).unwrap_err();
        let Error::Syntax { source_name, line: found_line, column: found_column, message } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(source_name, "dir/f.yaml");
        assert_eq!(*found_line, line, "{text:?}: {error}");
        assert!(column == 0 || column == *found_column, "{text:?}: {error}");
        assert!(!message.is_empty() && !message.contains('\n') && !message.contains(" line "), "{message}");
        assert!(error.to_string().starts_with(&format!("dir/f.yaml:{line}:")), "{error}");
    }
    assert!(documents("f", b"\xff\xfe\x00a").is_err());
}

#[test]
fn a_file_may_hold_many_documents_and_empty_ones_do_not_count() {
    let yaml = "---\n# nothing\n---\na: 1\n---\n---\nb: 2\n...\n";
    let found: Vec<_> = documents("f", yaml.as_bytes()).unwrap().into_iter().map(|d| (d.index, d.value)).collect();
    assert_eq!(found, [(0, json!({"a": 1})), (1, json!({"b": 2}))]);
    let found: Vec<_> =
        documents("f", b"{\"a\": 1}\n{\"b\": 2}").unwrap().into_iter().map(|d| (d.index, d.value)).collect();
    assert_eq!(found, [(0, json!({"a": 1})), (1, json!({"b": 2}))]);
    assert_eq!(documents("f", b"").unwrap(), []);
    assert_eq!(one("{a: 1, b: [x]}").value, json!({"a": 1, "b": ["x"]}));
}

#[test]
fn anchors_and_merge_keys_are_followed_and_bounded() {
    let document = one("base: &b {a: 1}\nuse: {<<: *b, c: 2}\n");
    assert_eq!(document.value["use"], json!({"a": 1, "c": 2}));
    assert!(document.duplicates.is_empty());
    let mut bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
    for level in 1..9 {
        let previous = format!("*a{},", level - 1).repeat(10);
        bomb.push_str(&format!("a{level}: &a{level} [{}]\n", previous.trim_end_matches(',')));
    }
    assert!(matches!(documents("f", bomb.as_bytes()), Err(Error::Syntax { .. })));
}

#[test]
fn nesting_is_bounded_in_both_formats() {
    for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
        let deep = format!("{}1{}", open.repeat(100_000), close.repeat(100_000));
        assert!(matches!(documents("f", deep.as_bytes()), Err(Error::Syntax { .. })));
    }
    let mut block = String::new();
    for level in 0..300 {
        block.push_str(&format!("{}a:\n", " ".repeat(level)));
    }
    assert!(matches!(documents("f", block.as_bytes()), Err(Error::Syntax { .. })));
}

#[test]
fn a_part_is_read_strictly_with_paths_of_its_own() {
    let text = format!(
        "kind: Shoot\nspec:\n  region: a\n  region: b\n  provider:\n    infrastructureConfig:\n      networks: {{id: a, id: b, x: 1}}\n      {}",
        HEAD.replace('\n', "\n      ")
    );
    let document = one(&text);
    let error = document.strict_at::<InfrastructureConfig>("spec.provider.infrastructureConfig").unwrap_err();
    assert_eq!(
        error.to_string(),
        "strict decoding error: unknown field \"networks.x\", duplicate field \"networks.id\""
    );
    let outside: Vec<_> = document.duplicates_outside("spec.provider.infrastructureConfig").collect();
    assert_eq!(outside, ["spec.region"]);
    assert_eq!(document.strict_at::<InfrastructureConfig>("spec.provider.controlPlaneConfig"), Ok(None));
    assert_eq!(
        error.to_field_errors(&Path::new("spec.c")).to_string(),
        "[spec.c.networks.x: Forbidden: unknown field, \
         spec.c.networks.id: Duplicate value: \"id\": the field is given more than once]"
    );
}

#[test]
fn objects_of_others_are_read_leniently_and_type_errors_name_the_path() {
    let shoot: Shoot =
        one("kind: Shoot\nmetadata: {name: a}\nspec: {region: r, new: 1, provider: {workers: [{name: w, more: 2}]}}\n")
            .lenient()
            .unwrap();
    assert_eq!(shoot.spec.region, "r");
    let error = one("spec: {provider: {workers: [{name: w}, {name: 1}]}}\n").lenient::<Shoot>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "decoding error: field \"spec.provider.workers[1].name\": invalid type: integer `1`, expected a string; put the value in quotes"
    );
}

#[test]
fn a_complete_cloud_profile_config_decodes_strictly() {
    let yaml = "
apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
kind: CloudProfileConfig
machineImages:
- name: coreos
  versions:
  - version: 2135.6.0
    image: coreos-2135.6.0
    regions:
    - name: europe
      id: 1234-amd64
      architecture: amd64
  - version: 2135.7.0
    capabilityFlavors:
    - capabilities: {architecture: [arm64]}
      image: coreos-2135.7.0-arm64
      regions: [{name: europe, id: 1234-arm64}]
keystoneURL: https://keystone.example.com/v3/
keystoneCACert: |
  -----BEGIN CERTIFICATE-----
  -----END CERTIFICATE-----
keystoneForceInsecure: false
keystoneURLs:
- region: europe
  url: https://europe.example.com/v3/
- region: asia
  url: https://asia.example.com/v3/
  caCert: asian
dnsServers: [10.10.10.11, '2001:db8::53']
dhcpDomain: nova.example
requestTimeout: 180s
useSNAT: false
rescanBlockStorageOnResize: true
ignoreVolumeAZ: true
nodeVolumeAttachLimit: 30
serverGroupPolicies: [soft-anti-affinity, anti-affinity]
resolvConfOptions: [rotate, 'timeout:1']
constraints:
  floatingPools:
  - name: fp-pool-1
    region: europe
    domain: d1
    defaultFloatingSubnet: fp-*
    loadBalancerClasses:
    - {name: lb-class-1, purpose: default, floatingSubnetID: a, floatingNetworkID: b, subnetID: c}
    - {name: lb-class-2, floatingSubnetTags: 'x,y', floatingSubnetName: '*'}
  - name: fp-extra-*
    nonConstraining: true
  loadBalancerProviders:
  - name: haproxy
  - {name: ovn, region: asia}
storageClasses:
- name: sc
  default: true
  provisioner: cinder.csi.openstack.org
  volumeBindingMode: WaitForFirstConsumer
  reclaimPolicy: Retain
  parameters: {type: ssd}
  labels: {a: b}
  annotations: {c: d}
";
    let document = one(yaml);
    let profile: CloudProfileConfig = document.strict().unwrap();
    assert_eq!(profile.use_snat, Some(false));
    assert_eq!(profile.keystone("asia"), Some(("https://asia.example.com/v3/", Some("asian"))));
    assert_eq!(profile.keystone("europe"), Some(("https://europe.example.com/v3/", None)));
    assert_eq!(profile.keystone("mars").map(|(url, _)| url), Some("https://keystone.example.com/v3/"));
    assert_eq!(
        profile.constraints.floating_pools.iter().map(FloatingPool::is_constraining).collect::<Vec<_>>(),
        [true, false]
    );
    // Nothing is lost but `false`, which Go leaves out as well.
    let mut expected = document.value;
    expected.as_object_mut().unwrap().remove("keystoneForceInsecure");
    assert_eq!(serde_json::to_value(&profile).unwrap(), expected);
}

#[test]
fn unknown_fields_of_an_object_that_we_write_back_are_kept() {
    let yaml = "
apiVersion: extensions.gardener.cloud/v1alpha1
kind: Infrastructure
metadata: {name: a, namespace: shoot--p--a}
spec: {type: openstack, region: r, secretRef: {name: cloudprovider, namespace: shoot--p--a}, sshPublicKey: c3No, future: {x: 1}}
status: {lastOperation: {description: d, lastUpdateTime: '2026-01-02T03:04:05Z', progress: 100, state: Succeeded, type: Create}, future: 2}
";
    let document = one(yaml);
    let before = document.value.clone();
    let infrastructure: Infrastructure = document.lenient().unwrap();
    assert_eq!(infrastructure.spec.ssh_public_key.as_ref().map(|key| key.0.as_slice()), Some(b"ssh".as_slice()));
    assert_eq!(serde_json::to_value(&infrastructure).unwrap(), before);
}

#[test]
fn no_value_of_a_secret_gets_into_an_error_or_a_debug_form() {
    use crate::gardener::{read_secret, secret_data};
    let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: cloudprovider}\n";
    let cases = [
        (
            "stringData: {password: 7331}",
            "decoding error: field \"stringData.password\": invalid type: integer, expected a string; put the value in quotes",
        ),
        ("stringData: {password: true7331: x}", ""),
        (
            "stringData: {password: [x7331]}",
            "decoding error: field \"stringData.password\": invalid type: sequence, expected a string",
        ),
        ("stringData: x7331", "decoding error: field \"stringData\": invalid type: string, expected a map"),
        ("data: {password: '!7331'}", ""),
    ];
    for (body, expected) in cases {
        let text = match documents("f", format!("{head}{body}\n").as_bytes()) {
            Ok(mut documents) => {
                let document = documents.remove(0);
                let debug = format!("{document:?}");
                assert!(debug.contains("cloudprovider") && !debug.contains("7331"), "{debug}");
                read_secret(document).unwrap_err().to_string()
            }
            Err(error) => error.to_string(),
        };
        assert!(!text.is_empty() && !text.contains("7331"), "{body}: {text}");
        assert!(expected.is_empty() || text == expected, "{body}: {text}");
    }
    let secret = read_secret(one(&format!("{head}data: {{a: eA==, b: eA==}}\nstringData: {{b: y}}\n"))).unwrap();
    let data: Vec<_> = secret_data(&secret).into_iter().collect();
    assert_eq!(data, [("a".to_owned(), b"x".to_vec()), ("b".to_owned(), b"y".to_vec())]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_without_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let _ = documents("f", &bytes);
    }

    #[test]
    fn any_text_of_yaml_signs_is_read_without_panic_and_decoded_alike(text in "[a-c0-9:{}\\[\\]&*<!|>#\"',\n -]{0,80}") {
        let first = documents("f", text.as_bytes());
        prop_assert_eq!(&first, &documents("f", text.as_bytes()));
        for document in first.into_iter().flatten() {
            let _ = document.strict::<InfrastructureConfig>();
            let _ = document.lenient::<Shoot>();
        }
    }

    #[test]
    fn yaml_and_json_agree(id in "[a-z]{0,8}", worker in "[a-z./0-9]{1,8}x") {
        let value = json!({"networks": {"id": id, "worker": worker}});
        let json = one(&value.to_string());
        let yaml = one(&format!("networks:\n  id: \"{id}\"\n  worker: \"{worker}\"\n"));
        prop_assert_eq!(json, yaml);
    }
}
