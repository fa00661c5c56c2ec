//! Rules for a whole Shoot, with what stands around it in the garden.

use fabric_apis::field::ErrorType;
use fabric_validation::openstack::admission::{Lookup, Reference, ReferenceKind};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Value, json};

use ErrorType::{Forbidden, InternalError, Invalid, NotFound, NotSupported, Required, TypeInvalid};

use crate::control_plane::{self, ControlPlane};
use crate::secret::{Found, ROWS as SECRET, found, good, judged, secrets};
use crate::table::{Row, Told, Where, ask, at, hold};
use crate::values::{get, list, object, one_of, some, text};
use crate::{infrastructure, pool};

const INFRASTRUCTURE: &str = "spec.provider.infrastructureConfig";
const CONTROL_PLANE: &str = "spec.provider.controlPlaneConfig";
const WORKERS: &str = "spec.provider.workers";

/// A Shoot about to be stored, and its garden.
#[derive(Clone, Debug)]
pub(crate) struct World {
    pub(crate) shoot: Value,
    pub(crate) old: Option<Value>,
    binding: Around,
    /// Where a CredentialsBinding leads to.
    to: (&'static str, &'static str),
    secret: Found,
    profile: Around,
    offer: Value,
    dns: Found,
}

/// What becomes of looking for an object in the garden.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Around {
    There,
    /// A profile without a config; a binding is there.
    Hollow,
    Nothing,
    Denied,
}

const KINDS: [(&str, &str); 3] = [
    ("v1", "Secret"),
    ("core.gardener.cloud/v1beta1", "InternalSecret"),
    ("security.gardener.cloud/v1alpha1", "WorkloadIdentity"),
];

impl World {
    pub(crate) fn infrastructure(&self) -> Option<&Value> {
        get(&self.shoot, INFRASTRUCTURE)
    }

    fn control_plane(&self) -> Option<&Value> {
        get(&self.shoot, CONTROL_PLANE)
    }

    fn workers(&self) -> &[Value] {
        list(&self.shoot, WORKERS)
    }

    fn before(&self, path: &str) -> Option<&Value> {
        self.old.as_ref().and_then(|old| get(old, path))
    }

    fn worker_before(&self, worker: &Value) -> Option<&Value> {
        let old = self.old.as_ref().map_or(&[][..], |old| list(old, WORKERS));
        old.iter().find(|old| text(old, "name") == text(worker, "name"))
    }

    pub(crate) fn is_exempt(&self) -> bool {
        let unchanged = self.old.as_ref().is_some_and(|old| old["spec"] == self.shoot["spec"]);
        unchanged || self.workers().is_empty() || get(&self.shoot, "metadata.deletionTimestamp").is_some()
    }

    fn has_family(&self, family: &str) -> bool {
        list(&self.shoot, "spec.networking.ipFamilies").contains(&json!(family))
    }

    fn pool_name(&self) -> &str {
        self.infrastructure().map_or("", |config| text(config, "floatingPoolName"))
    }

    fn pool_is_new(&self) -> bool {
        let old = self.before(INFRASTRUCTURE).map(|config| text(config, "floatingPoolName"));
        !self.pool_name().is_empty() && old != Some(self.pool_name())
    }

    /// Whether this part of the control plane's config is new: an offer that ended binds nobody who keeps it.
    fn control_plane_is_new(&self, field: &str, absent: &Value) -> bool {
        let of = |config: &Value| normal(get(config, field).unwrap_or(absent));
        let old = self.before(CONTROL_PLANE).map(of);
        self.control_plane().is_some_and(|config| old != Some(of(config)))
    }

    fn provider_is_new(&self) -> bool {
        self.control_plane_is_new("loadBalancerProvider", &json!(""))
    }

    fn classes_are_new(&self) -> bool {
        self.control_plane_is_new("loadBalancerClasses", &json!([]))
    }

