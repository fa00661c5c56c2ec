//! CustomResourceDefinitions of the kinds we know, made from their types.
//!
//! ```text
//!   ShootSpec, InfrastructureSpec, … ──schemars──► schema ──► structural ──► opened ──► CustomResourceDefinition
//! ```
//! They are Gardener's kinds. Gardener brings its own definitions in `extensions.gardener.cloud` and
//! `resources.gardener.cloud`, and serves the rest itself, so ours are for clusters without Gardener: a lab, a test.
//!
//! Invariants, so that a definition never knows better than Gardener:
//! - A field that we do not model is kept as it came, in every object.
//! - Nothing is defaulted.
//! - Required is only what Gardener requires too.

use kube::core::schema::{OptionalEnum, StructuralSchemaRewriter};
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use schemars::transform::AddNullable;
use serde_json::{Map, Value, json};

use crate::decode::Kinded;
use crate::gardener::{
    CloudProfile, CloudProfileSpec, Cluster, ClusterSpec, ControllerDeployment, ControllerRegistration,
    ControllerRegistrationSpec, CredentialsBinding, Infrastructure, InfrastructureObjectStatus, InfrastructureSpec,
    InternalSecret, ManagedResource, ManagedResourceSpec, ManagedResourceStatus, NamespacedCloudProfile,
    NamespacedCloudProfileSpec, NamespacedCloudProfileStatus, OperatorExtension, OperatorExtensionSpec,
    OperatorExtensionStatus, SecretBinding, Shoot, ShootSpec, ShootStatus,
};

/// A CustomResourceDefinition.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// Group of the kind: `extensions.gardener.cloud`.
    pub group: &'static str,
    /// The kind in a URL: `infrastructures`.
    pub plural: &'static str,
    /// The object, as an API server takes it.
    pub object: Value,
}

/// All of them.
pub fn definitions() -> Vec<Definition> {
    [
        namespaced::<Shoot>("shoots")
            .spec::<ShootSpec>()
            .status::<ShootStatus>()
            .required(&["spec.region", "spec.provider.type"]),
        cluster::<CloudProfile>("cloudprofiles").spec::<CloudProfileSpec>().required(&["spec.type"]),
        namespaced::<NamespacedCloudProfile>("namespacedcloudprofiles")
            .spec::<NamespacedCloudProfileSpec>()
            .status::<NamespacedCloudProfileStatus>()
            .required(&["spec.parent.kind", "spec.parent.name"]),
        namespaced::<SecretBinding>("secretbindings").whole::<SecretBinding>().required(&["secretRef.name"]),
        namespaced::<InternalSecret>("internalsecrets").whole::<InternalSecret>(),
        cluster::<ControllerRegistration>("controllerregistrations").spec::<ControllerRegistrationSpec>().required(&[
            "spec.resources[].kind",
            "spec.resources[].type",
            "spec.deployment.deploymentRefs[].name",
        ]),
        cluster::<ControllerDeployment>("controllerdeployments").whole::<ControllerDeployment>(),
        namespaced::<CredentialsBinding>("credentialsbindings").whole::<CredentialsBinding>().required(&[
            "provider.type",
            "credentialsRef.apiVersion",
            "credentialsRef.kind",
            "credentialsRef.name",
        ]),
        cluster::<OperatorExtension>("extensions")
            .spec::<OperatorExtensionSpec>()
            .status::<OperatorExtensionStatus>()
            .required(&["spec.resources[].kind", "spec.resources[].type"]),
        namespaced::<Infrastructure>("infrastructures")
            .spec::<InfrastructureSpec>()
            .status::<InfrastructureObjectStatus>()
            .short("infra")
            .columns(&[
                ("Type", ".spec.type"),
                ("Region", ".spec.region"),
                ("Status", ".status.lastOperation.state"),
                ("Progress", ".status.lastOperation.progress"),
                ("Step", ".status.lastOperation.description"),
            ])
            .required(&["spec.type", "spec.region", "spec.secretRef"]),
        cluster::<Cluster>("clusters").spec::<ClusterSpec>().required(&["spec.cloudProfile", "spec.shoot"]),
        namespaced::<ManagedResource>("managedresources")
            .spec::<ManagedResourceSpec>()
            .status::<ManagedResourceStatus>()
            .required(&["spec.secretRefs", "spec.secretRefs[].name"]),
    ]
    .map(Draft::definition)
    .into()
}

