//! From the generators to cases that any program can be asked about.

use fabric_apis::field::ErrorType;
use fabric_validation::openstack::admission::{Lookup, Reference, ReferenceKind, Resolved, Reviewed, entry};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::secret::document;
use crate::table::{Told, Where};
use crate::values::{get, text};
use crate::{infrastructure, profile, secret, shoot, table};

/// An object about to be stored.
#[derive(Clone, Debug)]
pub struct Case {
    /// As it would be stored.
    pub new: Value,
    /// What it replaces.
    pub old: Option<Value>,
    /// The objects that its rules ask for, and what became of looking.
    pub around: Vec<(Reference, Lookup)>,
    /// Where the tables say that it is wrong, and how. Sorted.
    pub told: Vec<(String, ErrorType)>,
    /// What of it a controller that knows only the infrastructure's config finds. Sorted. `None`: it would not get it.
    pub config: Option<Vec<(String, ErrorType)>>,
    /// It leads to a Keystone domain, by which floating pools are offered.
    pub has_domain: bool,
}

/// Names and kinds of objects are theirs in no two cases: they can stand in one file.
struct Apart(u32);

impl Apart {
    fn name(&self, name: &str) -> String {
        format!("{name}-{}", self.0)
    }

    /// Renames what the generators name the same each time: namespaces, and what stands in none.
    fn object(&self, value: &mut Value) {
        for pointer in [
            "/metadata/namespace",
            "/secretRef/namespace",
            "/credentialsRef/namespace",
            "/spec/cloudProfile/name",
            "/spec/cloudProfileName",
            "/spec/parent/name",
        ] {
            if let Some(Value::String(name)) = value.pointer_mut(pointer) {
                *name = self.name(name);
            }
        }
    }

    fn reference(&self, reference: &Reference) -> Reference {
        let Reference { kind, namespace, name } = reference;
        // The ones that objects name by a field which may name an object without namespace as well.
        let renamed = !kind.is_namespaced() || *kind == ReferenceKind::NamespacedCloudProfile;
        let name = if renamed { self.name(name) } else { name.clone() };
        Reference::new(*kind, self.name(namespace), name)
    }

    fn lookup(&self, reference: &Reference, lookup: Lookup) -> (Reference, Lookup) {
        let reference = self.reference(reference);
        let Lookup::Found(mut object) = lookup else { return (reference, lookup) };
        self.object(&mut object);
        // As an API server hands it out.
        object["apiVersion"] = json!(reference.kind.api_version());
        object["kind"] = json!(reference.kind.kind());
        object["metadata"] = json!({"name": reference.name});
        if reference.kind.is_namespaced() {
            object["metadata"]["namespace"] = json!(reference.namespace);
        }
        (reference, Lookup::Found(object))
    }
}

impl Case {
    fn new(
        number: u32,
        new: &Value,
        old: Option<&Value>,
        fetch: &dyn Fn(&Reference) -> Lookup,
        told: Vec<Told>,
    ) -> Self {
        let apart = Apart(number);
        let around = around(new, old, fetch).into_iter().map(|(reference, lookup)| apart.lookup(&reference, lookup));
        let (around, mut new, mut old) = (around.collect(), new.clone(), old.cloned());
        for object in std::iter::once(&mut new).chain(&mut old) {
            apart.object(object);
            if text(object, "kind") == "CloudProfile" || object.pointer("/metadata/namespace").is_none() {
                object["metadata"]["name"] = json!(apart.name("it"));
            }
        }
        let told = sorted(told.into_iter().map(|(_, place)| place).collect());
        Self { new, old, around, told, config: None, has_domain: false }
    }
}

/// Sorts places as [`Case::told`] has them.
pub(crate) fn sorted(mut places: Vec<Where>) -> Vec<Where> {
    places.sort_by(|a, b| (&a.0, a.1.as_cause()).cmp(&(&b.0, b.1.as_cause())));
    places
}

/// What the rules of an object ask for.
fn around(new: &Value, old: Option<&Value>, fetch: &dyn Fn(&Reference) -> Lookup) -> Vec<(Reference, Lookup)> {
    let (new, old) = (document(new), old.map(document));
    let reviewed = Reviewed::of(&new, old.as_ref());
    let case = entry(new.api_version(), new.kind()).unwrap().open(reviewed);
    let (mut resolved, mut around) = (Resolved::new(), Vec::new());
    loop {
        let wanted = case.references(&resolved);
        if wanted.is_empty() {
            return around;
        }
        for reference in wanted {
            let lookup = fetch(&reference);
            resolved.insert(reference.clone(), lookup.clone());
            around.push((reference, lookup));
        }
    }
}