    /// The policy that a pool asks for anew.
    fn new_policy<'a>(&self, worker: &'a Value) -> Option<&'a str> {
        let config = get(worker, "providerConfig")?;
        let old = self.worker_before(worker).and_then(|old| get(old, "providerConfig"));
        let group = get(config, "serverGroup").filter(|_| is_decodable(config))?;
        (old != Some(config)).then(|| text(group, "policy"))
    }

    /// Whether the operator's offer, and the credentials it is made to, have to be looked at.
    fn needs_offer(&self) -> bool {
        self.pool_is_new()
            || self.provider_is_new()
            || self.classes_are_new()
            || self.workers().iter().any(|worker| self.new_policy(worker).is_some())
    }

    fn profile_path(&self) -> Option<&'static str> {
        ["spec.cloudProfile.name", "spec.cloudProfileName"].into_iter().find(|path| get(&self.shoot, path).is_some())
    }

    fn binding_path(&self) -> Option<&'static str> {
        let paths = ["spec.credentialsBindingName", "spec.secretBindingName"];
        paths.into_iter().find(|path| get(&self.shoot, path).is_some())
    }

    fn by_credentials_binding(&self) -> bool {
        self.binding_path() == Some("spec.credentialsBindingName")
    }

    fn leads_to_secret(&self) -> bool {
        self.binding_path().is_some()
            && matches!(self.binding, Around::There | Around::Hollow)
            && !(self.by_credentials_binding() && self.to == KINDS[2])
    }

    /// Where the offer is wrong, if it has to be looked at.
    fn in_profile(&self, kind: ErrorType, wrong: bool) -> Vec<Where> {
        self.profile_path().map_or(Vec::new(), |path| at(path, kind, self.needs_offer() && wrong))
    }

    fn in_binding(&self, kind: ErrorType, wrong: bool) -> Vec<Where> {
        self.binding_path().map_or(Vec::new(), |path| at(path, kind, self.needs_offer() && wrong))
    }

    fn offer(&self) -> Option<&Value> {
        self.profile_path().is_some_and(|_| self.profile == Around::There).then_some(&self.offer)
    }

    pub(crate) fn domain(&self) -> Option<&str> {
        let Found::Secret(secret) = &self.secret else { return None };
        let domain = secret.data.get("domainName").filter(|domain| !domain.is_empty());
        domain.filter(|_| self.leads_to_secret()).map(String::as_str)
    }

    /// The pools on offer to these credentials, when there is all it takes to know.
    fn pools(&self) -> Option<(&[Value], &str)> {
        self.infrastructure()?;
        self.offer().zip(self.domain()).map(|(offer, domain)| (list(offer, "constraints.floatingPools"), domain))
    }

    /// Services of OpenStack's for the cluster's own names that are not as before, with their place.
    fn dns(&self) -> impl Iterator<Item = (&Value, String)> {
        let old = self.old.as_ref().map_or(&[][..], |old| list(old, "spec.dns.providers"));
        let providers = list(&self.shoot, "spec.dns.providers").iter().enumerate();
        let ours = |provider: &Value| {
            text(provider, "type") == "openstack-designate" && get(provider, "primary") == Some(&json!(true))
        };
        providers
            .filter(move |(_, provider)| ours(provider) && !old.iter().any(|old| bare(old) == bare(provider)))
            .map(|(index, provider)| (provider, format!("spec.dns.providers[{index}]")))
    }

    /// The secret that a service names, and the field that names it.
    fn dns_secret<'a>(&self, provider: &'a Value) -> Option<(&'a str, &'static str)> {
        match get(provider, "credentialsRef") {
            Some(_) => {
                let is_secret = text(provider, "credentialsRef.kind") == "Secret";
                is_secret.then(|| (text(provider, "credentialsRef.name"), "credentialsRef"))
            }
            None => get(provider, "secretName").map(|name| (name.as_str().unwrap(), "secretName")),
        }
    }

    fn each_dns(&self, wrong: impl Fn(&Value, &str) -> Vec<Where>) -> Vec<Where> {
        self.dns().flat_map(|(provider, place)| wrong(provider, &place)).collect()
    }

    /// Where services lead to secrets that this happened to.
    fn each_dns_secret(&self, wrong: impl Fn(&Found, &str) -> Vec<Where>) -> Vec<Where> {
        self.each_dns(|provider, place| {
            let Some((name, field)) = self.dns_secret(provider) else { return Vec::new() };
            let found = if name == "dns" { &self.dns } else { &Found::Nothing };
            wrong(found, &format!("{place}.{field}"))
        })
    }

    fn each_worker(&self, suffix: &str, kind: ErrorType, wrong: impl Fn(&Value) -> bool) -> Vec<Where> {
        let workers = self.workers().iter().enumerate().filter(|(_, worker)| wrong(worker));
        workers.map(|(index, _)| (format!("{WORKERS}[{index}].{suffix}"), kind)).collect()
    }

    /// What pools updated in place may not change.
    fn fixed_in_place(&self, field: &str) -> Vec<Where> {
        self.each_worker(field, Invalid, |worker| {
            let in_place = text(worker, "updateStrategy").ends_with("InPlaceUpdate");
            in_place && self.worker_before(worker).is_some_and(|old| get(old, field) != get(worker, field))
        })
    }
}