/// A definition in the making.
struct Draft {
    api_version: &'static str,
    kind: &'static str,
    plural: &'static str,
    scope: &'static str,
    /// The schema of the whole object, without what every object has.
    schema: Value,
    has_status: bool,
    short: Option<&'static str>,
    /// What `kubectl get` shows beside name and age: title and path.
    columns: &'static [(&'static str, &'static str)],
}

fn namespaced<T: Kinded>(plural: &'static str) -> Draft {
    Draft::new::<T>(plural, "Namespaced")
}

fn cluster<T: Kinded>(plural: &'static str) -> Draft {
    Draft::new::<T>(plural, "Cluster")
}

impl Draft {
    fn new<T: Kinded>(plural: &'static str, scope: &'static str) -> Self {
        Self {
            api_version: T::API_VERSION,
            kind: T::KIND,
            plural,
            scope,
            schema: Value::Null,
            has_status: false,
            short: None,
            columns: &[],
        }
    }

    fn spec<T: JsonSchema>(mut self) -> Self {
        self.schema = json!({"type": "object", "properties": {"spec": schema_of::<T>()}});
        self
    }

    /// A status beside the spec, written through a subresource of its own.
    fn status<T: JsonSchema>(mut self) -> Self {
        if let Some(Value::Object(properties)) = self.schema.get_mut("properties") {
            properties.insert("status".to_owned(), schema_of::<T>());
        }
        self.has_status = true;
        self
    }

    /// The name that people type.
    fn short(mut self, name: &'static str) -> Self {
        self.short = Some(name);
        self
    }

    fn columns(mut self, columns: &'static [(&'static str, &'static str)]) -> Self {
        self.columns = columns;
        self
    }

    /// An object that has no spec: `T` without its metadata.
    fn whole<T: JsonSchema>(mut self) -> Self {
        self.schema = schema_of::<T>();
        self
    }

    /// Requires fields, and the objects on the way to them. `a.list[].b` requires `b` of every entry, but no `a` and
    /// no `list`.
    fn required(mut self, paths: &[&str]) -> Self {
        for path in paths {
            let found = require(&mut self.schema, path);
            debug_assert!(found, "{} has no {path}", self.plural);
        }
        self
    }

    fn definition(self) -> Definition {
        let (group, version) = self.api_version.split_once('/').unwrap_or(("", self.api_version));
        let subresources = if self.has_status { json!({"status": {}}) } else { json!({}) };
        let mut names = json!({
            "kind": self.kind,
            "listKind": format!("{}List", self.kind),
            "plural": self.plural,
            "singular": self.kind.to_lowercase(),
        });
        // The API server drops an empty list: what it holds would differ from what was sent.
        if let (Some(short), Some(names)) = (self.short, names.as_object_mut()) {
            names.insert("shortNames".to_owned(), json!([short]));
        }
        let object = json!({
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": format!("{}.{group}", self.plural)},
            "spec": {
                "group": group,
                "names": names,
                "scope": self.scope,
                "versions": [{
                    "name": version,
                    "served": true,
                    "storage": true,
                    "subresources": subresources,
                    "additionalPrinterColumns": columns(self.columns),
                    "schema": {"openAPIV3Schema": opened(self.schema)},
                }],
            },
        });
        Definition { group, plural: self.plural, object }
    }
}

/// What `kubectl get` shows; without any of their own, kinds show their age as they always do.
fn columns(own: &[(&str, &str)]) -> Vec<Value> {
    let column = |name: &str, kind: &str, path: &str| json!({"name": name, "type": kind, "jsonPath": path});
    let kind = |path: &str| if path.ends_with(".progress") { "integer" } else { "string" };
    let mut all: Vec<Value> = own.iter().map(|(name, path)| column(name, kind(path), path)).collect();
    all.push(column("Age", "date", ".metadata.creationTimestamp"));
    all
}

/// Whether the schema has the field at `path`, which it then requires.
fn require(schema: &mut Value, path: &str) -> bool {
    let (name, rest) = path.split_once('.').unwrap_or((path, ""));
    let (name, is_list) = name.strip_suffix("[]").map_or((name, false), |name| (name, true));
    let Some(schema) = schema.as_object_mut() else { return false };
    if !path.contains("[]") {
        let required = schema.entry("required").or_insert_with(|| json!([]));
        if let Some(names) = required.as_array_mut().filter(|names| !names.iter().any(|known| known == name)) {
            names.push(name.into());
        }
    }
    let field = schema.get_mut("properties").and_then(|properties| properties.get_mut(name));
    match field {
        Some(list) if is_list => list.get_mut("items").is_some_and(|entry| require(entry, rest)),
        Some(field) if !rest.is_empty() => require(field, rest),
        field => field.is_some(),
    }
}

