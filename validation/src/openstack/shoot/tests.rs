use fabric_apis::decode::{self, Document};

use super::*;
use crate::openstack::admission::{Resolved, Reviewed};

const SHOOT: &str = r#"
apiVersion: core.gardener.cloud/v1beta1
kind: Shoot
metadata:
  name: a
  namespace: garden-dev
spec:
  region: r
  networking:
    type: calico
    nodes: 10.250.0.0/16
    pods: 100.96.0.0/11
  provider:
    type: openstack
    infrastructureConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: InfrastructureConfig
      floatingPoolName: pool
      networks:
        workers: 10.250.0.0/19
    controlPlaneConfig:
      apiVersion: openstack.provider.extensions.gardener.cloud/v1alpha1
      kind: ControlPlaneConfig
      loadBalancerProvider: amphora
    workers:
      - name: w
        zones: [nova]
"#;

fn document(yaml: &str) -> Document {
    decode::documents("shoot.yaml", yaml.as_bytes()).unwrap().remove(0)
}

fn judge(yaml: &str) -> String {
    let document = document(yaml);
    let Examined { findings, input } = examine(&Reviewed::create(&document), &Resolved::new());
    if is_workerless(&document) {
        assert!(input.is_none() && findings.is_empty());
        return "workerless".to_owned();
    }
    if findings.errors.is_empty() { String::new() } else { findings.errors.to_string() }
}

/// Each case: what is replaced in a good Shoot by what, and the errors.
#[test]
fn a_shoot_is_judged_with_paths_of_its_own() {
    let dual = "nodes: 10.250.0.0/16\n    ipFamilies: [IPv4, IPv6]";
    let cases = [
        ("good", "", "", ""),
        (
            "no nodes",
            "nodes: 10.250.0.0/16",
            "services: 100.64.0.0/13",
            "spec.networking.nodes: Required value: a nodes CIDR must be provided for Openstack shoots",
        ),
        (
            "IPv6 only",
            "nodes: 10.250.0.0/16",
            "nodes: 10.250.0.0/16\n    ipFamilies: [IPv6]",
            r#"spec.networking.ipFamilies: Invalid value: ["IPv6"]: IPv6-only shoots are not supported; use IPv4 or both families"#,
        ),
        (
            "dual-stack without IPv6 config",
            "nodes: 10.250.0.0/16",
            dual,
            "spec.provider.infrastructureConfig: Required value: a dual-stack shoot needs networks.ipv6 with subnetPoolID, nodeCIDR or nodeSubnetId",
        ),
        (
            "workers outside of the nodes",
            "workers: 10.250.0.0/19",
            "workers: 10.0.0.0/19",
            r#"spec.provider.infrastructureConfig.networks.workers: Invalid value: "10.0.0.0/19": must be a subset of "networking.nodes" ("10.250.0.0/16")"#,
        ),
        ("workerless", "workers:\n      - name: w\n        zones: [nova]", "workers: []", "workerless"),
        (
            "an overlay that is no boolean",
            "type: calico",
            "type: calico\n    providerConfig: {overlay: {enabled: \"false\"}}",
            r#"spec.networking.providerConfig.overlay.enabled: Invalid value: "false": must be true or false, without quotes"#,
        ),
        (
            "unknown and ill-typed fields of the config",
            "workers: 10.250.0.0/19",
            "workers: 7\n        subnetID: x",
            r#"[spec.provider.infrastructureConfig.networks.subnetID: Forbidden: unknown field, spec.provider.infrastructureConfig.networks.workers: Invalid value: invalid type: integer `7`, expected a string; put the value in quotes]"#,
        ),
        (
            "duplicates inside and outside of the config",
            "floatingPoolName: pool",
            "floatingPoolName: pool\n      floatingPoolName: pool\n    type: openstack",
            r#"[spec.provider.infrastructureConfig.floatingPoolName: Duplicate value: "floatingPoolName": the field is given more than once, spec.provider.type: Duplicate value: "type": the field is given more than once]"#,
        ),
        (
            "another kind of config",
            "kind: InfrastructureConfig",
            "kind: ControlPlaneConfig",
            r#"spec.provider.infrastructureConfig.kind: Invalid value: "ControlPlaneConfig": expected InfrastructureConfig of openstack.provider.extensions.gardener.cloud/v1alpha1, found ControlPlaneConfig of openstack.provider.extensions.gardener.cloud/v1alpha1"#,
        ),
        (
            "a Shoot field of the wrong type",
            "region: r",
            "region: [r]",
            "spec.region: Invalid value: invalid type: sequence, expected a string",
        ),
    ];
    for (case, old, new, expected) in cases {
        let yaml = if case == "duplicates inside and outside of the config" {
            // The second `type` has to stand in the provider, before `networks` goes on with the config.
            SHOOT
                .replace(
                    "      floatingPoolName: pool\n",
                    "      floatingPoolName: pool\n      floatingPoolName: pool\n",
                )
                .replace("    workers:\n", "    type: openstack\n    workers:\n")
        } else {
            SHOOT.replacen(old, new, 1)
        };
        assert_eq!(judge(&yaml), expected, "{case}");
    }
}

#[test]
fn a_shoot_without_config_is_told_so() {
    let (before, rest) = SHOOT.split_once("    infrastructureConfig:").unwrap();
    let (_, after) = rest.split_once("    workers:\n").unwrap();
    let yaml = format!("{before}    workers:\n{after}");
    assert_eq!(
        judge(&yaml),
        "[spec.provider.infrastructureConfig: Required value: infrastructureConfig must be set for OpenStack shoots, \
         spec.provider.controlPlaneConfig: Required value: controlPlaneConfig must be set for OpenStack shoots]"
    );
}

#[test]
fn an_old_shoot_may_hold_what_is_not_known_any_more() {
    let old = SHOOT.replace("        workers: 10.250.0.0/19", "        workers: 10.250.0.0/20\n        gone: true");
    let (old, new) = (document(&old), document(SHOOT));
    assert_eq!(
        examine(&Reviewed::update(&new, &old), &Resolved::new()).findings.errors.to_string(),
        r#"spec.provider.infrastructureConfig.networks.workers: Invalid value: "10.250.0.0/19": field is immutable"#
    );
}

#[test]
fn what_the_later_stages_need_is_taken_out_of_the_shoot() {
    let yaml = SHOOT.replace(
        "    type: calico",
        "    type: calico\n    ipFamilies: [IPv4]\n    services: 100.64.0.0/13\n    providerConfig: {overlay: {enabled: false}}",
    );
    let input = examine(&Reviewed::create(&document(&yaml)), &Resolved::new()).input.unwrap();
    assert_eq!(input.nodes(), Some("10.250.0.0/16"));
    assert_eq!(input.pods(), Some("100.96.0.0/11"));
    assert_eq!(input.services(), Some("100.64.0.0/13"));
    assert_eq!(input.ip_families(), [IpFamily::Ipv4]);
    assert_eq!(input.overlay(), Ok(Some(false)));
    assert_eq!(input.shoot.technical_id(), "shoot--dev--a");
}