fn is_decodable(config: &Value) -> bool {
    text(config, "kind") == "WorkerConfig" && config.get("foo").is_none()
}

/// Without what is null.
fn bare(value: &Value) -> Vec<(&String, &Value)> {
    value.as_object().into_iter().flatten().filter(|(_, value)| !value.is_null()).collect()
}

/// As Go would see it: absent names are empty, and what is null is absent.
fn normal(value: &Value) -> Value {
    let mut value = value.clone();
    for class in value.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        class.retain(|_, value| !value.is_null());
        class.entry("name").or_insert(json!(""));
    }
    value
}

fn below(path: &str, told: Vec<Told>) -> Vec<Where> {
    told.into_iter().map(|(_, (field, kind))| (format!("{path}.{field}"), kind)).collect()
}

#[rustfmt::skip]
const ROWS: &[Row<World>] = &[
    ("there is an infrastructureConfig", |world| at(INFRASTRUCTURE, Required, world.infrastructure().is_none())),
    ("there is a controlPlaneConfig", |world| at(CONTROL_PLANE, Required, world.control_plane().is_none())),
    ("nodes have a range", |world| at("spec.networking.nodes", Required, get(&world.shoot, "spec.networking.nodes").is_none())),
    ("IPv6 comes with IPv4", |world| at("spec.networking.ipFamilies", Invalid, world.has_family("IPv6") && !world.has_family("IPv4"))),
    ("dual-stack has an IPv6 range for nodes", |world| {
        let source = |config: &Value| get(config, "networks.ipv6.subnetPoolID").is_some() || get(config, "networks.ipv6.nodeSubnetId").is_some() || !text(config, "networks.ipv6.nodeCIDR").is_empty();
        at(INFRASTRUCTURE, Required, world.has_family("IPv4") && world.has_family("IPv6") && world.infrastructure().is_some_and(|config| !source(config)))
    }),
    ("an overlay is on or off", |world| {
        at("spec.networking.providerConfig.overlay.enabled", TypeInvalid, get(&world.shoot, "spec.networking.providerConfig.overlay.enabled").is_some_and(|enabled| !enabled.is_boolean()))
    }),
    ("the infrastructureConfig's own rules", |world| {
        let nodes = get(&world.shoot, "spec.networking.nodes").map(|nodes| nodes.as_str().unwrap());
        world.infrastructure().map_or(Vec::new(), |config| below(INFRASTRUCTURE, infrastructure::create(config, nodes)))
    }),
    ("what may not change in the infrastructureConfig", |world| match (world.infrastructure(), world.before(INFRASTRUCTURE)) {
        (Some(new), Some(old)) => below(INFRASTRUCTURE, infrastructure::update(new, old)),
        _ => Vec::new(),
    }),
    ("the floating pool is on offer", |world| {
        let missing = |(pools, domain)| pool::verdict(pools, domain, "r", world.pool_name()).1.is_err();
        at(&format!("{INFRASTRUCTURE}.floatingPoolName"), NotSupported, world.pool_is_new() && world.pools().is_some_and(missing))
    }),
    ("the load balancer provider is on offer", |world| {
        let Some((offer, config)) = world.pools().and(world.offer()).zip(world.control_plane()) else { return Vec::new() };
        let name = text(config, "loadBalancerProvider");
        let (all, of_region) = (list(offer, "constraints.loadBalancerProviders"), |it: &&Value| text(it, "region") == "r");
        let regional = all.iter().any(|it| of_region(&it));
        let offered = all.iter().filter(|it| if regional { of_region(it) } else { get(it, "region").is_none() });
        let missing = !offered.map(|it| text(it, "name")).any(|offered| offered == name);
        at(&format!("{CONTROL_PLANE}.loadBalancerProvider"), NotSupported, world.provider_is_new() && !name.is_empty() && missing)
    }),
    ("the load balancer classes are those of the pool", |world| {
        let Some(((pools, domain), config)) = world.pools().zip(world.control_plane()) else { return Vec::new() };
        let path = format!("{CONTROL_PLANE}.loadBalancerClasses");
        let Value::Array(classes) = normal(&json!(list(config, "loadBalancerClasses"))) else { return Vec::new() };
        if classes.is_empty() || !world.classes_are_new() {
            return Vec::new();
        }
        let Ok(pool) = pool::verdict(pools, domain, "r", world.pool_name()).1 else { return at(&path, Invalid, true) };
        let offered = normal(&json!(list(pool, "loadBalancerClasses")));
        let offered = offered.as_array().unwrap();
        let foreign = classes.iter().enumerate().filter(|(_, class)| !offered.is_empty() && !offered.contains(class));
        foreign.map(|(index, _)| (format!("{path}[{index}]"), NotSupported)).collect()
    }),
    ("the profile is there", |world| world.in_profile(NotFound, world.profile == Around::Nothing)),
    ("the profile can be read", |world| world.in_profile(InternalError, world.profile == Around::Denied)),
    ("the profile has a config", |world| world.in_profile(Invalid, world.profile == Around::Hollow)),
    ("the binding is there", |world| world.in_binding(NotFound, world.binding == Around::Nothing)),
    ("the binding can be read", |world| world.in_binding(InternalError, world.binding == Around::Denied)),
    ("the binding leads to a secret", |world| {
        world.in_binding(Invalid, world.by_credentials_binding() && world.to == KINDS[2] && matches!(world.binding, Around::There | Around::Hollow))
    }),
    ("the secret is there", |world| world.in_binding(NotFound, world.leads_to_secret() && matches!(world.secret, Found::Nothing))),
    ("the secret can be read", |world| world.in_binding(InternalError, world.leads_to_secret() && matches!(world.secret, Found::Denied))),
    ("the secret names a domain", |world| {
        world.in_binding(Invalid, world.leads_to_secret() && matches!(world.secret, Found::Secret(_)) && world.domain().is_none())
    }),
    ("workers have a zone", |world| world.each_worker("zones", Required, |worker| list(worker, "zones").is_empty())),
    ("a kind of volume comes with a size", |world| {
        world.each_worker("volume.type", Forbidden, |worker| get(worker, "volume.type").is_some() && text(worker, "volume.size").is_empty())
    }),
    ("a worker's config has no unknown field", |world| {
        world.each_worker("providerConfig.foo", Forbidden, |worker| get(worker, "providerConfig").is_some_and(|config| text(config, "kind") == "WorkerConfig" && config.get("foo").is_some()))
    }),
    ("a worker's config is one", |world| {
        world.each_worker("providerConfig.kind", Invalid, |worker| get(worker, "providerConfig").is_some_and(|config| text(config, "kind") != "WorkerConfig"))
    }),
    ("a server group has a policy", |world| {
        world.each_worker("providerConfig.serverGroup.policy", Invalid, |worker| get(worker, "providerConfig").is_some_and(|config| is_decodable(config) && get(config, "serverGroup").is_some() && text(config, "serverGroup.policy").is_empty()))
    }),
    ("affinity is for one zone", |world| {
        world.each_worker("providerConfig.serverGroup.policy", Forbidden, |worker| get(worker, "providerConfig").is_some_and(|config| is_decodable(config) && text(config, "serverGroup.policy") == "affinity" && list(worker, "zones").len() > 1))
    }),
    ("a server group's policy is on offer", |world| {
        let Some(offer) = world.offer() else { return Vec::new() };
        world.each_worker("providerConfig.serverGroup.policy", Invalid, |worker| world.new_policy(worker).is_some_and(|policy| !policy.is_empty() && !list(offer, "serverGroupPolicies").contains(&json!(policy))))
    }),
    ("zones are only added", |world| {
        world.each_worker("zones", Invalid, |worker| world.worker_before(worker).is_some_and(|old| !list(worker, "zones").starts_with(list(old, "zones"))))
    }),
    ("providerConfig stays with machines updated in place", |world| world.fixed_in_place("providerConfig")),
    ("dataVolumes stay with machines updated in place", |world| world.fixed_in_place("dataVolumes")),
    ("DNS has a login", |world| {
        world.each_dns(|provider, place| at(&format!("{place}.credentialsRef"), Required, get(provider, "credentialsRef").is_none() && get(provider, "secretName").is_none()))
    }),
    ("DNS logs in by a Secret", |world| {
        world.each_dns(|provider, place| at(&format!("{place}.credentialsRef"), Invalid, get(provider, "credentialsRef").is_some() && world.dns_secret(provider).is_none()))
    }),
    ("DNS's secret is there", |world| world.each_dns_secret(|found, field| at(field, NotFound, matches!(found, Found::Nothing)))),
    ("DNS's secret can be read", |world| world.each_dns_secret(|found, field| at(field, InternalError, matches!(found, Found::Denied)))),
    ("DNS's secret is in order", |world| {
        world.each_dns_secret(|found, field| match found {
            // Whatever is wrong stands in the secret; the Shoot's field is the one that leads there.
            Found::Secret(secret) => vec![(field.to_owned(), Invalid); ask(SECRET, secret).len()],
            _ => Vec::new(),
        })
    }),
];