/// An Infrastructure in a seed, with its Cluster.
fn infrastructures() -> BoxedStrategy<(Value, Option<Value>, &'static str)> {
    let config = prop_oneof![3 => infrastructure::config(), 1 => infrastructure::pattern()];
    let configs = prop_oneof![
        2 => config.prop_map(|new| (None, new)),
        1 => infrastructure::change().prop_map(|(old, new)| (Some(old), new)),
    ];
    let object = |config: &Value| {
        json!({"apiVersion": "extensions.gardener.cloud/v1alpha1", "kind": "Infrastructure",
            "metadata": {"name": "i", "namespace": "shoot--a--b"},
            "spec": {"type": "openstack", "region": "r", "providerConfig": config}})
    };
    (configs, select(vec!["10.250.0.0/16", "10.0.0.0/8", "fd00::/16"]))
        .prop_map(move |((old, new), nodes)| (object(&new), old.as_ref().map(object), nodes))
        .boxed()
}

fn under(path: &str, told: Vec<Told>) -> Vec<Where> {
    sorted(told.into_iter().map(|(_, (field, kind))| (format!("{path}.{field}"), kind)).collect())
}

fn infrastructure_case(number: u32, (new, old, nodes): &(Value, Option<Value>, &str)) -> Case {
    const CONFIG: &str = "spec.providerConfig";
    let config = |object: &Value| object["spec"]["providerConfig"].clone();
    let mut told = infrastructure::create(&config(new), Some(nodes));
    let created = under(CONFIG, told.clone());
    if let Some(old) = old {
        told.extend(infrastructure::update(&config(new), &config(old)));
    }
    if old.as_ref() == Some(new) {
        told.clear(); // what is as it was is no news
    }
    let cluster = json!({"spec": {"cloudProfile": {"spec": {"type": "openstack"}}, "shoot": {"spec": {"region": "r", "networking": {"nodes": nodes},
        "provider": {"type": "openstack", "workers": [{"name": "w"}]}}}}});
    let fetch = |reference: &Reference| {
        assert_eq!(reference.kind, ReferenceKind::Cluster);
        Lookup::Found(cluster.clone())
    };
    let mut case = Case::new(number, new, old.as_ref(), &fetch, Vec::new());
    case.told = under(CONFIG, told);
    case.config = Some(created);
    // The Cluster is named like the namespace, which is the shoot's.
    for (reference, lookup) in &mut case.around {
        reference.name = case.new["metadata"]["namespace"].as_str().unwrap().to_owned();
        if let Lookup::Found(cluster) = lookup {
            cluster["metadata"]["name"] = json!(reference.name);
        }
    }
    case
}

fn shoot_case(number: u32, world: &shoot::World) -> Case {
    let old = world.old.as_ref();
    let mut case = Case::new(number, &world.shoot, old, &|reference| world.fetch(reference), shoot::told(world));
    case.has_domain = world.domain().is_some();
    let nodes = get(&world.shoot, "spec.networking.nodes").map(|nodes| nodes.as_str().unwrap());
    case.config = world
        .infrastructure()
        .map(|config| under("spec.provider.infrastructureConfig", infrastructure::create(config, nodes)));
    case
}

/// As many cases as the tables are tried with (`FABRIC_RULE_CASES`), the same each time: mostly Shoots, and of every
/// other kind that is judged some.
pub fn cases() -> Vec<Case> {
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let (shoots, profiles, own) = (shoot::worlds(), profile::profiles(), profile::own());
    let (leading, infrastructures) = (secret::leading(), infrastructures());
    let nothing = |_: &Reference| Lookup::NotFound;
    let all = (0..table::cases()).map(|number| match number % 10 {
        0..5 => shoot_case(number, &value(&shoots, &mut runner)),
        5 => {
            let made = value(&profiles, &mut runner);
            Case::new(number, &made, None, &nothing, profile::told(&made))
        }
        6 => {
            let made = value(&own, &mut runner);
            Case::new(number, &made.profile, None, &|reference| made.fetch(reference), made.told())
        }
        7 | 8 => {
            let made = value(&leading, &mut runner);
            let (new, old) = made.stored();
            Case::new(number, &new, old.as_ref(), &|reference| made.fetch(reference), made.told())
        }
        _ => infrastructure_case(number, &value(&infrastructures, &mut runner)),
    });
    all.collect()
}

fn value<T: std::fmt::Debug>(strategy: &BoxedStrategy<T>, runner: &mut TestRunner) -> T {
    strategy.new_tree(runner).unwrap().current()
}
