//! One good object of each kind, and what makes it bad.

use serde_json::{Value, json};

/// A row of the table.
pub(crate) struct Row {
    pub(crate) group: &'static str,
    pub(crate) plural: &'static str,
    /// Everything but the metadata. Fields that nobody models stand at every depth.
    pub(crate) good: Value,
    /// A field (as a JSON pointer), a value that does not fit or null for "absent", and what the refusal says.
    pub(crate) bad: &'static [(&'static str, &'static str, &'static str)],
}

const CORE: &str = "core.gardener.cloud";
const EXTENSIONS: &str = "extensions.gardener.cloud";

/// A row for every kind.
pub(crate) fn rows() -> Vec<Row> {
    let config = json!({"apiVersion": "of.somebody/v1", "kind": "Config", "list": [1, "two", {"three": null}], "deep": {"er": {}}});
    vec![
        Row {
            group: CORE,
            plural: "shoots",
            good: json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "spec": {
                "region": "r", "purpose": "testing", "kubernetes": {"version": "1.34"},
                "provider": {"type": "openstack", "infrastructureConfig": config, "controlPlaneConfig": config, "other": 1,
                    "workers": [{"name": "w", "zones": ["a"], "machine": {"type": "t"}, "maxSurge": "50%", "maxUnavailable": 1,
                        "dataVolumes": [{"name": "d", "size": "1Gi"}], "providerConfig": config}]},
                "networking": {"nodes": "10.0.0.0/8", "ipFamilies": ["IPv4", "IPv6"], "providerConfig": config, "other": {}},
            }}),
            bad: &[
                ("/spec", "null", "spec"),
                ("/spec/region", "null", "spec.region: Required"),
                ("/spec/region", "7", "spec.region: Invalid"),
                ("/spec/provider/type", "null", "spec.provider.type: Required"),
                ("/spec/provider/infrastructureConfig", "\"text\"", "spec.provider.infrastructureConfig: Invalid"),
                ("/spec/provider/workers/0/zones", "\"a\"", "spec.provider.workers[0].zones: Invalid"),
                ("/spec/networking/ipFamilies/0", "\"IPv5\"", "spec.networking.ipFamilies[0]: Unsupported value"),
                ("/spec/networking/nodes", "[]", "spec.networking.nodes: Invalid"),
            ],
        },
        Row {
            group: CORE,
            plural: "cloudprofiles",
            good: json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "CloudProfile", "spec": {
                "type": "openstack", "providerConfig": config, "regions": [{"name": "r"}], "kubernetes": {"versions": []}}}),
            bad: &[
                ("/spec/type", "null", "spec.type: Required"),
                ("/spec/providerConfig", "[]", "spec.providerConfig: Invalid"),
            ],
        },
        Row {
            group: CORE,
            plural: "namespacedcloudprofiles",
            good: json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "NamespacedCloudProfile", "spec": {
                "parent": {"kind": "CloudProfile", "name": "openstack"}, "providerConfig": config, "machineTypes": [{"name": "t"}]}}),
            bad: &[
                ("/spec/parent", "null", "spec.parent: Required"),
                ("/spec/parent/name", "true", "spec.parent.name: Invalid"),
            ],
        },
        Row {
            group: CORE,
            plural: "secretbindings",
            good: json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "SecretBinding",
                "provider": {"type": "openstack"}, "secretRef": {"name": "s", "namespace": "n"}, "quotas": [{"name": "q"}]}),
            bad: &[
                ("/secretRef", "null", "secretRef: Required"),
                ("/secretRef/name", "1", "secretRef.name: Invalid"),
                ("/provider/type", "{}", "provider.type: Invalid"),
            ],
        },
        Row {
            group: CORE,
            plural: "internalsecrets",
            good: json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "InternalSecret",
                "type": "Opaque", "data": {"password": "c2VjcmV0"}, "immutable": true}),
            bad: &[("/data/password", "1", "data.password: Invalid"), ("/immutable", "\"yes\"", "immutable: Invalid")],
        },
        Row {
            group: CORE,
            plural: "controllerregistrations",
            good: json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "ControllerRegistration", "spec": {
                "resources": [{"kind": "Infrastructure", "type": "openstack", "primary": true, "lifecycle": {"migrate": "AfterKubeAPIServer"}}],
                "deployment": {"policy": "OnDemand", "deploymentRefs": [{"name": "d"}], "seedSelector": {"matchLabels": {"a": "b"}}}}}),
            bad: &[
                ("/spec/resources/0/type", "null", "spec.resources[0].type: Required"),
                ("/spec/resources/0/primary", "\"no\"", "spec.resources[0].primary: Invalid"),
            ],
        },
        Row {
            group: CORE,
            plural: "controllerdeployments",
            good: json!({"apiVersion": "core.gardener.cloud/v1", "kind": "ControllerDeployment",
                "helm": {"rawChart": "H4sI", "values": {"image": {"tag": "t"}}, "ociRepository": {"ref": "r", "pullSecretRef": {"name": "p"}}},
                "injectGardenKubeconfig": true}),
            bad: &[
                ("/helm/rawChart", "{}", "helm.rawChart: Invalid"),
                ("/helm/values", "\"a: b\"", "helm.values: Invalid"),
            ],
        },
        Row {
            group: "security.gardener.cloud",
            plural: "credentialsbindings",
            good: json!({"apiVersion": "security.gardener.cloud/v1alpha1", "kind": "CredentialsBinding",
                "provider": {"type": "openstack"}, "quotas": [],
                "credentialsRef": {"apiVersion": "v1", "kind": "Secret", "name": "s", "namespace": "n", "resourceVersion": "7"}}),
            bad: &[
                ("/provider", "null", "provider: Required"),
                ("/credentialsRef/kind", "null", "credentialsRef.kind: Required"),
                ("/credentialsRef/namespace", "[]", "credentialsRef.namespace: Invalid"),
            ],
        },
        Row {
            group: "operator.gardener.cloud",
            plural: "extensions",
            good: json!({"apiVersion": "operator.gardener.cloud/v1alpha1", "kind": "Extension", "spec": {
                "resources": [{"kind": "Infrastructure", "type": "openstack"}],
                "deployment": {
                    "extension": {"helm": {"ociRepository": {"ref": "r"}}, "values": config, "injectGardenKubeconfig": true},
                    "admission": {"runtimeCluster": {"helm": {"ociRepository": {"ref": "r"}}}, "values": config},
                    "resources": [{"name": "x", "resourceRef": {"kind": "ConfigMap"}}]}}}),
            bad: &[
                ("/spec/resources/0/kind", "null", "spec.resources[0].kind: Required"),
                ("/spec/deployment/admission", "[]", "spec.deployment.admission: Invalid"),
            ],
        },
        Row {
            group: EXTENSIONS,
            plural: "infrastructures",
            good: json!({"apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Infrastructure", "spec": {
                "type": "openstack", "region": "r", "secretRef": {"name": "cloudprovider", "namespace": "n"},
                "sshPublicKey": "c3No", "providerConfig": config, "other": {"a": [1]}}}),
            bad: &[
                ("/spec/region", "null", "spec.region: Required"),
                ("/spec/secretRef", "null", "spec.secretRef: Required"),
                ("/spec/type", "7", "spec.type: Invalid"),
                ("/spec/providerConfig", "7", "spec.providerConfig: Invalid"),
            ],
        },
        Row {
            group: EXTENSIONS,
            plural: "clusters",
            good: json!({"apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Cluster", "spec": {
                "cloudProfile": config, "seed": config, "shoot": config}}),
            bad: &[
                ("/spec/shoot", "null", "spec.shoot: Required"),
                ("/spec/cloudProfile", "\"openstack\"", "spec.cloudProfile: Invalid"),
            ],
        },
        Row {
            group: "resources.gardener.cloud",
            plural: "managedresources",
            good: json!({"apiVersion": "resources.gardener.cloud/v1alpha1", "kind": "ManagedResource", "spec": {
                "class": "seed", "secretRefs": [{"name": "s"}], "injectLabels": {"a": "b"}, "keepObjects": false,
                "equivalences": [[{"kind": "Deployment"}]], "forceOverwriteLabels": true}}),
            bad: &[
                ("/spec/secretRefs", "null", "spec.secretRefs: Required"),
                ("/spec/secretRefs/0/name", "null", "spec.secretRefs[0].name: Required"),
                ("/spec/injectLabels/a", "1", "spec.injectLabels.a: Invalid"),
            ],
        },
    ]
}