pub(crate) fn told(world: &World) -> Vec<Told> {
    if world.is_exempt() {
        return Vec::new();
    }
    let mut told = ask(ROWS, world);
    if let Some(config) = world.control_plane() {
        told.extend(control_plane::told(&ControlPlane { config, infrastructure: world.infrastructure() }));
    }
    told
}

fn workers() -> BoxedStrategy<Value> {
    let group = object(vec![(
        "policy",
        0.95,
        one_of(&["anti-affinity", "affinity", "affinity", "affinity", "soft-affinity", ""]),
    )]);
    let config = object(vec![("serverGroup", 0.8, group), ("foo", 0.12, Just(json!(1)).boxed())]);
    let kind = prop_oneof![9 => Just("WorkerConfig"), 1 => Just("Other")];
    let config = (config, kind).prop_map(|(mut config, kind)| {
        config["apiVersion"] = json!("openstack.provider.extensions.gardener.cloud/v1alpha1");
        config["kind"] = json!(kind);
        config
    });
    let volume = object(vec![("type", 0.5, one_of(&["ssd"])), ("size", 0.7, one_of(&["50Gi"]))]);
    let zones = select(vec![json!(["a"]), json!(["a"]), json!(["a", "b"]), json!(["a", "b"]), json!(["b"]), json!([])]);
    let worker = object(vec![
        ("zones", 0.98, zones.boxed()),
        ("volume", 0.3, volume),
        ("dataVolumes", 0.5, one_of(&["x", "y"]).prop_map(|name| json!([{"name": name}])).boxed()),
        ("providerConfig", 0.6, config.boxed()),
        ("updateStrategy", 0.7, one_of(&["AutoRollingUpdate", "AutoInPlaceUpdate", "ManualInPlaceUpdate"])),
    ]);
    let named = proptest::collection::vec(worker, 1..3).prop_map(|workers| {
        let named = workers.into_iter().zip(["one", "two"]).map(|(mut worker, name)| {
            worker["name"] = json!(name);
            worker
        });
        Value::from_iter(named)
    });
    prop_oneof![10 => Just(json!([{"name": "one", "zones": ["a"]}])), 19 => named, 1 => Just(json!([]))].boxed()
}