fn schema_of<T: JsonSchema>() -> Value {
    SchemaSettings::openapi3()
        .with(|settings| {
            settings.inline_subschemas = true;
            settings.meta_schema = None;
        })
        .with_transform(AddNullable::default())
        .with_transform(StructuralSchemaRewriter)
        .with_transform(OptionalEnum)
        .into_generator()
        .into_root_schema_for::<T>()
        .to_value()
}

/// The schema with every object open for fields that it does not name, and without defaults.
fn opened(schema: Value) -> Value {
    let Value::Object(mut schema) = schema else { return raw(Map::new()) };
    for noise in ["default", "title"] {
        schema.remove(noise);
    }
    if let Some(Value::String(text)) = schema.get_mut("description") {
        // A link of our documentation.
        *text = text.replace("[`", "`").replace("`]", "`");
    }
    if !["type", "enum", "anyOf", "x-kubernetes-int-or-string"].iter().any(|key| schema.contains_key(*key)) {
        return raw(schema);
    }
    for of_all in ["items", "additionalProperties"] {
        if let Some(inner) = schema.remove(of_all) {
            schema.insert(of_all.to_owned(), opened(inner));
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        for property in properties.values_mut() {
            *property = opened(property.take());
        }
        schema.remove("additionalProperties");
        schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
    }
    Value::Object(schema)
}

/// Any object, or null, which stands for "absent" as in Go.
fn raw(mut schema: Map<String, Value>) -> Value {
    schema.insert("type".to_owned(), "object".into());
    schema.insert("nullable".to_owned(), true.into());
    schema.insert("x-kubernetes-preserve-unknown-fields".to_owned(), true.into());
    Value::Object(schema)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `look` with every schema of every definition, and where it is.
    fn each_schema(mut look: impl FnMut(&str, &Map<String, Value>)) {
        fn walk(path: &str, schema: &Value, look: &mut impl FnMut(&str, &Map<String, Value>)) {
            let schema = schema.as_object().unwrap_or_else(|| panic!("{path} is no schema: {schema}"));
            look(path, schema);
            for (name, property) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
                walk(&format!("{path}.{name}"), property, look);
            }
            for of_all in ["items", "additionalProperties"] {
                if let Some(inner) = schema.get(of_all) {
                    walk(&format!("{path}[]"), inner, look);
                }
            }
        }
        for definition in definitions() {
            let schema = &definition.object["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            walk(definition.plural, schema, &mut look);
        }
    }

    #[test]
    fn every_object_is_open_every_part_has_a_type_and_nothing_is_defaulted() {
        let mut seen = 0;
        each_schema(|path, schema| {
            seen += 1;
            assert!(schema.get("type").is_some_and(Value::is_string), "{path}: {schema:?}");
            assert!(!schema.contains_key("default") && !schema.contains_key("$ref"), "{path}: {schema:?}");
            let is_object = schema["type"] == "object" && !schema.contains_key("additionalProperties");
            assert_eq!(is_object, schema.contains_key("x-kubernetes-preserve-unknown-fields"), "{path}: {schema:?}");
        });
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn requiring_a_field_requires_the_way_to_it_but_not_a_list() {
        let leaf = json!({"type": "object", "properties": {"b": {}}});
        let mut schema = json!({"properties": {"a": leaf, "list": {"items": leaf}}});
        assert!(require(&mut schema, "a.b") && require(&mut schema, "a.b") && require(&mut schema, "list[].b"));
        assert_eq!(schema["required"], json!(["a"]));
        assert_eq!(schema["properties"]["a"]["required"], json!(["b"]));
        assert_eq!(schema["properties"]["list"]["items"]["required"], json!(["b"]));
        for unknown in ["b", "a.c", "a[].b", "list[].c", "list.b"] {
            assert!(!require(&mut schema, unknown), "{unknown}");
        }
    }

    #[test]
    fn no_kind_has_the_place_of_another() {
        let mut places: Vec<_> = definitions().into_iter().map(|one| (one.group, one.plural)).collect();
        places.sort_unstable();
        places.dedup();
        assert_eq!(places.len(), definitions().len());
    }
}