fn networking() -> BoxedStrategy<Value> {
    let families =
        select(vec![json!([]), json!(["IPv4"]), json!(["IPv6"]), json!(["IPv4", "IPv6"]), json!(["IPv6", "IPv4"])]);
    let enabled = select(vec![json!(true), json!(false), json!("true"), json!(1), Value::Null]).boxed();
    let cni = object(vec![("overlay", 0.9, object(vec![("enabled", 0.9, enabled)]))]);
    let odd = object(vec![
        ("nodes", 0.9, one_of(&["10.250.0.0/16", "10.250.0.0/16", "10.0.0.0/8", "fd00::/16"])),
        ("ipFamilies", 0.6, families.boxed()),
        ("providerConfig", 0.5, cni),
    ]);
    prop_oneof![4 => Just(json!({"nodes": "10.250.0.0/16"})), 4 => odd, 1 => Just(json!({"nodes": "10.250.0.0/16", "ipFamilies": ["IPv4", "IPv6"]}))].boxed()
}

fn dns() -> BoxedStrategy<Value> {
    let reference = (
        select(vec!["Secret", "Secret", "Secret", "InternalSecret", "WorkloadIdentity"]),
        select(vec!["dns", "dns", "dns", "other"]),
    )
        .prop_map(|(kind, name)| json!({"apiVersion": "v1", "kind": kind, "name": name}));
    let provider = object(vec![
        ("type", 0.95, one_of(&["openstack-designate", "openstack-designate", "openstack-designate", "aws-route53"])),
        ("primary", 0.9, select(vec![json!(true), json!(true), json!(true), json!(false)]).boxed()),
        ("credentialsRef", 0.5, reference.boxed()),
        ("secretName", 0.4, one_of(&["dns", "dns", "other"])),
    ]);
    let providers = proptest::collection::vec(provider, 1..3);
    prop_oneof![1 => Just(json!({})), 2 => providers.prop_map(|providers| json!({"providers": providers}))].boxed()
}

fn spec() -> BoxedStrategy<Value> {
    let infrastructure = prop_oneof![4 => infrastructure::pattern(), 1 => infrastructure::config()];
    let name = select(vec!["fip", "fip", "fip", "fip-1", "other"]);
    let infrastructure = (infrastructure, name).prop_map(|(mut config, name)| {
        if text(&config, "floatingPoolName") == "fip" {
            config["floatingPoolName"] = json!(name);
        }
        config
    });
    let profile = select(vec![
        json!({"cloudProfile": {"kind": "CloudProfile", "name": "p"}}),
        json!({"cloudProfile": {"kind": "NamespacedCloudProfile", "name": "p"}}),
        json!({"cloudProfileName": "p"}),
    ]);
    let profile = prop_oneof![1 => Just(json!({})), 12 => profile];
    let binding = select(vec![json!({"secretBindingName": "b"}), json!({"credentialsBindingName": "b"})]);
    let binding = prop_oneof![1 => Just(json!({})), 9 => binding];
    let provider = object(vec![
        ("infrastructureConfig", 0.97, infrastructure.boxed()),
        ("controlPlaneConfig", 0.97, prop_oneof![1 => good_control_plane(), 2 => control_plane::configs()].boxed()),
        ("workers", 0.99, workers()),
    ]);
    (provider, networking(), dns(), profile, binding)
        .prop_map(|(mut provider, networking, dns, profile, binding)| {
            provider["type"] = json!("openstack");
            let mut spec = json!({"region": "r", "provider": provider, "networking": networking, "dns": dns});
            for part in [profile, binding] {
                spec.as_object_mut().unwrap().extend(part.as_object().unwrap().clone());
            }
            spec
        })
        .boxed()
}

fn good_control_plane() -> impl Strategy<Value = Value> {
    let version = "openstack.provider.extensions.gardener.cloud/v1alpha1";
    Just(json!({"apiVersion": version, "kind": "ControlPlaneConfig", "loadBalancerProvider": "amphora"}))
}

/// A spec, and what it was before: most parts the same.
fn change() -> BoxedStrategy<(Value, Value)> {
    // Pools are the richest part: they stay less often.
    const PARTS: [(&str, f64); 3] = [("infrastructureConfig", 0.7), ("controlPlaneConfig", 0.7), ("workers", 0.3)];
    let rest = ["networking", "dns", "cloudProfile", "cloudProfileName", "secretBindingName"];
    let keep = proptest::collection::vec(proptest::bool::weighted(0.7), rest.len());
    let keep_parts = PARTS.map(|(_, often)| proptest::bool::weighted(often));
    (spec(), spec(), keep, keep_parts)
        .prop_map(move |(old, mut new, keep, keep_parts)| {
            let kept = |from: &Value, part: &str| from.get(part).cloned().unwrap_or(Value::Null);
            for (part, _) in rest.iter().zip(keep).filter(|(_, keep)| *keep) {
                new[*part] = kept(&old, part);
            }
            for ((part, _), _) in PARTS.iter().zip(keep_parts).filter(|(_, keep)| *keep) {
                new["provider"][*part] = kept(&old["provider"], part);
            }
            (old, new)
        })
        .boxed()
}

fn offers() -> BoxedStrategy<Value> {
    let classes =
        prop_oneof![2 => Just(json!([])), 1 => Just(json!([{"name": "a"}])), 1 => control_plane::classes()].boxed();
    let pool = object(vec![
        ("name", 0.98, one_of(&["fip", "fip*", "fip-1", "*", "other"])),
        ("region", 0.3, one_of(&["r", "r", "s"])),
        ("domain", 0.3, one_of(&["d", "d", "e"])),
        ("nonConstraining", 0.2, any::<bool>().prop_map(Value::from).boxed()),
        ("loadBalancerClasses", 0.5, classes.clone()),
    ]);
    let provider =
        object(vec![("name", 0.98, one_of(&["amphora", "amphora", "ovn"])), ("region", 0.4, one_of(&["r", "r", "s"]))]);
    let pools = prop_oneof![1 => classes.prop_map(|classes| json!([{"name": "fip*", "loadBalancerClasses": classes}])), 1 => some(pool, 4)];
    let providers = prop_oneof![1 => Just(json!([{"name": "amphora"}])), 1 => some(provider, 3)];
    let policies = select(vec![json!([]), json!(["anti-affinity"]), json!(["anti-affinity", "affinity"])]);
    (pools, providers, policies)
        .prop_map(|(pools, providers, policies)| {
            json!({"apiVersion": "openstack.provider.extensions.gardener.cloud/v1alpha1", "kind": "CloudProfileConfig",
                "constraints": {"floatingPools": pools, "loadBalancerProviders": providers}, "serverGroupPolicies": policies})
        })
        .boxed()
}

fn around() -> impl Strategy<Value = Around> {
    prop_oneof![10 => Just(Around::There), 1 => Just(Around::Hollow), 1 => Just(Around::Nothing), 1 => Just(Around::Denied)]
}

pub(crate) fn worlds() -> BoxedStrategy<World> {
    let stored = prop_oneof![
        10 => spec().prop_map(|new| (None, new)),
        9 => change().prop_map(|(old, new)| (Some(old), new)),
        1 => spec().prop_map(|spec| (Some(spec.clone()), spec)),
    ];
    let secret = found(prop_oneof![2 => Just(good(false)), 1 => secrets(Just(false))]);
    let dns = prop_oneof![1 => Just(good(true)), 1 => secrets(Just(true))].prop_map(Found::Secret);
    let dns = prop_oneof![6 => dns, 1 => Just(Found::Nothing), 4 => Just(Found::Denied)];
    let to = prop_oneof![4 => Just(KINDS[0]), 4 => Just(KINDS[1]), 1 => Just(KINDS[2])];
    (stored, around(), to, secret, around(), offers(), dns, proptest::bool::weighted(0.04))
        .prop_map(|((old, new), binding, to, secret, profile, offer, dns, leaving)| {
            let shoot = |spec: Value| {
                let metadata = json!({"name": "s", "namespace": "garden-a"});
                json!({"apiVersion": "core.gardener.cloud/v1beta1", "kind": "Shoot", "metadata": metadata, "spec": spec})
            };
            let (mut new, old) = (shoot(new), old.map(shoot));
            if leaving {
                new["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            }
            World { shoot: new, old, binding, to, secret, profile, offer, dns }
        })
        .boxed()
}

impl World {
    pub(crate) fn fetch(&self, reference: &Reference) -> Lookup {
        let named = (reference.namespace.as_str(), reference.name.as_str());
        let (around, object) = match reference.kind {
            ReferenceKind::Secret if reference.namespace == "garden-a" => {
                let found = if reference.name == "dns" { &self.dns } else { &Found::Nothing };
                return found.lookup("Secret");
            }
            ReferenceKind::Secret | ReferenceKind::InternalSecret => {
                assert_eq!(named, ("n", "s"));
                return self.secret.lookup(reference.kind.kind());
            }
            ReferenceKind::SecretBinding => (self.binding, json!({"secretRef": {"name": "s", "namespace": "n"}})),
            ReferenceKind::CredentialsBinding => {
                let (api_version, kind) = self.to;
                let to = json!({"apiVersion": api_version, "kind": kind, "name": "s", "namespace": "n"});
                (self.binding, json!({"credentialsRef": to}))
            }
            ReferenceKind::CloudProfile => (self.profile, json!({"spec": {"providerConfig": self.config()}})),
            ReferenceKind::NamespacedCloudProfile => {
                (self.profile, json!({"status": {"cloudProfileSpec": {"providerConfig": self.config()}}}))
            }
            ReferenceKind::Cluster => panic!("a garden has no clusters"),
        };
        match around {
            Around::There | Around::Hollow => Lookup::Found(object),
            Around::Nothing => Lookup::NotFound,
            Around::Denied => Lookup::Unreadable("forbidden".to_owned()),
        }
    }

    fn config(&self) -> Option<&Value> {
        (self.profile != Around::Hollow).then_some(&self.offer)
    }
}

#[test]
fn a_shoot_is_told_exactly_the_rows_that_apply() {
    let names = ROWS.iter().map(|(name, _)| *name).chain(control_plane::names());
    hold(names, worlds(), told, |world| judged(&world.shoot, world.old.as_ref(), &|reference| world.fetch(reference)));
}
